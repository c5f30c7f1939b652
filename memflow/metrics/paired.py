"""Paired differences over episodes: expanded percentile bootstrap and sign-flip test.

Both draw episodes, not probes: the probes of an episode share one history and are not independent. Functions take any
number of differences at once, one per column. memflow/scoring/comparison.py pairs the values of two assistants.

intervals.py has the interval (`resampled`); bench/comparison.py measures its coverage.
"""

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput
from memflow.metrics.intervals import Statistic, resampled

Array = npt.NDArray[np.float64]
SIGN_DRAWS = 9_999
"""Random sign patterns of the test; with no more patterns than this in all, every pattern is used."""
LEVEL = 0.05
"""The significance level of p values after correction."""
MINIMUM = 6
"""The smallest number of episodes with which one sign-flip test can be significant: 2 / 2**6 < 0.05."""
BLOCK = 512
"""Columns (and rows of signs) that are computed at once, which bounds memory."""
_NORMAL = NormalDist()
_BOUND = 1 / (4 * (1 - _NORMAL.cdf(math.sqrt(2))))
"""The constant of the normal bound on sign-flip sums, about 3.18 (Bentkus and Dzindzalieta, Bernoulli 21, 2015)."""


class Differences(NamedTuple):
    """Differences, their 95 % intervals, standard errors and p values: arrays of shape (columns,).

    All are NaN without episodes, and all but `value` for a single one. `low` and `high` are NaN below three episodes
    and without variation between episodes. `episodes` counts the episodes.
    """

    value: Array
    low: Array
    high: Array
    error: Array
    p: Array
    episodes: npt.NDArray[np.int64]


def mean_differences(totals: Array, counts: Array, *, seed: int = 0) -> Differences:
    """Return the differences sum(totals) / sum(counts) of each column.

    `totals` are the sums of paired differences and `counts` the numbers of pairs; both have shape (episodes, columns).
    An episode without pairs does not count. Raises BadInput for different shapes.
    """
    if totals.shape != counts.shape or totals.ndim != 2:
        raise BadInput(
            f"`totals` has the shape {totals.shape}, but `counts` has {counts.shape}. Pass both with one row per "
            "episode and one column per difference."
        )
    differences = _empty(totals.shape[1])
    supports, group = np.unique(counts > 0, axis=1, return_inverse=True)
    for number, support in enumerate(supports.T):
        columns = np.flatnonzero(group.ravel() == number)
        for start in range(0, columns.size, BLOCK):
            block = columns[start : start + BLOCK]
            block_differences = _mean_differences(
                totals[np.ix_(support, block)], counts[np.ix_(support, block)], seed
            )
            for array, values in zip(differences, block_differences, strict=True):
                array[block] = values
    return differences


def _mean_differences(totals: Array, counts: Array, seed: int) -> Differences:
    """Return the differences of columns that all have the same episodes."""
    episodes, columns = totals.shape
    if not episodes:
        return _empty(columns)
    pair_counts = counts[:, :1] if (counts == counts[:, :1]).all() else counts
    value, low, high, error = resampled(
        lambda weights: (weights @ totals) / (weights @ pair_counts), episodes, seed
    )
    if episodes == 1:
        return Differences(value, low, high, error, _missing(columns), np.full(columns, 1))
    p = _normal_bound(totals)
    undecided = p > 1 / (SIGN_DRAWS + 1)
    if undecided.any():
        undecided_totals = totals[:, undecided]
        p[undecided] = np.minimum(
            p[undecided], sign_flip(lambda signs: signs @ undecided_totals, episodes, seed)
        )
    return Differences(value, low, high, error, p, np.full(columns, episodes))


def aggregate_difference(
    sums_a: Array, sums_b: Array, score: Callable[[Array], Array], *, seed: int = 0
) -> Differences:
    """Return score(sums of a) - score(sums of b), one column, for a score that is not a mean over pairs.

    `sums_a` and `sums_b` have shape (episodes, parts); `score` maps sums over episodes of shape (m, parts) to m values.
    The bootstrap draws the same episodes for both; the test swaps a and b within episodes. Draws in which the score is
    not finite are excluded. Raises BadInput for different shapes.
    """
    if sums_a.shape != sums_b.shape:
        raise BadInput(
            f"the sums have the shapes {sums_a.shape} and {sums_b.shape}. Pass the same episodes and parts."
        )
    episodes = len(sums_a)
    if not episodes:
        return _empty(1)
    half_difference, mean_sums = (sums_a - sums_b) / 2, ((sums_a + sums_b) / 2).sum(axis=0)

    def flipped(signs: Array) -> Array:
        change = signs @ half_difference
        return np.asarray(score(mean_sums + change) - score(mean_sums - change))[:, None]

    with np.errstate(divide="ignore", invalid="ignore"):
        resampled_values = resampled(
            lambda weights: np.asarray(score(weights @ sums_a) - score(weights @ sums_b))[:, None],
            episodes,
            seed,
        )
        p = sign_flip(flipped, episodes, seed) if episodes > 1 else _missing(1)
    return Differences(*resampled_values, p, np.full(1, episodes))


def sign_flip(statistic: Statistic, episodes: int, seed: int) -> Array:
    """Return the two-sided p value of each column: the share of sign patterns with a value at least as extreme.

    `statistic` maps signs (1 or -1 per episode) to values, and changes its sign with all signs. The test is exact up
    to 14 episodes; otherwise it uses random patterns and counts the observed one (b + 1) / (m + 1).
    """
    statistics = np.abs(statistic(np.ones((1, episodes)))[0])
    thresholds = statistics - 1e-9 * np.maximum(1.0, statistics)
    is_exact = 2 ** (episodes - 1) <= SIGN_DRAWS
    count, patterns = np.zeros(statistics.size), 0
    for signs in [sign_patterns(episodes)] if is_exact else _random_signs(episodes, seed):
        count += (np.abs(statistic(signs)) >= thresholds).sum(axis=0)
        patterns += len(signs)
    p: Array = count / patterns if is_exact else (count + 1) / (patterns + 1)
    p[np.isnan(statistics)] = np.nan
    return p


def sign_patterns(episodes: int) -> Array:
    """Return all sign patterns (±1) whose first sign is +1, of shape (2 ** (episodes - 1), episodes).

    Row 0 is all +1, the observed one. Patterns with the first sign -1 are their negatives, with equal absolute
    statistics. Use it for at most 14 episodes.
    """
    patterns = np.arange(2 ** (episodes - 1))
    bits = (patterns[:, None] >> np.arange(episodes - 1)) & 1
    return np.hstack([np.ones((patterns.size, 1)), 1.0 - 2.0 * bits])


def smallest_p(episodes: int) -> float:
    """Return the smallest p value that `mean_differences` can return for this number of episodes.

    Up to 14 episodes it is 2^(1 - n): all differences have the same sign and no other pattern is as extreme.
    """
    if episodes < 1:
        return 1.0
    if 2 ** (episodes - 1) <= SIGN_DRAWS:
        return float(2.0 ** (1 - episodes))
    return min(1 / (SIGN_DRAWS + 1), _BOUND * math.erfc(math.sqrt(episodes / 2)))


def can_be_significant(episodes: int, comparisons: int = 1, level: float = LEVEL) -> bool:
    """Return whether any of this number of comparisons can have a p value of at most `level` after Holm's correction.

    Holm multiplies the smallest p value by the number of comparisons of the family.
    """
    return smallest_p(episodes) * max(1, comparisons) <= level


def cannot_be_significant(episodes: int, comparisons: int = 1, level: float = LEVEL) -> str | None:
    """Return the statement that no comparison can be significant with these numbers; None if a comparison can be."""
    if can_be_significant(episodes, comparisons, level):
        return None
    needed_episodes = next(n for n in range(MINIMUM, 1_000) if can_be_significant(n, comparisons, level))
    return (
        f"cannot be significant with {episodes:,} episode{'s' * (episodes != 1)} and {comparisons:,} "
        f"comparison{'s' * (comparisons != 1)}: the sign-flip test needs at least {needed_episodes:,} episodes"
    )


def _normal_bound(totals: Array) -> Array:
    """Return an upper bound of the exact sign-flip p value, for tails that random patterns do not reach."""
    squares = np.sqrt((totals**2).sum(axis=0))
    z = np.divide(np.abs(totals.sum(axis=0)), squares, out=np.zeros_like(squares), where=squares > 0)
    return np.minimum(1.0, [_BOUND * math.erfc(value / math.sqrt(2)) for value in z])


def _random_signs(episodes: int, seed: int) -> Iterator[Array]:
    rng = np.random.default_rng(seed)
    for start in range(0, SIGN_DRAWS, BLOCK):
        size = (min(BLOCK, SIGN_DRAWS - start), episodes)
        yield rng.integers(0, 2, size=size, dtype=np.int8).astype(np.float64) * 2 - 1


def _missing(columns: int) -> Array:
    return np.full(columns, np.nan)


def _empty(columns: int) -> Differences:
    value, low, high, error, p = (_missing(columns) for _ in range(5))
    return Differences(value, low, high, error, p, np.zeros(columns, dtype=np.int64))
