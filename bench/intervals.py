"""Coverage and width of the intervals of the leaderboard, over simulated studies.

A study has 3 to 50 episodes of 20 values, or of 4 to 36. The expected value of an episode is beta-distributed around
the truth, with the intra-cluster correlation of the cell. Values are 0 or 1 (proportions), or beta-distributed around
that of their episode (means). Coverage is the share of studies whose interval contains the truth, among those that have
one. `percentile` is the coverage of the plain percentile bootstrap over episodes. Means close to the end of their range
are skewed; those above CLAIMED are measured, and no coverage is claimed.

    python -m bench.intervals [STUDIES]

The command prints one JSON line per cell. Its exit code is 1 if a coverage is below COVERAGE by more than two standard
errors of the simulation, or a mean width is above its limit: an interval from 0 to 1 has perfect coverage.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.measure import report
from memflow.metrics.intervals import DRAWS, Interval, Units, draw_weights, mean_interval, proportion_interval

Array = npt.NDArray[np.float64]
STUDIES = 1_000
COVERAGE = 0.93
WIDTHS = {3: 0.87, 4: 0.75, 5: 0.65, 10: 0.36, 20: 0.25, 50: 0.16}
"""The largest mean width with 20 values an episode, by number of episodes."""
VARIED = 1.1
"""How much wider intervals over episodes of 4 to 36 values may be."""
CLAIMED = 0.8
PROPORTIONS, CORRELATIONS = (0.5, 0.8, 0.9, 0.95), (0.02, 0.1, 0.2)
SIZES = {"20": (20, 20), "4 to 36": (4, 36)}
"""The smallest and the largest number of values of an episode."""
KINDS = {"proportion": proportion_interval, "mean": lambda units: mean_interval(units, 0.0, 1.0)}
CONCENTRATION = 4
"""Sum of the parameters of the beta distribution of all values, for means: their variance is p (1 - p) / 5."""


class Cell(NamedTuple):
    """One cell of the grid."""

    kind: str
    episodes: int
    truth: float
    correlation: float
    sizes: str


class Measured(NamedTuple):
    """The coverage and mean width of the intervals of a cell, and the coverage of the percentile bootstrap."""

    coverage: float
    width: float
    missing: float
    percentile: float

    def failures(self, cell: Cell, studies: int) -> list[str]:
        """Return what is outside the limits."""
        allowed = 2 * math.sqrt(COVERAGE * (1 - COVERAGE) / studies)
        limit = widest(cell)
        found = []
        if self.coverage < COVERAGE - allowed and (cell.kind == "proportion" or cell.truth <= CLAIMED):
            found.append(f"coverage {self.coverage:.3f} is below {COVERAGE}")
        if self.width > limit:
            found.append(f"mean width {self.width:.3f} is above {limit}")
        return found


def widest(cell: Cell) -> float:
    """Return the largest allowed mean width of the intervals of a cell."""
    return WIDTHS[cell.episodes] * (1.0 if cell.sizes == "20" else VARIED)


def cells(
    episodes: Sequence[int] = tuple(WIDTHS),
    truths: Sequence[float] = PROPORTIONS,
    correlations: Sequence[float] = CORRELATIONS,
) -> Iterator[Cell]:
    """Yield the cells of the grid."""
    for kind, k, truth, correlation, sizes in product(KINDS, episodes, truths, correlations, SIZES):
        yield Cell(kind, k, truth, correlation, sizes)


def draw(cell: Cell, studies: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the sums and the numbers of values, of shape (studies, episodes)."""
    shape = (studies, cell.episodes)
    smallest, largest = SIZES[cell.sizes]
    sizes = rng.integers(smallest, largest + 1, shape)
    graded = cell.kind == "mean"
    scale = (1 + graded * CONCENTRATION) / cell.correlation - 1
    expected = np.clip(rng.beta(cell.truth * scale, (1 - cell.truth) * scale, shape), 1e-9, 1 - 1e-9)
    if not graded:
        return rng.binomial(sizes, expected).astype(np.float64), sizes.astype(np.float64)
    within = CONCENTRATION / (1 - cell.correlation)
    of_value = np.repeat(expected[:, :, None], largest, axis=2) * within
    values = rng.beta(of_value, within - of_value)
    asked = np.arange(largest) < sizes[:, :, None]
    return (values * asked).sum(axis=2), sizes.astype(np.float64)


def percentile_bootstrap(totals: Array, counts: Array, seed: int = 0) -> Array:
    """Return both ends of the plain percentile bootstrap of each study; the arguments have a row per episode."""
    weights = draw_weights(len(totals), seed, DRAWS)
    ends: Array = np.quantile((weights @ totals) / (weights @ counts), [0.025, 0.975], axis=0)
    return ends


def measure(cell: Cell, studies: int, seed: int = 0) -> Measured:
    """Return the coverage and width in one cell."""
    totals, counts = draw(cell, studies, np.random.default_rng([seed, *map(ord, str(cell))]))
    of_kind = KINDS[cell.kind]
    found: list[Interval] = [
        of_kind(Units(total, count, total**2, np.ones(cell.episodes)))
        for total, count in zip(totals, counts, strict=True)
    ]
    ends = np.array([(each.low, each.high) for each in found if each.low is not None], dtype=np.float64)
    covered = (ends[:, 0] <= cell.truth) & (cell.truth <= ends[:, 1])
    low, high = percentile_bootstrap(totals.T, counts.T, seed)
    return Measured(
        float(covered.mean()),
        float((ends[:, 1] - ends[:, 0]).mean()),
        1 - len(ends) / studies,
        float(((low <= cell.truth) & (cell.truth <= high)).mean()),
    )


def main(studies: int = STUDIES) -> int:
    """Print coverage and width of each cell. Return 1 if any is outside its limits, otherwise 0."""
    failed = False
    for cell in cells():
        found = measure(cell, studies)
        failures = found.failures(cell, studies)
        failed = failed or bool(failures)
        report(
            {"name": "interval coverage", "value": found.coverage, "unit": "share", "bound": COVERAGE},
            **cell._asdict(),
            width=found.width,
            widest=widest(cell),
            no_interval=found.missing,
            percentile=found.percentile,
            studies=studies,
            outside=failures,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
