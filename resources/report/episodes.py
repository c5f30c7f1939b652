"""Rows of a partition by episode, and shards: groups of consecutive episodes that share a data file.

A shard bounds both the number of files (domains of many small episodes) and the rows in memory.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from memflow.errors import MissingData
from memflow.records import columns
from memflow.resources.lake.lake import Lake
from memflow.resources.report.redaction import Redaction
from memflow.resources.report.schema import FileColumns, column_values

SHARD_ITEMS = 400
"""Messages and probes of the episodes in a shard, unless a single episode has more."""


@dataclass(frozen=True)
class EpisodeSummary:
    """An episode of a domain: its number of given messages and probes, its last checkpoint, and its shard."""

    episode: str
    shard: int
    messages: int
    probes: int
    checkpoints: int


def episode_summaries(lake: Lake, domain: str) -> list[EpisodeSummary]:
    """Return the episodes of a domain in the order of their messages and probes, divided into shards."""
    counts: dict[str, list[int]] = {}
    for place, (table, names) in enumerate(
        (
            ("utterance.turns", ("episode_id", "checkpoint")),
            ("question.probes", ("episode_id", "checkpoint", "split")),
        )
    ):
        for episode, checkpoint, *split in _columns(lake, table, domain, names):
            if split != ["train"]:
                count = counts.setdefault(episode, [0, 0, 0])
                count[place] += 1
                count[2] = max(count[2], checkpoint + 1)
    found = []
    shard = items = 0
    for episode, (messages, probes, checkpoints) in counts.items():
        if items and items + messages + probes > SHARD_ITEMS:
            shard, items = shard + 1, 0
        items += messages + probes
        found.append(EpisodeSummary(episode, shard, messages, probes, checkpoints))
    return found


def shards_of(summaries: Sequence[EpisodeSummary]) -> Mapping[int, list[str]]:
    """Return the episodes of each shard, by its number."""
    found: dict[int, list[str]] = {}
    for each in summaries:
        found.setdefault(each.shard, []).append(each.episode)
    return found


class EpisodeRows:
    """The rows of a partition as an Arrow table, from which the rows of single episodes are read.

    `key` is the column that names the episode. A missing partition has no rows.
    """

    def __init__(self, lake: Lake, table: str, partition: str, key: str = "episode_id") -> None:
        try:
            self._table = lake.arrow(table, partition, vectors=False)
        except MissingData:
            self._table = None
        self._places: dict[str, list[int]] = {}
        for place, episode in enumerate([] if self._table is None else column_values(self._table, key)):
            self._places.setdefault(episode, []).append(place)

    def arrow(self, episode: str) -> pa.Table | None:
        """Return the rows of an episode in stored order; None without rows."""
        places = self._places.get(episode)
        if self._table is None or not places:
            return None
        if places[-1] - places[0] + 1 == len(places):
            return self._table.slice(places[0], len(places))
        return self._table.take(places)

    def rows(
        self, columns: FileColumns, episode: str, redaction: Redaction, *, texts: bool
    ) -> list[dict[str, Any]]:
        """Return the rows of an episode by the titles of a data file's columns; empty without rows."""
        found = self.arrow(episode)
        return [] if found is None else columns.rows(found, redaction, texts=texts)


def _columns(lake: Lake, table: str, partition: str, names: Collection[str]) -> Iterator[tuple[Any, ...]]:
    assert {*names} <= {column.name for column in columns(table)}
    try:
        yield from lake.columns(table, partition, [*names])
    except MissingData:
        return
