"""Standard deviations with 95 % intervals from the chi-square distribution."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MANY = 300
"""Degrees of freedom above which Wilson and Hilferty's approximation is exact to four digits."""
Z = 1.959963984540054


class Deviation(NamedTuple):
    """A standard deviation with its 95 % interval and degrees of freedom. The ends are None without an interval."""

    value: float
    low: float | None
    high: float | None
    degrees: float


def spread(values: Array) -> Array:
    """Return the deviations from the mean over the first dimension: exactly 0 where all values are equal."""
    shifted = values - values[0]
    found: Array = shifted - shifted.mean(axis=0)
    return found


def deviation(variance: float, degrees: float) -> Deviation:
    """Return the standard deviation of a variance that has a chi-square distribution, with its 95 % interval.

    Below one degree of freedom there is no interval.
    """
    value = math.sqrt(variance)
    if degrees < 1:
        return Deviation(value, None, None, degrees)
    low, high = (value * math.sqrt(degrees / chi_square(share, degrees)) for share in (0.975, 0.025))
    return Deviation(value, low, high, degrees)


def pooled_deviation(groups: Iterable[Sequence[float]]) -> Deviation | None:
    """Return the standard deviation within groups of values, pooled; None if no group has two values."""
    squares, degrees = 0.0, 0
    for group in groups:
        if len(group) > 1:
            squares += float((spread(np.asarray(group)) ** 2).sum())
            degrees += len(group) - 1
    return deviation(squares / degrees, degrees) if degrees else None


@lru_cache(maxsize=1024)
def chi_square(share: float, degrees: float) -> float:
    """Return the quantile of the chi-square distribution, for 0.025 or 0.975, by bisection to nine digits."""
    if degrees > MANY:
        step = 2 / (9 * degrees)
        return degrees * (1 - step + (Z if share > 0.5 else -Z) * math.sqrt(step)) ** 3
    low, high = 0.0, degrees + 10 * math.sqrt(2 * degrees) + 10
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _chi_square_share(middle, degrees) < share else (low, middle)
    return high


def _chi_square_share(x: float, degrees: float) -> float:
    """Return the probability of a value up to x: the series of the regularized incomplete gamma function."""
    a, half = degrees / 2, x / 2
    term = total = 1 / a
    at = a
    while term > 1e-16 * total:
        at += 1
        term *= half / at
        total += term
    return total * math.exp(a * math.log(half) - half - math.lgamma(a)) if half else 0.0
