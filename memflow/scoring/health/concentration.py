"""Where failures concentrate: the single split of a property that explains the failures of writes or reads best.

Every split of every property is tested at once. The p value is of the largest statistic over all splits (max-T,
Westfall and Young 1993), with failures permuted within episodes, so that hard episodes explain nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

ROUNDS, LEVEL, SEED = 199, 0.05, 32
"""Permutations, the level of the test, and the seed with which a rerun gives the same p value."""
ROWS = 3000
"""Rows that are permuted at most, evenly spaced: more make no split clearer, but cost time."""
CUTS = 19
"""Thresholds of a number, at its quantiles; each value of a number that has few."""
SMALLEST = 5
"""Rows on each side of a split."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Split:
    """One side of a split of rows by a property: `side` is True for its rows, `other` the label of the other side.

    `p` is adjusted over all splits; None if the property never varies within an episode.
    """

    label: str
    other: str
    side: Flags
    statistic: float = 0.0
    p: float | None = None


def find_splits(
    is_failure: Flags, properties: Mapping[str, Sequence[Any]], episodes: Sequence[str]
) -> list[Split]:
    """Return both sides of every split with their statistics, largest first; empty if no property varies enough.

    `properties` has a value per row: a number for a name with `{}`, such as `of more than {} words`, and otherwise a
    category or a flag.
    """
    labeled_masks = [pair for name, values in properties.items() for pair in _splits(name, values)]
    if not labeled_masks:
        return []
    # At most ROWS evenly spaced rows are tested.
    sample = np.linspace(0, len(is_failure) - 1, min(ROWS, len(is_failure))).astype(int)
    groups = np.unique(np.asarray(episodes)[sample], return_inverse=True)[1]
    masks = np.array([mask for _, _, mask in labeled_masks])[:, sample].astype(np.float64)
    statistics, varies, adjusted = _max_t(is_failure[sample].astype(np.float64), masks, groups)
    splits = []
    for index, (label, other_label, mask) in enumerate(labeled_masks):
        p = float(adjusted[index]) if varies[index] else None
        splits.append(Split(label, other_label, mask, float(statistics[index]), p))
        splits.append(Split(other_label, label, ~mask, float(statistics[index]), p))
    return sorted(splits, key=lambda split: -split.statistic)


def _splits(name: str, values: Sequence[Any]) -> Iterator[tuple[str, str, Flags]]:
    """Yield both labels and the mask of each split of a property: at thresholds of a number, or by value."""
    if "{}" in name:
        numbers = np.array([-1 if value is None else value for value in values])
        thresholds = np.unique(numbers)[:-1]
        if len(thresholds) > CUTS:
            thresholds = np.unique(np.quantile(numbers, np.linspace(0, 1, CUTS + 2)[1:-1]).astype(int))
        for threshold in thresholds:
            mask = numbers > threshold
            if SMALLEST <= mask.sum() <= len(mask) - SMALLEST:
                yield name.format(f"more than {threshold}"), name.format(f"at most {threshold}"), mask
        return
    categories = sorted(set(values))
    if len(categories) == 2 and True in categories:
        categories = [True]  # a flag has one split, not one for True and one for False
    for category in categories:
        mask = np.array([value == category for value in values])
        if SMALLEST <= mask.sum() <= len(mask) - SMALLEST:
            if category is True:
                yield f"with {name}", f"without {name}", mask
            else:
                yield f"of the {name} {category}", f"of another {name} than {category}", mask


def _max_t(
    is_failure: npt.NDArray[np.float64], masks: npt.NDArray[np.float64], groups: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.float64], Flags, npt.NDArray[np.float64]]:
    """Return three arrays of shape (splits,): statistics, whether a split varies within a group, adjusted p values.

    `masks` has shape (splits, rows). The statistic is the absolute sum of failures on one side less its expectation, in
    standard deviations, stratified by group.
    """
    order = np.argsort(groups, kind="stable")
    is_failure, masks, groups = is_failure[order], masks[:, order], groups[order]
    sizes = np.bincount(groups).astype(np.float64)
    rate = np.bincount(groups, is_failure) / sizes
    centered = is_failure - rate[groups]
    shares = np.array([np.bincount(groups, mask) for mask in masks]) / sizes
    weights = np.where(sizes > 1, sizes**2 / np.maximum(sizes - 1, 1), 0.0)
    variance = (shares * (1 - shares) * rate * (1 - rate) * weights).sum(axis=1)
    varies = variance > 1e-12
    deviation = np.sqrt(np.where(varies, variance, 1.0))
    # Rounded, so that equal splits stay equal and the first property explains them.
    statistics = np.where(varies, np.abs(masks @ centered) / deviation, 0.0).round(9)
    generator = np.random.default_rng(SEED)
    # Rows are sorted by group, so sorting by group and a random number permutes within groups.
    orders = np.argsort(groups + generator.random((ROUNDS, len(groups))), axis=1)
    permuted = np.abs(masks @ centered[orders].T) / deviation[:, None]
    largest_permuted = np.where(varies[:, None], permuted, 0.0).max(axis=0)
    p = (1 + (largest_permuted >= statistics[:, None] - 1e-9).sum(axis=1)) / (ROUNDS + 1)
    return statistics, varies, p
