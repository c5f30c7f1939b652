"""The protocol between the lake and the place of its files. lake.py reads and writes Parquet; a storage keeps files."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

import pyarrow as pa

from resources.files.file_cache import FileState
from resources.lake.facts import Facts
from resources.lake.kept_versions import KeptPartition, RecordName

Partition = tuple[str, str]
"""A table and a partition of it."""


@dataclass(frozen=True)
class Replacement:
    """What a write of a partition needs besides the file.

    `write` fills a file and returns its metadata. `former` returns the metadata of the current file, None if there is
    none or if it cannot be read.
    """

    write: Callable[[IO[bytes]], Facts]
    former: Callable[[], Facts | None]
    keeps_former: bool = True
    expects: tuple[FileState | None] | None = None
    """The state of the version on which the new rows are based; None if they are based on none."""
    is_damaged: Callable[[], bool] = lambda: False
    """Whether the current file is damaged: it is set aside, and is no version."""
    is_copied: bool = False
    """Whether a copy of the new file is kept, because nothing else can rebuild its rows."""


class Changed(Exception):
    """The exception for a write that is based on a version which another process has replaced."""


class VersionStorage(Protocol):
    """The replaced versions of partitions. A partition is given by the name of its files (`stem_of`)."""

    def of_table(self, table: str) -> dict[str, KeptPartition]:
        """Return the kept versions of every partition of a table."""
        ...

    def of(self, table: str, stem: str) -> KeptPartition:
        """Return the kept versions of one partition."""
        ...

    def read(self, table: str, stem: str, record: RecordName) -> Facts:
        """Return the metadata of a kept version."""
        ...

    def remove(self, table: str, stem: str, content: str, in_use: Callable[[], set[str]]) -> bool:
        """Remove the rows with a content hash, unless `in_use` contains it. Return whether they were removed."""
        ...


class LakeStorage(Protocol):
    """The files of a lake: one per table and partition, replaced atomically, and their replaced versions."""

    @property
    def root(self) -> str:
        """The lake's folder or address, as messages show it."""
        ...

    @property
    def local(self) -> bool:
        """Whether other programs can read the current files at `path`."""
        ...

    @property
    def versions(self) -> VersionStorage:
        """The replaced versions of partitions."""
        ...

    def folder(self, table: str) -> str:
        """Return the folder or address of a table."""
        ...

    def path(self, table: str, partition: str) -> str:
        """Return the path or address of a partition, which need not exist."""
        ...

    def partitions(self, table: str) -> list[str]:
        """Return the partitions of a table, in any order."""
        ...

    def state(self, table: str, partition: str) -> FileState | None:
        """Return a value that differs for every version of a partition; None if it is missing."""
        ...

    def facts(self, table: str, partition: str, of_file: Callable[[], Facts | None]) -> Facts | None:
        """Return the metadata of a partition; None if it is missing. `of_file` reads it from the file's footer."""
        ...

    def open(self, table: str, partition: str) -> pa.NativeFile:
        """Open the current file of a partition. Raises FileNotFoundError if it is missing."""
        ...

    def open_stored(self, table: str, partition: str) -> pa.NativeFile:
        """Open the current file of a partition as it is stored, not a local copy. Raises FileNotFoundError."""
        ...

    def replace(self, table: str, partition: str, new: Replacement) -> tuple[Facts, FileState | None]:
        """Write a partition, and keep the version that it replaces. Return the new metadata and state."""
        ...

    def update_lock(self, table: str) -> AbstractContextManager[None]:
        """Exclude other processes that change the rows of a partition on the basis of its current ones."""
        ...

    def listing_view(self) -> "LakeStorage":
        """Return a view for decisions over many partitions, which may be some seconds old, with few requests."""
        ...

    def pinned_view(self) -> "LakeStorage":
        """Return a view for one reading, which finds each partition once, so that it reads a single version."""
        ...

    def snapshot_view(self, tables: Sequence[str]) -> "LakeStorage":
        """Return a view in which these tables are as they were at one moment."""
        ...

    def open_version(self, table: str, partition: str, facts: Facts) -> pa.NativeFile:
        """Open the rows of a version, current or kept. Raises FileNotFoundError if they were removed."""
        ...

    def version_path(self, table: str, partition: str, facts: Facts) -> str:
        """Return the path or address of the rows of a version, current or kept."""
        ...

    def snapshot_folder(self) -> AbstractContextManager[Path | None]:
        """Create an empty folder for a snapshot, which is deleted afterwards. Yield None if links are impossible."""
        ...

    def copy(self, files: Mapping[Partition, Path]) -> None:
        """Place the current files of partitions at these paths. A removed partition raises FileNotFoundError."""
        ...

    def copy_version(self, table: str, partition: str, facts: Facts, at: Path) -> None:
        """Place the rows of a version at a path; do nothing if they were removed."""
        ...
