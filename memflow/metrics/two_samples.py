"""Differences between two independent samples of episodes: bootstrap interval and permutation test.

paired.py has the statistics of two evaluations on the same episodes. All functions draw episodes, not probes.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput
from memflow.metrics.intervals import DRAWS, FEW, FEWEST, draw_weights, student_t

Array = npt.NDArray[np.float64]
PERMUTATIONS = 9_999
"""Random divisions of the test; with no more divisions than this in all, every division is used."""
_NORMAL = NormalDist()


class TwoSampleDifference(NamedTuple):
    """The difference b - a of two means, its 95 % interval and p value; the last three are None without an estimate."""

    difference: float
    low: float | None
    high: float | None
    p: float | None


def smallest_division_p(a: int, b: int) -> float:
    """Return the smallest p value of the test for samples of `a` and `b` episodes: the share of one division.

    With equal sizes, exchanging the samples gives the same difference, so two divisions are as extreme.
    """
    return (1 + (a == b)) / math.comb(a + b, b)


def compare_samples(a: Array, b: Array, *, seed: int = 0) -> TwoSampleDifference:
    """Return mean b - mean a. Both have one row per episode: the sum of its values and their number, shape (n, 2).

    A sample with a single episode gives no p value; with fewer than FEWEST, or without variation within both, there is
    no interval. Raises BadInput for a sample without values.
    """
    if not len(a) or not len(b) or not a[:, 1].sum() or not b[:, 1].sum():
        raise BadInput("a sample has no values. Pass at least one episode with a value in each sample.")
    difference = float(_mean(b) - _mean(a))
    if len(a) < 2 or len(b) < 2:
        return TwoSampleDifference(difference, None, None, None)
    errors, degrees = (_jackknife(a), _jackknife(b)), (len(a) - 1, len(b) - 1)
    error = math.hypot(*errors)
    p = _p(a, b, difference, error, seed)
    if min(len(a), len(b)) < FEWEST or error <= 1e-12:
        return TwoSampleDifference(difference, None, None, p)
    t = student_t(_welch_degrees(errors, degrees))
    if min(len(a), len(b)) < FEW:
        return TwoSampleDifference(difference, difference - t * error, difference + t * error, p)
    draws = difference + _spread(b, seed) - _spread(a, seed + 1)
    share = _NORMAL.cdf(-t)
    low, high = np.quantile(draws, [share, 1 - share])
    return TwoSampleDifference(difference, float(low), float(high), p)


def _mean(sample: Array) -> float:
    return float(sample[:, 0].sum() / sample[:, 1].sum())


def _spread(sample: Array, seed: int) -> Array:
    """Return the deviations of bootstrap means from the mean, scaled by sqrt(n / (n - 1)), an array of DRAWS values."""
    n = len(sample)
    sums = draw_weights(n, seed, DRAWS) @ sample
    with np.errstate(divide="ignore", invalid="ignore"):
        means: Array = sums[:, 0] / sums[:, 1]
    deviations: Array = (np.nan_to_num(means, nan=_mean(sample)) - _mean(sample)) * math.sqrt(n / (n - 1))
    return deviations


def _jackknife(sample: Array) -> float:
    """Return the standard error of a sample's mean by leaving out one episode at a time."""
    sums_without_episode = sample.sum(axis=0) - sample
    sums_without_episode = sums_without_episode[sums_without_episode[:, 1] > 0]
    means = sums_without_episode[:, 0] / sums_without_episode[:, 1]
    n = len(means)
    return math.sqrt((n - 1) / n * float(((means - means.mean()) ** 2).sum())) if n else 0.0


def _welch_degrees(errors: tuple[float, float], degrees: tuple[int, int]) -> int:
    """Return Welch's degrees of freedom, rounded down; the smaller one where both samples have no variance."""
    squares = [error * error for error in errors]
    denominator = sum(square * square / n for square, n in zip(squares, degrees, strict=True))
    return max(1, int(sum(squares) ** 2 / denominator)) if denominator else min(degrees)


def _p(a: Array, b: Array, difference: float, error: float, seed: int) -> float:
    """Return the two-sided p value of the permutation test, which divides all episodes between both samples.

    If no random division is as extreme, the tail is estimated by the normal distribution, but is at least the share of
    the observed division among all divisions.
    """
    pooled = np.vstack([a, b])
    total = pooled.sum(axis=0)
    divisions = math.comb(len(pooled), len(b))
    threshold = abs(difference) - 1e-9 * max(1.0, abs(difference))
    count = drawn_divisions = 0
    for in_b in _divisions(len(pooled), len(b), seed):
        sums_b = in_b @ pooled
        sums_a = total - sums_b
        with np.errstate(divide="ignore", invalid="ignore"):
            differences = np.abs(sums_b[:, 0] / sums_b[:, 1] - sums_a[:, 0] / sums_a[:, 1])
        count += int((np.nan_to_num(differences, nan=math.inf) >= threshold).sum())
        drawn_divisions += len(in_b)
    if drawn_divisions == divisions:
        return count / drawn_divisions
    if count:
        return (count + 1) / (drawn_divisions + 1)
    tail = math.erfc(abs(difference) / error / math.sqrt(2)) if error else 0.0
    return min(1 / (drawn_divisions + 1), max(tail, 1 / divisions))


def _divisions(n: int, size: int, seed: int) -> Iterator[Array]:
    """Yield which of `n` episodes are in the second sample, as arrays of 0 and 1 with one row per division."""
    if math.comb(n, size) <= PERMUTATIONS:
        yield _all_divisions(n, size)
        return
    rng = np.random.default_rng(seed)
    for start in range(0, PERMUTATIONS, 512):
        rows = min(512, PERMUTATIONS - start)
        order = rng.permuted(np.broadcast_to(np.arange(n), (rows, n)), axis=1)
        yield (order < size).astype(np.float64)


@lru_cache(maxsize=8)
def _all_divisions(n: int, size: int) -> Array:
    members = np.array([*combinations(range(n), size)])
    divisions = np.zeros((len(members), n))
    np.put_along_axis(divisions, members, 1.0, axis=1)
    divisions.flags.writeable = False
    return divisions
