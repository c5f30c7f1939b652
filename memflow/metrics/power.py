"""How many episodes a sign-flip test needs, by simulation from the observed differences of episodes.

A study of n episodes draws n of the observed differences with replacement, and tests them as paired.py does: at the
5 % level, two-sided, without correction for other comparisons. The number needed is the smallest n of which POWER of
the simulated studies are significant. The observed difference is itself uncertain, so the number has a 5 to 95 % range:
the simulation is repeated with the 5 % and the 95 % quantile of the standardized difference over bootstrap draws.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput
from memflow.metrics.intervals import DRAWS, FEWEST, draw_weights
from memflow.metrics.paired import LEVEL, MINIMUM, sign_patterns

Array = npt.NDArray[np.float64]
POWER = 0.8
MOST_EPISODES = 100_000
"""The largest number that is distinguished: larger ones are stated as more than this."""
SPREAD = (0.05, 0.95)
ROUNDING = 1e-9
STUDIES, WORK = 400, 40_000
"""Simulated studies for each number of episodes, and draws of all of them: with more episodes, fewer studies."""
EXACT = 10
"""Episodes up to which the sign-flip test of a simulated study is exact; above, it is normal: |sum| > z x root of the
sum of squares, the standard deviation over all sign patterns."""
_Z = 1.959964
MARGIN = 0.2
"""How far the normal test may be below POWER for the exact test to be tried: both differ by less."""
STEP = 1.25
"""The ratio of two numbers of episodes that are simulated; between them, the power is interpolated."""


class EpisodesNeeded(NamedTuple):
    """The number of episodes needed and its 5 to 95 % range, at most MOST_EPISODES each."""

    value: int
    low: int
    high: int


def episodes_needed(totals: Array, *, seed: int = 0) -> list[EpisodesNeeded | None]:
    """Return the number of episodes needed for each column of `totals`, the sums of differences by episode.

    `totals` has the shape (episodes, columns); NaN marks an episode that has no pairs in a column. None with fewer than
    FEWEST episodes, and where all differences are 0. Raises BadInput for another shape.
    """
    if totals.ndim != 2:
        raise BadInput(
            f"`totals` has the shape {totals.shape}. Pass one row per episode and one column per difference."
        )
    found: list[EpisodesNeeded | None] = [None] * totals.shape[1]
    supports, group = np.unique(np.isfinite(totals), axis=1, return_inverse=True)
    for number, support in enumerate(supports.T):
        columns = np.flatnonzero(
            (group.ravel() == number) & (np.abs(np.nan_to_num(totals)) > ROUNDING).any(axis=0)
        )
        if columns.size and support.sum() >= FEWEST:
            needed = _needed(_versions(totals[np.ix_(support, columns)], seed), seed)
            for column, (value, *others) in zip(columns, needed.reshape(3, columns.size).T, strict=True):
                ends = int(min(value, *others)), int(max(value, *others))
                found[column] = EpisodesNeeded(int(value), *ends)
    return found


def pseudo_values(left_out: Array, whole: Array) -> Array:
    """Return the jackknife's pseudo-values of a statistic that is no mean: what each episode adds to its value.

    `left_out` has the values without each episode, shape (episodes, columns), and `whole` those with all episodes.
    """
    values: Array = len(left_out) * whole - (len(left_out) - 1) * left_out
    return values


def _versions(totals: Array, seed: int) -> Array:
    """Return the differences as observed, then with the 95 % and the 5 % quantile of the standardized difference."""
    episodes = len(totals)
    scale = math.sqrt(episodes / (episodes - 1))
    mean, deviation = totals.mean(axis=0), totals.std(axis=0) * scale
    weights = draw_weights(episodes, seed, DRAWS) / episodes
    means, squares = weights @ totals, weights @ totals**2
    deviations = np.sqrt(np.maximum(squares - means**2, 1e-12 * (1 + squares))) * scale
    low, high = np.quantile(np.abs(mean + (means - mean) * scale) / deviations, SPREAD, axis=0)
    sign = np.where(mean < 0, -1.0, 1.0)
    moved = [
        np.where(deviation > 0, totals - mean + sign * ratio * deviation, totals) for ratio in (high, low)
    ]
    return np.hstack([totals, *moved])


def _needed(totals: Array, seed: int) -> Array:
    """Return the number of episodes that each column needs.

    The draws of a size are the same for every set of columns, so that a difference has the same number beside others.
    """
    needed = np.full(totals.shape[1], float(MOST_EPISODES))
    power_before = _normal_power(totals, EXACT, seed)
    for column in np.flatnonzero(power_before > POWER - MARGIN):
        sizes = range(MINIMUM, EXACT + 1)
        needed[column] = next(
            (size for size in sizes if _exact_power(totals[:, column], size, seed) >= POWER), MOST_EPISODES
        )
    waiting = np.flatnonzero(needed == MOST_EPISODES)
    before, power_before = EXACT, np.minimum(power_before[waiting], POWER)
    while waiting.size and before < MOST_EPISODES:
        size = min(MOST_EPISODES, math.ceil(before * STEP))
        power = _normal_power(totals[:, waiting], size, seed)
        enough = power > POWER
        share = (POWER - power_before[enough]) / (power[enough] - power_before[enough])
        needed[waiting[enough]] = np.ceil(before * (size / before) ** share)
        before, waiting, power_before = size, waiting[~enough], power[~enough]
    return needed


def _normal_power(totals: Array, size: int, seed: int) -> Array:
    """Return the share of simulated studies of `size` episodes that are significant, for each column."""
    episodes = len(totals)
    studies = max(200, min(STUDIES, WORK // episodes))
    rng = np.random.default_rng((seed, size))
    drawn = rng.multinomial(size, np.full(episodes, 1 / episodes), size=studies).astype(np.float64)
    significant = np.abs(drawn @ totals) > _Z * np.sqrt(drawn @ totals**2)
    return np.asarray(significant.mean(axis=0))


def _exact_power(totals: Array, size: int, seed: int) -> float:
    """Return the same share for one column, with the exact test."""
    rng = np.random.default_rng((seed, size))
    drawn = totals[rng.integers(0, len(totals), (STUDIES, size))]
    sums = np.abs(drawn @ sign_patterns(size).T)
    extreme = sums >= sums[:, :1] * (1 - 1e-9)
    return float(((extreme.mean(axis=1) <= LEVEL) & (sums[:, 0] > 0)).mean())
