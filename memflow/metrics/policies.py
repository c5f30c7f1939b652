"""Comparison of on-policy with off-policy evaluation: paired differences and ranks (AMemGym, section 4.2).

The interval of a difference draws the same users for both policies, so that difficulty shared by both does not widen
it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memflow.errors import BadInput
from memflow.metrics.diagnosis import memory_score
from memflow.metrics.intervals import Array, Interval, Units, statistic_interval

_SAME = 9
"""Decimals to which two values must agree to share a rank."""

Statistic = Callable[[Array], Array]


@dataclass(frozen=True)
class PolicyCounts:
    """Counts of correct answers of one memory under one policy, as arrays of shape (users, periods).

    `asked` counts answers, `right` correct answers, `bound` correct answers of the upper bound. `chance` sums the
    expected accuracy of guessing.
    """

    right: Array
    bound: Array
    chance: Array
    asked: Array

    def accuracy(self, weights: Array) -> Array:
        """Return the accuracy pooled over periods and users, for m sets of user weights of shape (m, users)."""
        shares: Array = (weights @ self.right).sum(-1) / (weights @ self.asked).sum(-1)
        return shares

    def units(self) -> Units:
        """Return the users as units of the accuracy."""
        return Units.of_episodes(self.right.sum(-1).tolist(), self.asked.sum(-1).tolist())

    def memory_score(self, weights: Array) -> Array:
        """Return the memory score (diagnosis.memory_score) from accuracies that are pooled over users per period."""
        asked = weights @ self.asked
        return memory_score(
            weights @ self.right / asked, weights @ self.bound / asked, weights @ self.chance / asked
        )


class PairedIntervals(NamedTuple):
    """The on-policy value, the off-policy value and their difference, each with a 95 % interval."""

    on: Interval
    off: Interval
    difference: Interval


def paired_intervals(on: Statistic, off: Statistic, users: int, *, seed: int = 0) -> PairedIntervals:
    """Return both values and their difference, with 95 % intervals over the same users."""
    return PairedIntervals(
        statistic_interval(on, users, seed=seed),
        statistic_interval(off, users, seed=seed),
        statistic_interval(lambda weights: off(weights) - on(weights), users, seed=seed),
    )


def ranks(values: Sequence[float | None]) -> list[int | None]:
    """Return the rank of each value, 1 for the highest. Equal values share the better rank; None has rank None."""
    there = [round(value, _SAME) for value in values if value is not None]
    return [
        None if value is None else 1 + sum(other > round(value, _SAME) for other in there) for value in values
    ]


def rank_changes(on: Sequence[int | None], off: Sequence[int | None]) -> list[int | None]:
    """Return each memory's on-policy rank minus its off-policy rank: positive if it ranks better off-policy.

    Raises BadInput for different lengths.
    """
    if len(on) != len(off):
        raise BadInput(
            f"`on` has {len(on)} ranks, but `off` has {len(off)}. Pass one rank of each memory in both."
        )
    return [None if one is None or other is None else one - other for one, other in zip(on, off, strict=True)]
