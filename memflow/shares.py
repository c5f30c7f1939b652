"""Shares of a partition: disjoint sets of its episodes or users, each computed by another worker process.

The shares are contiguous, so that the rows of all shares, concatenated, have the same order as without shares.
resources/workers/workers.py starts the processes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol, TypeVar


class _HasBase(Protocol):
    @property
    def episode_id(self) -> str: ...
    @property
    def base(self) -> str | None: ...


class _OfEpisode(Protocol):
    @property
    def episode_id(self) -> str: ...


T = TypeVar("T")
E = TypeVar("E", bound=_HasBase)
R = TypeVar("R", bound=_OfEpisode)


@dataclass(frozen=True)
class Share:
    """One of `count` shares of a partition; `number` counts from 0. Each item is in exactly one share."""

    number: int = 0
    count: int = 1

    def of(self, items: Iterable[T]) -> list[T]:
        """Return the items that belong to this share."""
        return self._of_groups([[item] for item in items])

    def of_rows(self, rows: Iterable[R]) -> list[R]:
        """Return the rows that belong to this share. Consecutive rows of one episode are in the same share."""
        return self._of_groups([list(group) for _, group in groupby(rows, key=lambda row: row.episode_id)])

    def of_episodes(self, episodes: Sequence[E]) -> list[E]:
        """Return the episodes that belong to this share. An episode is in the same share as its base episode."""
        return self._of_groups(_independent(episodes))

    def of_limit(self, limit: int) -> int:
        """Return this share of a limit on concurrent requests, at least 1."""
        return max(1, limit // self.count + (self.number < limit % self.count))

    def _of_groups(self, groups: Sequence[Sequence[T]]) -> list[T]:
        """Return the items of the groups whose first item is in this share."""
        total, before = sum(map(len, groups)), 0
        found: list[T] = []
        for group in groups:
            if before * self.count // total == self.number:
                found += group
            before += len(group)
        return found


WHOLE = Share()
"""The only share of a step that is not divided."""


def _independent(episodes: Sequence[E]) -> list[Sequence[E]]:
    """Return the episodes in order, divided into groups, so that every episode is in the group of its base episode."""
    places = {episode.episode_id: place for place, episode in enumerate(episodes)}
    groups: list[Sequence[E]] = []
    end = earliest_base = len(episodes)
    for place in reversed(range(len(episodes))):
        base = episodes[place].base
        if base is not None:
            earliest_base = min(earliest_base, places.get(base, place))
        if earliest_base >= place:
            groups.append(episodes[place:end])
            end = place
    return groups[::-1]
