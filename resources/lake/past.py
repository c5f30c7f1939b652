"""The lake as it was at a moment, read-only. Replaced versions are described in versions.py."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from memflow.errors import BadInput, MissingData
from memflow.records import APPEND_ONLY
from memflow.resources.files.file_cache import FileState
from memflow.resources.files.local_files import link_file
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.file_hash import WrongHash
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_files import Partition
from memflow.resources.lake.verification import verify_metadata
from memflow.resources.lake.versions import KeptFile, Version, kept_facts, kept_files


@dataclass(frozen=True)
class PastVersion:
    """The version of a partition at a moment, and the keys of kept files with its rows.

    The rows were removed if neither a kept file nor the current one has them.
    """

    facts: Facts
    is_removed: bool
    keys: Sequence[str] = ()


class PastLake(Lake):
    """A lake as of `moment`, which has a time zone. The versions of a table are looked up on first use.

    Reading rows that were removed (garbage_collection.py) raises MissingData.
    """

    def __init__(self, lake: Lake, moment: datetime) -> None:
        super().__init__(lake.root)
        self.moment = moment
        self._current = lake
        self._tables: dict[str, Mapping[str, PastVersion]] = {}

    def versions(self, table: str, partition: str) -> list[Version]:
        """Return the versions of a partition, newest first; the first is the current one."""
        return self._current.versions(table, partition)

    def removed_partitions(self, table: str) -> list[str]:
        """Return the partitions whose rows were removed, sorted."""
        return [name for name, version in self._of(table).items() if version.is_removed]

    def facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata that a partition had; None if it did not exist yet."""
        version = self._of(table).get(partition)
        return None if version is None else version.facts

    def state(self, table: str, partition: str) -> FileState | None:
        """Return None: rows of the past are not cached."""
        return None

    def partitions(self, table: str) -> list[str]:
        """Return the partitions of a table that existed, sorted."""
        return list(self._of(table))

    def path(self, table: str, partition: str) -> str:
        """Return the path of the file that has the rows of a partition."""
        key = self._key(table, partition)
        facts = self.facts(table, partition)
        if facts is not None:
            keys = self._keys(table, partition, facts)
            key = next((kept for kept in keys if self.storage.state(kept) is not None), key)
        return self.storage.path(key)

    def place(self, files: Mapping[Partition, Path]) -> None:
        """Create hard links to the files of partitions at these paths, unless their rows were removed."""
        for (table, partition), at in files.items():
            facts = self.facts(table, partition)
            if facts is not None:
                self._place(table, partition, facts, at)

    def _place(self, table: str, partition: str, facts: Facts, at: Path) -> None:
        for key in self._keys(table, partition, facts):
            with suppress(FileNotFoundError):
                link_file(Path(self.storage.path(key)), at)
                with suppress(WrongHash), pa.OSFile(str(at)) as file:
                    if _is_version(table, file, facts):
                        return
                at.unlink()

    def remember_damage(self, table: str, partition: str, state: FileState | None, reason: str) -> None:
        """Do nothing: the current partition may be intact."""

    def write(self, table: str, partition: str, rows: Iterable[Any], **others: Any) -> Facts:
        """Raise BadInput: the past cannot be changed."""
        raise BadInput(f"the lake as of {self.moment} cannot be changed. Write to the lake itself.")

    @contextmanager
    def _open(self, table: str, partition: str) -> Iterator[pa.NativeFile]:
        with ExitStack() as stack:
            yield self._open_version(stack, table, partition)

    def _open_version(self, stack: ExitStack, table: str, partition: str) -> pa.NativeFile:
        facts = self.facts(table, partition)
        for key in () if facts is None else self._keys(table, partition, facts):
            with suppress(FileNotFoundError):
                file = stack.enter_context(self._opened(table, key))
                if facts is not None and _is_version(table, file, facts):
                    return file
        reason = "did not exist yet" if facts is None else "was removed by `memflow doctor --clean`"
        raise MissingData(
            f"{table} of {partition} as of {self.moment:%Y-%m-%d %H:%M:%S} UTC {reason}. Choose a later moment."
        )

    def _keys(self, table: str, partition: str, facts: Facts) -> Iterator[str]:
        """Yield the keys at which the rows of a version may be: a writer keeps them before it replaces the file."""
        version = self._of(table).get(partition)
        yield from () if version is None else version.keys
        yield self._key(table, partition)
        kept = kept_files(self.storage, table, partition).get(partition, [])
        yield from (file.key for file in kept if file.has_content(facts))

    def _of(self, table: str) -> Mapping[str, PastVersion]:
        """Return the versions that were current at the moment, by partition."""
        if table not in self._tables:
            kept = kept_files(self.storage, table)
            names = sorted({*self._current.partitions(table), *kept})
            chosen = ((name, self._version(table, name, kept.get(name, ()))) for name in names)
            self._tables[table] = {name: version for name, version in chosen if version is not None}
        return self._tables[table]

    def _version(self, table: str, partition: str, kept: Sequence[KeptFile]) -> PastVersion | None:
        now = self._current.facts(table, partition)
        if now is not None and (table in APPEND_ONLY or now.since <= self.moment):
            return PastVersion(now, is_removed=False)
        earlier = [file for file in kept if file.since <= self.moment]
        if not earlier:
            return None
        facts = kept_facts(self._current, table, earlier[-1])
        keys = [file.key for file in kept if file.has_content(facts)]
        is_current = now is not None and now.content == facts.content
        return PastVersion(facts, is_removed=not (keys or is_current), keys=keys)


def _is_version(table: str, file: pa.NativeFile, facts: Facts) -> bool:
    """Return whether an open file has the rows of a version."""
    found = verify_metadata(table, file)
    file.seek(0)
    return found.content == facts.content
