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
    ratings: Ratings,
    categories: Sequence[str],
    *,
    episodes: Sequence[Hashable] | None = None,
) -> Interval:
    """Return the share of equal pairs of ratings, averaged over items, with its 95 % confidence interval.

    `episodes` is the episode of each item, the unit of the interval; None makes every item an episode. The value is
    None if no item has two ratings. Raises BadInput for an unknown label or lists of different lengths.
    """
    counts = _counted(ratings, categories)
    paired, alike = _pairs(counts)
    groups, size = _groups(episodes, len(counts))
    paired, alike = (_summed(each, groups, size) for each in (paired, alike))
    return proportion_interval(Units.of_episodes(alike.tolist(), paired.tolist()))


def gwet_ac1(
    ratings: Ratings,
    categories: Sequence[str],
    *,
    episodes: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Interval:
    """Return Gwet's AC1, (a - e) / (1 - e), with its 95 % confidence interval.

    a is the percent agreement; e = sum of p (1 - p) over the q categories, divided by q - 1, where p is a category's
    mean share of an item's ratings. `categories` contains all possible categories, so q >= 2. The interval and the
    errors are as in `percent_agreement`.
    """
    if len(set(categories)) < 2:
        raise BadInput(f"AC1 is undefined for categories {list(categories)}. Pass at least two categories.")
    counts = _counted(ratings, categories)
    given = counts.sum(axis=1)
    rated = (given > 0).astype(np.float64)
    shares = counts / np.maximum(given, 1)[:, None]
    groups, size = _groups(episodes, len(counts))
    paired, alike = (_summed(pair, groups, size) for pair in _pairs(counts))
    rated, shares = (_summed(each, groups, size) for each in (rated, shares))

    def statistic(weights: Array) -> Array:
        agreed = (weights @ alike) / (weights @ paired)
        prevalence = (weights @ shares) / (weights @ rated)[:, None]
        chance = (prevalence * (1 - prevalence)).sum(axis=1) / (len(categories) - 1)
        found: Array = (agreed - chance) / (1 - chance)
        return found

    return statistic_interval(statistic, size, seed=seed)


def cohen_kappa(
    ratings: Ratings,
    categories: Sequence[str],
    *,
    episodes: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Interval:
    """Return Cohen's kappa of two raters over the items that both rated, with its 95 % confidence interval.

    The value is None if both raters use a single label only. Raises BadInput for a number of raters other than two, an
    unknown label, or lists of different lengths.
    """
    for number, row in enumerate(ratings):
        if len(row) != 2:
            raise BadInput(f"Cohen's kappa needs two raters; item {number} has {len(row)}. Use `gwet_ac1`.")
    q = len(categories)
    place = _places(ratings, categories)
    tables = np.zeros((len(ratings), q, q))
    for item, (first, second) in enumerate(ratings):
        if first is not None and second is not None:
            tables[item, place[first], place[second]] = 1
    groups, size = _groups(episodes, len(tables))
    pooled = _summed(tables.reshape(len(tables), q * q), groups, size)

    def statistic(weights: Array) -> Array:
        table = (weights @ pooled).reshape(len(weights), q, q)
        table = table / table.sum(axis=(1, 2), keepdims=True)
        agreed = np.trace(table, axis1=1, axis2=2)
        chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
        found: Array = (agreed - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan)
        return found

    return statistic_interval(statistic, size, seed=seed)


def fleiss_kappa(
    ratings: Ratings,
    categories: Sequence[str],
    *,
    episodes: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Interval:
    """Return Fleiss' kappa, (a - e) / (1 - e), with its 95 % confidence interval, over the items with two ratings.

    a is the percent agreement; e = sum of p squared, where p is the share of a category among all ratings. The value is
    None if all ratings are equal. The interval and the errors are as in `percent_agreement`.

    Source: Fleiss, Measuring nominal scale agreement among many raters (1971), where each item has as many ratings.
    """
    counts = _counted(ratings, categories)
    groups, size = _groups(episodes, len(counts))
    paired, alike = _pairs(counts)
    paired, alike, counts = (
        _summed(each, groups, size) for each in (paired, alike, counts * paired[:, None])
    )

    def statistic(weights: Array) -> Array:
        agreed = (weights @ alike) / (weights @ paired)
        shares = (weights @ counts) / (weights @ counts).sum(axis=1, keepdims=True)
        chance = (shares**2).sum(axis=1)
        found: Array = (agreed - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan)
        return found

    return statistic_interval(statistic, size, seed=seed)


def krippendorff_alpha(
    values: Sequence[Sequence[float | None]],
    *,
    episodes: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Interval:
    """Return Krippendorff's alpha for values on an interval scale, with its 95 % confidence interval.

    `values` has one value per rater for each item, or None where a rater gave none; items with one value do not count.
    Alpha is 1 - observed / expected disagreement, where disagreement is the squared difference of two values. The value
    is None if all values are equal. `episodes` and the interval are as in `percent_agreement`.

    Source: Krippendorff, Computing Krippendorff's alpha-reliability (2011).
    """
    given = [[value for value in row if value is not None] for row in values]
    paired = [row if len(row) > 1 else [] for row in given]
    n, total, squares = (
        np.array([sum(value**power for value in row) for row in paired], dtype=np.float64)
        for power in range(3)
    )
    observed = 2 * (n * squares - total**2) / np.maximum(n - 1, 1)
    groups, size = _groups(episodes, len(paired))
    n, total, squares, observed = (_summed(each, groups, size) for each in (n, total, squares, observed))

    def statistic(weights: Array) -> Array:
        count, sums = weights @ n, weights @ total
        expected = 2 * (count * (weights @ squares) - sums**2) / (count - 1)
        found: Array = 1 - (weights @ observed) / np.where(expected > 1e-9, expected, np.nan)
        return found

    return statistic_interval(statistic, size, seed=seed)


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Kendall's tau-b of two lists of values of the same items; None if one of them has only ties.

    Source: Kendall, The treatment of ties in ranking problems (1945).
    """
    one, other = (np.sign(np.subtract.outer(each, each)) for each in (np.asarray(first), np.asarray(second)))
    scale = np.sqrt((one**2).sum() * (other**2).sum())
    return float((one * other).sum() / scale) if scale else None


def _places(ratings: Ratings, categories: Sequence[str]) -> dict[str, int]:
    place = {name: number for number, name in enumerate(categories)}
    for number, row in enumerate(ratings):
        for label in row:
            if label is not None and label not in place:
                raise BadInput(
                    f"item {number}: the label {label!r} is not a category. Use one of: "
                    f"{', '.join(categories)}"
                )
    return place


def _counted(ratings: Ratings, categories: Sequence[str]) -> Array:
    """Return how many raters assigned each category to each item, as an array of shape (items, categories)."""
    place = _places(ratings, categories)
    counts = np.zeros((len(ratings), len(categories)))
    for number, row in enumerate(ratings):
        for label in row:
            if label is not None:
                counts[number, place[label]] += 1
    return counts


def _pairs(counts: Array) -> tuple[Array, Array]:
    """Return for each item whether it has at least two ratings, and the item's share of equal pairs."""
    given = counts.sum(axis=1)
    paired = (given >= 2).astype(np.float64)
    alike = (counts * (counts - 1)).sum(axis=1) / np.maximum(given * (given - 1), 1)
    return paired, alike * paired


def _groups(episodes: Sequence[Hashable] | None, items: int) -> tuple[npt.NDArray[np.intp], int]:
    """Return the episode number of each item, and the number of episodes."""
    if episodes is None:
        return np.arange(items), items
    if len(episodes) != items:
        raise BadInput(
            f"`episodes` names {len(episodes)} episodes for {items} items. Pass the episode of each item."
        )
    numbers = {episode: number for number, episode in enumerate(dict.fromkeys(episodes))}
    return np.array([numbers[episode] for episode in episodes], dtype=np.intp), len(numbers)


def _summed(values: Array, groups: npt.NDArray[np.intp], size: int) -> Array:
    """Return the sums of `values` by episode."""
    summed = np.zeros((size, *values.shape[1:]))
    np.add.at(summed, groups, values)
    return summed
