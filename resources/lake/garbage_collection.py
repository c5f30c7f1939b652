"""The removal of kept rows (`memflow doctor --clean`): which versions are old or too many, and which are in use.

Only the files of rows are removed, one at a time; the records of versions stay, so `--as-of` can name what is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memflow.records import TABLES
from resources.files.local_files import partition_of, stem_of
from resources.lake.kept_versions import EARLIEST, Version, content_of
from resources.lake.lake import Lake


@dataclass(frozen=True)
class KeptRows:
    """A file of kept rows: its size, and when a version with these rows was last replaced."""

    table: str
    partition: str
    content: str
    bytes: int
    until: datetime


def kept_bytes(lake: Lake) -> int:
    """Return the size of all kept rows, in bytes."""
    listed = (kept for table in TABLES for kept in lake.kept.of_table(table).values())
    return sum(sum(kept.files.values()) for kept in listed)


def collectable(lake: Lake, before: datetime, most_bytes: int) -> list[KeptRows]:
    """Return the kept rows to remove, oldest first: those replaced before a moment, and those beyond a total size.

    Rows in use are never among them: the current rows of a partition, and the newest earlier ones that differ.
    """
    found = sorted(
        (rows for table in TABLES for rows in _unused(lake, table)),
        key=lambda rows: (rows.until, rows.content),
    )
    excess = kept_bytes(lake) - most_bytes
    chosen = []
    for rows in found:
        if rows.until < before or excess > 0:
            chosen.append(rows)
            excess -= rows.bytes
    return chosen


def collect(lake: Lake, chosen: Sequence[KeptRows]) -> list[KeptRows]:
    """Remove kept rows that are still unused. Return the removed ones."""
    return [rows for rows in chosen if _remove(lake, rows)]


def _remove(lake: Lake, rows: KeptRows) -> bool:
    def in_use() -> set[str]:
        return contents_in_use(lake.versions(rows.table, rows.partition))

    return lake.kept.remove(rows.table, stem_of(rows.partition), rows.content, in_use)


def contents_in_use(versions: Sequence[Version]) -> set[str]:
    """Return the content hashes of the rows that are in use, among a partition's versions, newest first.

    They are the current ones and the newest ones with another digest, which `score.drift` compares.
    """
    if not versions:
        return set()
    current = versions[0].facts
    earlier = next((version.facts for version in versions if version.facts.digest != current.digest), current)
    return {content_of(current), content_of(earlier)}


def _unused(lake: Lake, table: str) -> Iterator[KeptRows]:
    for stem, kept in lake.kept.of_table(table).items():
        if not kept.files:
            continue
        versions = lake.versions(table, partition_of(stem))
        until = {content_of(version.facts): version.until or EARLIEST for version in reversed(versions)}
        in_use = contents_in_use(versions)
        for content, size in kept.files.items():
            if content not in in_use:
                yield KeptRows(table, partition_of(stem), content, size, until.get(content, EARLIEST))
