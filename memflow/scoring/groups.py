"""Groups of verdicts with the sums of their values, and means over groups with their intervals.

sql/queries/verdict_groups.sql groups a million rows in a fraction of a second.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memflow.metrics.intervals import NO_VARIATION, Interval, Units, cluster_error, student_t
from memflow.scoring.intervals import metric_interval
from memflow.scoring.metric import Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The sums over a group of verdicts. `asked` counts all verdicts, `scored` the verdicts with a value.

    `total` and `squares` are the sum and the sum of squares of the values; `low` and `high` are their extremes, if any.
    """

    assistant: str
    dataset: str
    category: str | None
    metric: str
    variant: str
    checkpoint: int
    episode_id: str
    asked: int
    scored: int
    total: float
    squares: float
    low: float | None
    high: float | None

    def scaled(self, factor: float, shift: float) -> "Group":
        """Return the group with every value replaced by `factor * value + shift`."""
        extremes = [factor * extreme + shift for extreme in (self.low, self.high) if extreme is not None]
        return replace(
            self,
            total=factor * self.total + shift * self.scored,
            squares=factor * factor * self.squares
            + 2 * factor * shift * self.total
            + shift * shift * self.scored,
            low=min(extremes, default=None),
            high=max(extremes, default=None),
        )


class Spread(NamedTuple):
    """Statistics of values: number, mean, population standard deviation, minimum and maximum; None without values."""

    n: int
    mean: float | None
    deviation: float | None
    low: float | None
    high: float | None


def spread(groups: Iterable[Group]) -> Spread:
    """Return the number, mean, population standard deviation and extremes over all values of `groups`."""
    scored_groups = [group for group in groups if group.scored]
    n = sum(group.scored for group in scored_groups)
    if not n:
        return Spread(0, None, None, None, None)
    mean = math.fsum(group.total for group in scored_groups) / n
    terms = (group.squares - 2 * mean * group.total + group.scored * mean * mean for group in scored_groups)
    squared_deviations = max(0.0, math.fsum(terms))  # rounding errors may be negative
    return Spread(
        n,
        mean,
        math.sqrt(squared_deviations / n),
        min(group.low for group in scored_groups if group.low is not None),
        max(group.high for group in scored_groups if group.high is not None),
    )


def interval(metric: Metric, variant: str, groups: Sequence[Group], independent: frozenset[str]) -> Interval:
    """Return the mean over all values with the interval of the metric's kind of values.

    The units are episodes; in the episodes in `independent`, each value is a unit of its own, a case.
    """
    mean = metric_interval(metric, variant, units_of(groups, independent))
    # A mean over groups is summed exactly.
    return mean._replace(value=spread(groups).mean)


def mean_of_means(slices: Sequence[Sequence[Group]], independent: frozenset[str]) -> Interval:
    """Return the unweighted mean of the means of `slices`, with a 95 % interval from their CR2 standard errors.

    The degrees of freedom are those of Welch and Satterthwaite. Units are as in `interval`.
    """
    scored_slices = [[group for group in part if group.scored] for part in slices]
    means = [spread(part).mean for part in scored_slices]
    known_means = [mean for mean in means if mean is not None]
    if not known_means or len(known_means) < len(slices):
        return Interval(None, None, None)
    units = [units_of(part, independent) for part in scored_slices]
    value = math.fsum(known_means) / len(known_means)
    if reason := next(filter(None, (units_of_slice.too_few() for units_of_slice in units)), None):
        return Interval(value, None, None, reason)
    errors = [
        cluster_error(units_of_slice, mean) for units_of_slice, mean in zip(units, known_means, strict=True)
    ]
    total = math.fsum(error**2 for error, _ in errors)
    if not total:
        return Interval(value, None, None, NO_VARIATION)
    degrees = total**2 / math.fsum(error**4 / degrees_of_slice for error, degrees_of_slice in errors)
    half_width = student_t(degrees) * math.sqrt(total) / len(known_means)
    names = dict.fromkeys(units_of_slice.name for units_of_slice in units)
    return Interval(value, value - half_width, value + half_width, units=" and ".join(names))


def units_of(groups: Iterable[Group], independent: frozenset[str]) -> Units:
    """Return the independent units of `groups`: episodes, and the cases of the episodes in `independent`."""
    episodes: dict[str, list[Group]] = {}
    for group in groups:
        if group.scored:
            episodes.setdefault(group.episode_id, []).append(group)
    return Units.of_sums(
        (
            math.fsum(group.total for group in groups_of_episode),
            sum(group.scored for group in groups_of_episode),
            math.fsum(group.squares for group in groups_of_episode) if episode in independent else None,
        )
        for episode, groups_of_episode in episodes.items()
    )
