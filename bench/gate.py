"""Errors and power of the decisions of `memflow gate`, over simulated verdicts.

A study compares two runs by binary values of 20 probes in each of 6 to 100 episodes. A share of the answers differs
between the runs: by chance in both directions, and by the true loss in one. With a share of 0, answers are only lost,
in all episodes alike or concentrated in some: the hardest case for `no regression`. The family of false alarms is two
metrics over all probes and in six slices, from two partitions of the probes.

    python -m bench.gate [STUDIES]

The command prints one JSON line per design. Its exit code is 1 if a wrong decision is more frequent than 5 % (and two
standard errors), or if a loss of 10 points is found in less than 90 % of the studies with 20 episodes.
"""

import math
import sys
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from bench.measure import report
from memflow.metrics.multiple_tests import max_t
from memflow.metrics.paired import mean_differences
from memflow.records import Comparison
from memflow.scoring.comparison import adjust
from memflow.scoring.decisions import MARGIN, WHOLE, GateOptions, GateResult
from memflow.scoring.gate import decide

Array = npt.NDArray[np.float64]
STUDIES = 500
EPISODES = (6, 10, 20, 100)
PROBES = 20
CHANGED = 0.2
"""The share of answers that differ between two equal runs."""
LEVEL, POWER = 0.05, 0.9
LOSSES = ((0.0, 0.0), (0.0, 0.2), (0.05, 0.1), (CHANGED, 0.0), (CHANGED, 0.2))
"""The shares of changed answers and the correlations within episodes of the studies with a loss of the margin."""
METRICS = ("accuracy", "write_failure")
SLICES = [
    (WHOLE, np.ones(PROBES)),
    *((f"half {part}", np.arange(PROBES) // 10 == part) for part in range(2)),
    *((f"category {part}", np.arange(PROBES) % 4 == part) for part in range(4)),
]
"""The slices of the family and the probes in each."""


def differences(
    episodes: int,
    studies: int,
    rng: np.random.Generator,
    *,
    loss: float = 0.0,
    changed: float = CHANGED,
    correlation: float = 0.0,
) -> Array:
    """Return new - old of every probe, of shape (studies, episodes, probes): -1, 0 or 1 with the mean -loss.

    The share `changed` differs, and at least the loss. Worse answers have the `correlation` within episodes
    (beta-binomial).
    """
    shape = (studies, episodes, PROBES)
    worse, better = (changed + loss) / 2, (changed - loss) / 2
    if changed <= loss:
        worse, better = loss, 0.0
    chance: Array | float = worse
    if correlation:
        spread = 1 / correlation - 1
        chance = rng.beta(worse * spread, (1 - worse) * spread, (studies, episodes, 1))
    drawn = rng.random(shape)
    return np.where(drawn < chance, -1.0, 0.0) + np.where(drawn > 1 - better, 1.0, 0.0)


def results(values: Sequence[Array], margin: float = MARGIN, *, by_slice: bool = False) -> list[GateResult]:
    """Return the result of every study, with one array of `differences` per metric."""
    slices = SLICES if by_slice else SLICES[:1]
    studies, episodes, _ = values[0].shape
    # Shape (episodes, studies, metrics, slices).
    totals = np.stack(
        [np.stack([(each * mask).sum(axis=2) for _, mask in slices], axis=2) for each in values], axis=2
    )
    totals = totals.transpose(1, 0, 2, 3)
    counts = np.broadcast_to([mask.sum() for _, mask in slices], totals.shape)
    found = mean_differences(totals.reshape(episodes, -1), counts.reshape(episodes, -1).astype(np.float64))
    # Without variation between episodes there is no interval; the gate uses the difference.
    ends = (np.where(np.isnan(end), found.value, end) for end in (found.low, found.high))
    arrays = [array.reshape(totals.shape[1:]) for array in (found.value, *ends, found.p)]
    options = GateOptions(margin=margin)
    decided = []
    for study in range(studies):
        whole = adjust([float(p) for p in arrays[3][study, :, 0]])
        others = max_t(totals[:, study, :, 1:].reshape(episodes, -1)).reshape(len(values), -1)
        decisions = []
        for metric in range(len(values)):
            for at, (name, mask) in enumerate(slices):
                value, low, high, p = (float(array[study, metric, at]) for array in arrays)
                row = Comparison(
                    domain="", metric=METRICS[0], slice=name, a="new", b="old", difference=value, low=low, high=high,
                    p=p, p_adjusted=float(others[metric, at - 1]) if at else whole[metric],
                    n=int(mask.sum()) * episodes, n_episodes=episodes, scripted=False,
                )  # fmt: skip
                decisions.append(decide(row, options, required=not at))
        decided.append(GateResult(decisions))
    return decided


def share(results: Iterable[GateResult], exit_code: int) -> float:
    """Return the share of results with an exit code."""
    return float(np.mean([result.exit_code == exit_code for result in results]))


def false_regressions(episodes: int, studies: int, rng: np.random.Generator) -> float:
    """Return the share of studies of equal runs with exit code 1, over two metrics and their slices."""
    values = [differences(episodes, studies, rng) for _ in METRICS]
    return share(results(values, by_slice=True), 1)


def main(studies: int = STUDIES) -> int:
    """Print one JSON line per design. Return 1 if a bound is exceeded."""
    rng = np.random.default_rng(20261127)
    allowed = LEVEL + 2 * math.sqrt(LEVEL * (1 - LEVEL) / studies)
    failed = False
    for episodes in EPISODES:
        rates = {"no difference, 2 metrics and 12 slices": (false_regressions(episodes, studies, rng), 1)}
        for changed, correlation in LOSSES:
            drawn = differences(episodes, studies, rng, loss=MARGIN, changed=changed, correlation=correlation)
            name = f"loss of {MARGIN:g}, {changed:.0%} changed, correlation {correlation:g}"
            rates[name] = (share(results([drawn]), 0), 0)
        for design, (rate, code) in rates.items():
            failed |= rate > allowed
            report(
                {"name": f"gate wrong exit code {code}", "value": rate, "unit": "share", "bound": LEVEL},
                design=design,
                episodes=episodes,
                studies=studies,
            )
        for changed in (CHANGED, CHANGED / 2):
            for loss in (0.0, 0.05, 0.1):
                found = results([differences(episodes, studies, rng, loss=loss, changed=changed)])
                if changed == CHANGED and loss == 0.1 and episodes == 20:
                    failed |= share(found, 1) < POWER
                report(
                    {
                        "name": "gate exit codes",
                        "value": share(found, 1),
                        "unit": "share of 1",
                        "bound": POWER,
                    },
                    loss=loss,
                    changed=changed,
                    episodes=episodes,
                    no_regression=share(found, 0),
                    cannot_tell=share(found, 2),
                    studies=studies,
                )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
