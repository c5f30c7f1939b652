"""On-policy against off-policy: the same figure under both, their difference, and the ranks (AMemGym, section 4.2).

Numbers in, numbers out. Users are drawn in pairs: a draw takes a user's answers under both policies, so that what
is hard for a user under either does not widen the interval of the difference.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memflow.errors import BadInput
from memflow.metrics.diagnosis import memory_score
from memflow.metrics.intervals import Array, Interval, bootstrap

_SAME = 9
"""Decimals to which two figures have to agree to share a rank."""

Statistic = Callable[[Array], Array]


@dataclass(frozen=True)
class PolicyCounts:
    """Answers of one memory under one policy, summed: arrays of shape (users, periods).

    `right` counts right answers, `bound` those of the upper bound, `chance` sums what guessing would score, `asked`
    counts the answers.
    """

    right: Array
    bound: Array
    chance: Array
    asked: Array

    def accuracy(self, weights: Array) -> Array:
        """Share of right answers, pooled over periods and over users as often as `weights` (m, users) says."""
        shares: Array = (weights @ self.right).sum(-1) / (weights @ self.asked).sum(-1)
        return shares

    def memory_score(self, weights: Array) -> Array:
        """The memory score, pooled over the same users in each period (diagnosis.memory_score)."""
        asked = weights @ self.asked
        return memory_score(
            weights @ self.right / asked, weights @ self.bound / asked, weights @ self.chance / asked
        )


class PairedIntervals(NamedTuple):
    """A figure under both policies, and off-policy minus on-policy, each with its 95 % interval."""

    on: Interval
    off: Interval
    difference: Interval


def paired_intervals(on: Statistic, off: Statistic, users: int, *, seed: int = 0) -> PairedIntervals:
    """The two figures and their difference over the same draws of `users` users."""
    return PairedIntervals(
        bootstrap(on, users, seed=seed),
        bootstrap(off, users, seed=seed),
        bootstrap(lambda weights: off(weights) - on(weights), users, seed=seed),
    )


def ranks(values: Sequence[float | None]) -> list[int | None]:
    """1 for the highest; equal values share the better rank; None for those without a value."""
    there = [round(value, _SAME) for value in values if value is not None]
    return [
        None if value is None else 1 + sum(other > round(value, _SAME) for other in there) for value in values
    ]


def rank_changes(on: Sequence[int | None], off: Sequence[int | None]) -> list[int | None]:
    """By how many ranks each stands higher off-policy than on-policy: negative where it falls.

    Raises BadInput where the two differ in length.
    """
    if len(on) != len(off):
        raise BadInput(f"{len(on)} ranks on-policy but {len(off)} off-policy; give one of each per memory")
    return [None if one is None or other is None else one - other for one, other in zip(on, off, strict=True)]
