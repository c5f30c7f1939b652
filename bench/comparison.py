"""Coverage of the intervals and false alarms of the tests in score.comparisons, over simulated verdicts.

Two assistants answer the same probes of 8 to 100 episodes. The answers of an episode are correlated, because each
episode has its own difficulty, each probe too, and each episode its own effect of the memory. Designs differ in the
sizes of episodes and in the values. Coverage is the share of 2,000 studies whose interval contains the true difference,
which comes from 200,000 episodes; `percentile` is the coverage of the plain percentile bootstrap. False alarms are the
share of 2,000 studies of 10 equal assistants in which any of the 45 adjusted p values is at most 5 %.

    python -m bench.comparison [STUDIES]

The command prints one JSON line per design. Its exit code is 1 if a coverage with at least 12 episodes is outside 93 to
97 %, or if more than 5 % (and two standard errors) of the studies have a false alarm.
"""

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.intervals import percentile_bootstrap
from bench.measure import report
from memflow.metrics.diagnosis import memory_score
from memflow.metrics.multiple_tests import holm
from memflow.metrics.paired import aggregate_difference, mean_differences

Array = npt.NDArray[np.float64]
STUDIES, TRUTH = 2_000, 200_000
EPISODES = (8, 12, 20, 40, 100)
SMALLEST = 12
"""Episodes from which the coverage must be in BOUNDS."""
BOUNDS = (0.93, 0.97)
EQUAL = 10
"""Assistants of a study of false alarms."""
LEVEL = 0.05
PERIODS = 4


class Design(NamedTuple):
    """How a study is drawn: the sizes of episodes, and the values of two assistants on a matrix of probes."""

    sizes: Callable[[np.random.Generator, int], npt.NDArray[np.int64]]
    base: float = 0.3
    spread: float = 1.0
    effect: float = 0.4
    by_size: float = 0.0
    """How much larger the effect is in an episode with one more probe than 16."""
    graded: bool = False
    """Whether values are graded from 0 to 1; otherwise they are 0 or 1."""


def _equal(rng: np.random.Generator, episodes: int) -> npt.NDArray[np.int64]:
    return np.full(episodes, 12)


def _unequal(rng: np.random.Generator, episodes: int) -> npt.NDArray[np.int64]:
    return rng.integers(3, 30, episodes)


def _skewed(rng: np.random.Generator, episodes: int) -> npt.NDArray[np.int64]:
    return np.clip(rng.lognormal(2.2, 0.9, episodes), 1, 120).astype(np.int64)


DESIGNS = {
    "episodes of 12 probes": Design(_equal),
    "episodes of 3 to 29 probes": Design(_unequal),
    "episodes of 1 to 120 probes": Design(_skewed),
    "larger effect in larger episodes": Design(_unequal, by_size=0.05),
    "few correct answers": Design(_unequal, base=-3.0, spread=0.6, effect=0.8),
    "no difference": Design(_unequal, effect=0.0),
    "graded values": Design(_unequal, graded=True),
}


def draw(design: Design, episodes: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the sums of differences and the numbers of probes of a study, by episode."""
    sizes = design.sizes(rng, episodes)
    asked = np.arange(sizes.max()) < sizes[:, None]
    hard = rng.normal(design.base, design.spread, episodes)[:, None] + rng.normal(size=asked.shape)
    effect = rng.normal(design.effect, 0.6, episodes) + design.by_size * (sizes - 16)
    a, b = (_answers(ability, design, rng) for ability in (hard + effect[:, None], hard))
    return ((a - b) * asked).sum(axis=1), sizes.astype(np.float64)


def _answers(ability: Array, design: Design, rng: np.random.Generator) -> Array:
    chance = 1 / (1 + np.exp(-ability))
    if design.graded:
        return np.clip(chance + rng.normal(0, 0.1, ability.shape), 0, 1)
    return (rng.random(ability.shape) < chance).astype(np.float64)


def studies(design: Design, episodes: int, number: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the sums and numbers of probes of many studies, of shape (episodes, studies)."""
    drawn = [draw(design, episodes, rng) for _ in range(number)]
    totals, counts = zip(*drawn, strict=True)
    return np.stack(totals, axis=1), np.stack(counts, axis=1)


def coverage(design: Design, episodes: int, number: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the coverage of memflow's interval and that of the plain percentile bootstrap."""
    total, count = draw(design, TRUTH, rng)
    truth = total.sum() / count.sum()
    totals, counts = studies(design, episodes, number, rng)
    found = mean_differences(totals, counts)
    ours = ((found.low <= truth) & (truth <= found.high)).mean()
    low, high = percentile_bootstrap(totals, counts)
    return float(ours), float(((low <= truth) & (truth <= high)).mean())


def false_alarms(episodes: int, number: int, rng: np.random.Generator) -> float:
    """Return the share of studies of equal assistants with a significant difference after Holm's correction."""
    sizes = _unequal(rng, episodes)
    asked = np.arange(sizes.max()) < sizes[:, None]
    pairs = [(a, b) for a in range(EQUAL) for b in range(a + 1, EQUAL)]
    columns = []
    for _ in range(number):
        hard = rng.normal(0.3, 1, episodes)[:, None] + rng.normal(size=asked.shape)
        effects = rng.normal(0, 0.6, (EQUAL, episodes))
        right = rng.random((EQUAL, *asked.shape)) < 1 / (1 + np.exp(-hard - effects[:, :, None]))
        sums = (right & asked).sum(axis=2)
        columns += [sums[a] - sums[b] for a, b in pairs]
    totals = np.stack(columns, axis=1).astype(np.float64)
    counts = np.repeat(sizes[:, None].astype(np.float64), totals.shape[1], axis=1)
    ps = mean_differences(totals, counts).p.reshape(number, len(pairs))
    return sum(min(holm(each.tolist())) <= LEVEL for each in ps) / number


def memory_scores(users: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the sums of two assistants for AMemGym's memory score, of shape (users, 4 x periods)."""
    asked = rng.integers(4, 12, (users, PERIODS)).astype(np.float64)
    user = rng.normal(0, 0.8, users)[:, None]
    sums = []
    upper = rng.binomial(asked.astype(np.int64), 0.93).astype(np.float64)
    for level in (0.6, 0.2):
        chance = 1 / (1 + np.exp(-(level + user + rng.normal(0, 0.5, (users, PERIODS)))))
        correct = rng.binomial(asked.astype(np.int64), chance).astype(np.float64)
        sums.append(np.hstack([correct, upper, asked / 4, asked]))
    return sums[0], sums[1]


def score(sums: Array) -> Array:
    """Return the memory scores of sums over users, of shape (m, 4 x periods)."""
    correct, upper, random, asked = np.split(sums, 4, axis=-1)
    return memory_score(correct / asked, upper / asked, random / asked)


def memory_score_coverage(users: int, number: int, rng: np.random.Generator) -> float:
    """Return the coverage of the interval of a difference of memory scores."""
    truths = [score(each.sum(axis=0, keepdims=True))[0] for each in memory_scores(TRUTH, rng)]
    truth = truths[0] - truths[1]
    covered = 0
    for _ in range(number):
        found = aggregate_difference(*memory_scores(users, rng), score)
        covered += bool(found.low[0] <= truth <= found.high[0])
    return covered / number


def main(number: int = STUDIES) -> int:
    """Print the coverage and the false alarms. Return 1 if any is outside its limits, otherwise 0."""
    failed = 0
    rng = np.random.default_rng(20)
    allowed = 2 * math.sqrt(0.95 * 0.05 / number)
    for episodes in EPISODES:
        rows = {name: coverage(design, episodes, number, rng) for name, design in DESIGNS.items()}
        scored = memory_score_coverage(episodes, number, rng)
        for name, (ours, plain) in {**rows, "memory score (AMemGym)": (scored, math.nan)}.items():
            outside = episodes >= SMALLEST and not BOUNDS[0] <= ours <= BOUNDS[1]
            failed += outside
            report(
                {"name": "comparison coverage", "value": ours, "unit": "share", "bound": list(BOUNDS)},
                design=name,
                episodes=episodes,
                percentile=None if math.isnan(plain) else plain,
                studies=number,
            )
        alarms = false_alarms(episodes, number, rng)
        failed += alarms > LEVEL + allowed
        report(
            {"name": "comparison false alarms", "value": alarms, "unit": "share", "bound": LEVEL},
            episodes=episodes,
            assistants=EQUAL,
            studies=number,
        )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
