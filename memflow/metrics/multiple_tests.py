"""Corrections of p values for several tests at once."""

from collections.abc import Sequence

import numpy as np

from memflow.errors import BadInput
from memflow.metrics.paired import Array, sign_flip


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p values adjusted by Holm's step-down method, in the order of `ps`.

    Rejecting where an adjusted value is at most 5 % keeps the probability of any false alarm at 5 % or less, whatever
    the dependence between the tests (Holm, Scandinavian Journal of Statistics 6, 1979). Raises BadInput for a value
    outside 0 to 1.
    """
    if invalid_values := [p for p in ps if not 0 <= p <= 1]:
        raise BadInput(f"{invalid_values[0]} is no p value. Pass values from 0 to 1, without missing ones.")
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = highest
    return adjusted


def max_t(totals: Array, *, seed: int = 0) -> Array:
    """Return the two-sided p value of each column, adjusted over all columns by step-down max-T.

    `totals` are sums of paired differences of shape (episodes, columns), 0 for an episode without pairs. The signs of a
    whole episode are flipped in all columns at once, so dependent columns, such as overlapping slices, cost no power
    (Westfall and Young, Resampling-Based Multiple Testing, 1993). A column is divided by its root sum of squares, which
    flips do not change. A column of zeros has the p value 1.
    """
    episodes, columns = totals.shape
    if not columns or episodes < 2:
        return np.ones(columns)
    norms = np.sqrt((totals**2).sum(axis=0))
    scaled = totals / np.where(norms > 0, norms, 1.0)
    ascending = np.argsort(np.abs(scaled.sum(axis=0)), kind="stable")
    scaled = scaled[:, ascending]
    p = sign_flip(lambda signs: np.maximum.accumulate(np.abs(signs @ scaled), axis=1), episodes, seed)
    adjusted = np.empty(columns)
    # The most extreme column comes last; a less extreme one has no smaller p value.
    adjusted[ascending] = np.maximum.accumulate(p[::-1])[::-1]
    return adjusted
