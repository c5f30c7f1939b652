"""The removal of replaced rows: which versions are old or too many, and which are in use.

Only rows are removed, one file at a time; the metadata of versions stays, so `--as-of` can name what is missing. A
version that is not in use can never be in use again, so writers need not wait.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from memflow.errors import BadInput
from memflow.records import TABLES
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.versions import KeptFile, kept_facts, kept_files, remove_rows, version_key


@dataclass(frozen=True)
class KeptRows:
    """A file of kept rows, and when the version with these rows was replaced."""

    table: str
    partition: str
    file: KeptFile
    until: datetime

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.file.bytes


def kept_bytes(lake: Lake) -> int:
    """Return the size of all kept rows, in bytes."""
    kept = (files for table in TABLES for files in kept_files(lake.storage, table).values())
    return sum(file.bytes for files in kept for file in files if not file.is_removed)


def collectable(lake: Lake, before: datetime, most_bytes: int) -> list[KeptRows]:
    """Return the kept rows to remove, oldest first: those replaced before a moment, and those beyond a total size.

    Rows in use are never among them: the current rows of a partition, and the newest earlier ones that differ.
    """
    found = sorted(
        (rows for table in TABLES for rows in _unused(lake, table)),
        key=lambda rows: (rows.until, rows.file.key),
    )
    excess = kept_bytes(lake) - most_bytes
    chosen = []
    for rows in found:
        if rows.until < before or excess > 0:
            chosen.append(rows)
            excess -= rows.bytes
    return chosen


def collect(lake: Lake, chosen: Sequence[KeptRows]) -> list[KeptRows]:
    """Remove kept rows. Return the removed ones, without those that another process has removed."""
    removed = []
    for rows in chosen:
        with suppress(FileNotFoundError):
            remove_rows(lake, rows.table, rows.file)
            removed.append(rows)
    return removed


def _unused(lake: Lake, table: str) -> Iterator[KeptRows]:
    """Yield the kept rows of a table that are not in use, except those of partitions with a damaged file."""
    for partition, files in kept_files(lake.storage, table).items():
        try:
            now = lake.facts(table, partition)
            facts = {file: kept_facts(lake, table, file) for file in files}
        except (BadInput, FileNotFoundError):
            continue
        in_use = _in_use(now, [facts[file] for file in reversed(files)])
        current = "" if now is None else version_key(table, partition, now)
        ends = [*(later.since for _, later in pairwise(files)), None if now is None else now.since]
        for file, until in zip(files, ends, strict=True):
            if (
                not file.is_removed
                and until is not None
                and file.key != current
                and facts[file] is not in_use
            ):
                yield KeptRows(table, partition, file, until)


def _in_use(now: Facts | None, earlier: Sequence[Facts]) -> Facts | None:
    """Return the newest of the earlier versions with another digest than the current one: `score.drift` compares it."""
    digest = None if now is None else now.digest
    return next((facts for facts in earlier if facts.digest != digest), None)
