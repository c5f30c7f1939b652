"""Inter-rater agreement: percent agreement, Gwet's AC1, kappas, and Krippendorff's alpha; Kendall's tau of ranks.

AC1 follows Gwet (2008), with missing ratings as in his Handbook (4th edition, 2014). If nearly all items have the same
label, kappa's chance agreement approaches 1 and kappa approaches 0; AC1's chance agreement is at most 1/2.
"""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput
from memflow.metrics.intervals import Interval, Units, proportion_interval, statistic_interval

Array = npt.NDArray[np.float64]
Ratings = Sequence[Sequence[str | None]]
"""Per item, one label per rater; None where a rater gave none."""


def percent_agreement(
    ratings: Ratings, categories: Sequence[str], *, episodes: Sequence[Hashable] | None = None
) -> Interval:
    """Return the share of equal pairs of ratings, averaged over items, with its 95 % confidence interval.

    `episodes` is the episode of each item, the unit of the interval; None makes every item an episode. The value is
    None if no item has two ratings. Raises BadInput for an unknown label or lists of different lengths.
    """
    counts = _counted(ratings, categories)
    has_pair, agreement = _pairs(counts)
    groups, size = _groups(episodes, len(counts))
    has_pair, agreement = (_summed(values, groups, size) for values in (has_pair, agreement))
    return proportion_interval(Units.of_episodes(agreement.tolist(), has_pair.tolist()))


def gwet_ac1(
    ratings: Ratings, categories: Sequence[str], *, episodes: Sequence[Hashable] | None = None, seed: int = 0
) -> Interval:
    """Return Gwet's AC1, (a - e) / (1 - e), with its 95 % confidence interval.

    a is the percent agreement; e = sum of p (1 - p) over the q categories, divided by q - 1, where p is a category's
    mean share of an item's ratings. `categories` contains all possible categories, so q >= 2. The interval and the
    errors are as in `percent_agreement`.
    """
    if len(set(categories)) < 2:
        raise BadInput(f"AC1 is undefined for categories {list(categories)}. Pass at least two categories.")
    counts = _counted(ratings, categories)
    rating_counts = counts.sum(axis=1)
    is_rated = (rating_counts > 0).astype(np.float64)
    shares = counts / np.maximum(rating_counts, 1)[:, None]
    groups, size = _groups(episodes, len(counts))
    has_pair, agreement = (_summed(values, groups, size) for values in _pairs(counts))
    is_rated, shares = (_summed(values, groups, size) for values in (is_rated, shares))

    def statistic(weights: Array) -> Array:
        observed = (weights @ agreement) / (weights @ has_pair)
        prevalence = (weights @ shares) / (weights @ is_rated)[:, None]
        chance = (prevalence * (1 - prevalence)).sum(axis=1) / (len(categories) - 1)
        ac1: Array = (observed - chance) / (1 - chance)
        return ac1

    return statistic_interval(statistic, size, seed=seed)


def cohen_kappa(
    ratings: Ratings, categories: Sequence[str], *, episodes: Sequence[Hashable] | None = None, seed: int = 0
) -> Interval:
    """Return Cohen's kappa of two raters over the items that both rated, with its 95 % confidence interval.

    The value is None if both raters use a single label only. Raises BadInput for a number of raters other than two, an
    unknown label, or lists of different lengths.
    """
    for number, row in enumerate(ratings):
        if len(row) != 2:
            raise BadInput(f"Cohen's kappa needs two raters; item {number} has {len(row)}. Use `gwet_ac1`.")
    q = len(categories)
    category_index = _category_indices(ratings, categories)
    tables = np.zeros((len(ratings), q, q))
    for item, (label_a, label_b) in enumerate(ratings):
        if label_a is not None and label_b is not None:
            tables[item, category_index[label_a], category_index[label_b]] = 1
    groups, size = _groups(episodes, len(tables))
    episode_tables = _summed(tables.reshape(len(tables), q * q), groups, size)

    def statistic(weights: Array) -> Array:
        table = (weights @ episode_tables).reshape(len(weights), q, q)
        table = table / table.sum(axis=(1, 2), keepdims=True)
        observed = np.trace(table, axis1=1, axis2=2)
        chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
        kappa: Array = (observed - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan)
        return kappa

    return statistic_interval(statistic, size, seed=seed)


def fleiss_kappa(
    ratings: Ratings, categories: Sequence[str], *, episodes: Sequence[Hashable] | None = None, seed: int = 0
) -> Interval:
    """Return Fleiss' kappa, (a - e) / (1 - e), with its 95 % confidence interval, over the items with two ratings.

    a is the percent agreement; e = sum of p squared, where p is the share of a category among all ratings. The value is
    None if all ratings are equal. The interval and the errors are as in `percent_agreement`.

    Source: Fleiss, Measuring nominal scale agreement among many raters (1971), where each item has as many ratings.
    """
    counts = _counted(ratings, categories)
    groups, size = _groups(episodes, len(counts))
    has_pair, agreement = _pairs(counts)
    has_pair, agreement, counts = (
        _summed(values, groups, size) for values in (has_pair, agreement, counts * has_pair[:, None])
    )

    def statistic(weights: Array) -> Array:
        observed = (weights @ agreement) / (weights @ has_pair)
        shares = (weights @ counts) / (weights @ counts).sum(axis=1, keepdims=True)
        chance = (shares**2).sum(axis=1)
        kappa: Array = (observed - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan)
        return kappa

    return statistic_interval(statistic, size, seed=seed)


def krippendorff_alpha(
    values: Sequence[Sequence[float | None]], *, episodes: Sequence[Hashable] | None = None, seed: int = 0
) -> Interval:
    """Return Krippendorff's alpha for values on an interval scale, with its 95 % confidence interval.

    `values` has one value per rater for each item, or None where a rater gave none; items with one value do not count.
    Alpha is 1 - observed / expected disagreement, where disagreement is the squared difference of two values. The value
    is None if all values are equal. `episodes` and the interval are as in `percent_agreement`.

    Source: Krippendorff, Computing Krippendorff's alpha-reliability (2011).
    """
    rated = [[value for value in row if value is not None] for row in values]
    pairable = [row if len(row) > 1 else [] for row in rated]
    n, total, squares = (
        np.array([sum(value**power for value in row) for row in pairable], dtype=np.float64)
        for power in range(3)
    )
    disagreement = 2 * (n * squares - total**2) / np.maximum(n - 1, 1)
    groups, size = _groups(episodes, len(pairable))
    n, total, squares, disagreement = (
        _summed(array, groups, size) for array in (n, total, squares, disagreement)
    )

    def statistic(weights: Array) -> Array:
        count, sums = weights @ n, weights @ total
        chance = 2 * (count * (weights @ squares) - sums**2) / (count - 1)
        alpha: Array = 1 - (weights @ disagreement) / np.where(chance > 1e-9, chance, np.nan)
        return alpha

    return statistic_interval(statistic, size, seed=seed)


def kendall_tau(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Kendall's tau-b of two lists of values of the same items; None if one of them has only ties.

    Source: Kendall, The treatment of ties in ranking problems (1945).
    """
    dx, dy = (np.sign(np.subtract.outer(v, v)) for v in (np.asarray(x), np.asarray(y)))
    scale = np.sqrt((dx**2).sum() * (dy**2).sum())
    return float((dx * dy).sum() / scale) if scale else None


def _category_indices(ratings: Ratings, categories: Sequence[str]) -> dict[str, int]:
    """Return the index of each category, from 0. Raises BadInput for a label that is not a category."""
    index = {name: number for number, name in enumerate(categories)}
    for number, row in enumerate(ratings):
        for label in row:
            if label is not None and label not in index:
                raise BadInput(
                    f"item {number}: the label {label!r} is not a category. Use one of: "
                    f"{', '.join(categories)}"
                )
    return index


def _counted(ratings: Ratings, categories: Sequence[str]) -> Array:
    """Return how many raters assigned each category to each item, as an array of shape (items, categories)."""
    category_index = _category_indices(ratings, categories)
    counts = np.zeros((len(ratings), len(categories)))
    for number, row in enumerate(ratings):
        for label in row:
            if label is not None:
                counts[number, category_index[label]] += 1
    return counts


def _pairs(counts: Array) -> tuple[Array, Array]:
    """Return two arrays of shape (items,): 1 for an item with two ratings, else 0, and its share of equal pairs."""
    rating_counts = counts.sum(axis=1)
    has_pair = (rating_counts >= 2).astype(np.float64)
    agreement = (counts * (counts - 1)).sum(axis=1) / np.maximum(rating_counts * (rating_counts - 1), 1)
    return has_pair, agreement * has_pair


def _groups(episodes: Sequence[Hashable] | None, items: int) -> tuple[npt.NDArray[np.intp], int]:
    """Return the episode number of each item, from 0, and the number of episodes. Raises BadInput."""
    if episodes is None:
        return np.arange(items), items
    if len(episodes) != items:
        raise BadInput(
            f"`episodes` names {len(episodes)} episodes for {items} items. Pass the episode of each item."
        )
    numbers = {episode: number for number, episode in enumerate(dict.fromkeys(episodes))}
    return np.array([numbers[episode] for episode in episodes], dtype=np.intp), len(numbers)


def _summed(values: Array, groups: npt.NDArray[np.intp], size: int) -> Array:
    """Return the sums of `values` by episode, of shape (size, ...), given the episode number of each value."""
    sums = np.zeros((size, *values.shape[1:]))
    np.add.at(sums, groups, values)
    return sums
