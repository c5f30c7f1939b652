"""The partitions of a lake as they were at a moment: which version was current.

lake.py reads the files. lake_storage/ stores replaced versions.
"""

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Protocol

from memflow.records import APPEND_ONLY
from resources.files.local_files import partition_of, stem_of
from resources.lake.facts import Facts
from resources.lake.kept_versions import EARLIEST, KeptPartition, RecordName, Version, content_of
from resources.lake.storage.storage import VersionStorage


class CurrentPartitions(Protocol):
    """The current partitions of a lake."""

    def partitions(self, table: str) -> list[str]: ...
    def facts(self, table: str, partition: str) -> Facts | None: ...


@dataclass(frozen=True)
class _PastVersion:
    """A version of a partition. `is_removed` states that neither a kept file nor the current one has its rows."""

    facts: Facts
    is_removed: bool


def versions_of(
    current: CurrentPartitions, kept: VersionStorage, table: str, partition: str
) -> list[Version]:
    """Return the versions of a partition, newest first. The first is the current one."""
    stem = stem_of(partition)
    records, now = kept.of(table, stem).records, current.facts(table, partition)
    # A process that was killed before it replaced a partition leaves a record of the current version.
    former = [name for name in records if now is None or name != RecordName.of(now)]
    facts = [kept.read(table, stem, name) for name in former] + ([now] if now else [])
    if not facts:
        return []
    ends = [after.since for _, after in pairwise(facts)]
    found = [Version(each.since, until, each) for each, until in zip(facts, [*ends, None], strict=True)]
    return found[::-1]


class PastPartitions:
    """The partitions of a lake at `moment`. The versions of a table are looked up on first use."""

    def __init__(self, current: CurrentPartitions, kept: VersionStorage, moment: datetime) -> None:
        self.current = current
        self.moment = moment
        self._kept = kept
        self._tables: dict[str, dict[str, _PastVersion]] = {}

    def of(self, table: str) -> dict[str, _PastVersion]:
        """Return the versions that were current at the moment, by partition."""
        if table not in self._tables:
            listed = {partition_of(stem): kept for stem, kept in self._kept.of_table(table).items()}
            names = sorted({*self.current.partitions(table), *listed})
            chosen = ((name, self._version(table, name, listed.get(name))) for name in names)
            self._tables[table] = {name: version for name, version in chosen if version is not None}
        return self._tables[table]

    def facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata that a partition had; None if it did not exist yet."""
        version = self.of(table).get(partition)
        return None if version is None else version.facts

    def removed(self, table: str) -> list[str]:
        """Return the partitions whose rows `memflow doctor --clean` has removed, sorted."""
        return [name for name, version in self.of(table).items() if version.is_removed]

    def _version(self, table: str, partition: str, kept: KeptPartition | None) -> _PastVersion | None:
        now = self.current.facts(table, partition)
        if now is not None and (table in APPEND_ONLY or (now.since or EARLIEST) <= self.moment):
            return _PastVersion(now, is_removed=False)
        earlier = [name for name in kept.records if name.sort_key <= self.moment] if kept else []
        if kept is None or not earlier:
            return None
        facts = self._kept.read(table, stem_of(partition), earlier[-1])
        has_rows = content_of(facts) in kept.files or (
            now is not None and content_of(now) == content_of(facts)
        )
        return _PastVersion(facts, is_removed=not has_rows)
