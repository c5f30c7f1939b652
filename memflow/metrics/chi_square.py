"""Standard deviations with 95 % intervals from the chi-square distribution."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Deviation(NamedTuple):
    """A standard deviation with its 95 % interval and degrees of freedom."""

    value: float
    low: float
    high: float
    degrees: float


def spread(values: Array) -> Array:
    """Return the deviations from the mean over the first dimension: exactly 0 where all values are equal."""
    shifted = values - values[0]
    deviations: Array = shifted - shifted.mean(axis=0)
    return deviations


def deviation(variance: float, degrees: float) -> Deviation:
    """Return the square root of an estimated variance, with its 95 % interval.

    The estimate is taken as a scaled chi-square variable with `degrees` degrees of freedom, which may be a fraction.
    """
    value = math.sqrt(variance)
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


def chi_square(share: float, degrees: float) -> float:
    """Return the quantile of the chi-square distribution below which a `share` of the values lies."""
    from scipy.special import gammaincinv  # noqa: PLC0415  (its import takes 0.2 s)

    return 2 * float(gammaincinv(degrees / 2, share))
