"""Groups of verdicts with the sums of their values, and means over groups with intervals by Student's t.

sql/queries/verdict_groups.sql groups a million rows in a fraction of a second; `groups_of` groups rows in memory.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memflow.metrics.intervals import Interval, student_t
from memflow.records import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The sums over a group of verdicts. `asked` counts all verdicts, `scored` the verdicts with a value.

    `total` and `squares` are the sum and the sum of squares of the values; `low` and `high` are their extremes.
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

    def scaled(self, by: float, shift: float) -> "Group":
        """Return the group with every value replaced by `by * value + shift`."""
        ends = [by * end + shift for end in (self.low, self.high) if end is not None]
        return replace(
            self,
            total=by * self.total + shift * self.scored,
            squares=by * by * self.squares + 2 * by * shift * self.total + shift * shift * self.scored,
            low=min(ends, default=None),
            high=max(ends, default=None),
        )


class Spread(NamedTuple):
    """Statistics of values: number, mean, population standard deviation, minimum and maximum; None without values."""

    n: int
    mean: float | None
    deviation: float | None
    low: float | None
    high: float | None


def groups_of(verdicts: Iterable[Verdict]) -> list[Group]:
    """Group the verdicts by their identifying columns. Return the groups, sorted by these columns."""
    values: dict[tuple[str, str, str | None, str, str, int, str], list[float | None]] = {}
    for row in verdicts:
        key = (
            row.assistant,
            row.dataset,
            row.category,
            row.metric,
            row.variant,
            row.checkpoint,
            row.episode_id,
        )
        values.setdefault(key, []).append(row.value)
    found = []
    for key, each in sorted(values.items(), key=lambda one: (*one[0][:2], one[0][2] or "", *one[0][3:])):
        assistant, dataset, category, metric, variant, checkpoint, episode = key
        scored = [value for value in each if value is not None]
        found.append(
            Group(
                assistant=assistant,
                dataset=dataset,
                category=category,
                metric=metric,
                variant=variant,
                checkpoint=checkpoint,
                episode_id=episode,
                asked=len(each),
                scored=len(scored),
                total=math.fsum(scored),
                squares=math.fsum(value * value for value in scored),
                low=min(scored, default=None),
                high=max(scored, default=None),
            )
        )
    return found


def spread(groups: Iterable[Group]) -> Spread:
    """Return the number, mean, population standard deviation and extremes over all values of `groups`."""
    held = [group for group in groups if group.scored]
    n = sum(group.scored for group in held)
    if not n:
        return Spread(0, None, None, None, None)
    mean = math.fsum(group.total for group in held) / n
    around = _around(held, mean)
    return Spread(
        n,
        mean,
        math.sqrt(around / n),
        min(group.low for group in held if group.low is not None),
        max(group.high for group in held if group.high is not None),
    )


def interval(groups: Sequence[Group], independent: frozenset[str]) -> Interval:
    """Return the mean over all values and its 95 % interval by Student's t, cut off at the extremes.

    The values of one episode are dependent and count as one sample. In the episodes in `independent`, or in a single
    episode, each value counts as one sample.
    """
    whole = spread(groups)
    if whole.mean is None or whole.low is None or whole.high is None:
        return Interval(None, None, None)
    error, draws = _error([group for group in groups if group.scored], independent, whole.mean)
    if draws < 2:
        return Interval(whole.mean, None, None)
    reach = student_t(draws - 1) * error
    return Interval(whole.mean, max(whole.low, whole.mean - reach), min(whole.high, whole.mean + reach))


def mean_of_means(slices: Sequence[Sequence[Group]], independent: frozenset[str]) -> Interval:
    """Return the unweighted mean of the means of `slices`, with a 95 % interval computed as in `interval`."""
    held = [[group for group in part if group.scored] for part in slices]
    means = [spread(part).mean for part in held]
    known = [mean for mean in means if mean is not None]
    if not known or len(known) < len(slices):
        return Interval(None, None, None)
    errors = [_error(part, independent, mean) for part, mean in zip(held, known, strict=True)]
    value = math.fsum(known) / len(known)
    if any(draws < 2 for _, draws in errors):
        return Interval(value, None, None)
    error = math.sqrt(math.fsum(error * error for error, _ in errors)) / len(known)
    reach = student_t(sum(draws - 1 for _, draws in errors)) * error
    return Interval(value, value - reach, value + reach)


def _error(groups: Sequence[Group], independent: frozenset[str], mean: float) -> tuple[float, int]:
    """Return the standard error of the mean, and the number of independent samples."""
    episodes: dict[str, list[Group]] = {}
    for group in groups:
        episodes.setdefault(group.episode_id, []).append(group)
    separate = set(episodes) & independent if len(episodes) > 1 else set(episodes)
    n = sum(group.scored for group in groups)
    draws, squares = 0, 0.0
    for episode, held in episodes.items():
        count = sum(group.scored for group in held)
        if episode in separate:
            draws += count
            squares += _around(held, mean)
        else:
            draws += 1
            squares += (math.fsum(group.total for group in held) - mean * count) ** 2
    return (math.sqrt(squares * draws / (draws - 1)) / n if draws > 1 else 0.0), draws


def _around(groups: Sequence[Group], mean: float) -> float:
    """Return the sum of squared differences between the values and `mean`; at least 0 despite rounding errors."""
    terms = (group.squares - 2 * mean * group.total + group.scored * mean * mean for group in groups)
    return max(0.0, math.fsum(terms))
