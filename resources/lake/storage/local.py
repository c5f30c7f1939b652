"""A lake in a folder: one Parquet file per table and partition, written under a temporary name, synced and renamed.

Replaced versions are hard links (kept_versions.py). The metadata of files is cached by their state (file_cache.py).
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from os import stat
from pathlib import Path
from secrets import token_hex
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from resources.files.file_cache import FileCache, FileState
from resources.files.lake_format import mark_lake
from resources.files.local_files import can_link, link_file, lock_file, partition_of, replace_file, stem_of
from resources.lake.facts import Facts
from resources.lake.kept_versions import TIME, KeptVersions, content_of
from resources.lake.storage.storage import Partition, Replacement

SNAPSHOTS = ".snapshots"
CACHE = ".cache/facts-5"
"""The cache of facts of verified files, below the lake's root; the number is the version of its content."""
DAMAGED = ".damaged"
"""The folder of damaged files, below the lake's root."""
COPIES = ".copies"
"""The folder of copies, below the lake's root."""
UPDATE_LOCK = ".update-lock"


class LocalStorage:
    """The files of a lake in a folder."""

    local = True

    def __init__(self, root: str | Path) -> None:
        self.root = str(Path(root).expanduser().absolute()).rstrip("/")
        self.versions = KeptVersions(self.root)
        self._cache = FileCache(f"{self.root}/{CACHE}", self.root)
        self._files = fs.LocalFileSystem()

    def folder(self, table: str) -> str:
        """Return the folder of a table."""
        return f"{self.root}/{table.replace('.', '/')}"

    def path(self, table: str, partition: str) -> str:
        """Return the path of a partition's file; `domain/full` is stored as `domain,full.parquet`."""
        return f"{self.folder(table)}/{stem_of(partition)}.parquet"

    def partitions(self, table: str) -> list[str]:
        """Return the partitions of a table."""
        listed = self._files.get_file_info(fs.FileSelector(self.folder(table), allow_not_found=True))
        return [
            partition_of(info.base_name.removesuffix(".parquet"))
            for info in listed
            if info.is_file and info.extension == "parquet"
        ]

    def state(self, table: str, partition: str) -> FileState | None:
        """Return the state of a partition's file; None if it is missing."""
        try:
            return FileState.of(stat(self.path(table, partition)))  # noqa: PTH116  (a Path takes longer than the call)
        except FileNotFoundError:
            return None

    def facts(self, table: str, partition: str, of_file: Callable[[], Facts | None]) -> Facts | None:
        """Return the metadata of a partition, cached by the state of its file; None if it is missing."""
        path, state = self.path(table, partition), self.state(table, partition)
        if state is None:
            return None
        cached = self._cache.get(path, state)
        if cached is not None:
            return Facts(*cached)
        facts = of_file()
        if facts is not None and self.state(table, partition) == state:
            self._cache.put(path, state, list(asdict(facts).values()))
        return facts

    def forget_facts(self, table: str, partition: str) -> None:
        """Forget the cached metadata of a file, so that it is read again: the file is damaged."""
        self._cache.put(self.path(table, partition), self.state(table, partition), None)

    def set_aside(self, path: str) -> Path:
        """Keep a damaged file below `.damaged`, under its name with the time. Return where."""
        name = f"{path.removeprefix(f'{self.root}/')}.{datetime.now(UTC).strftime(TIME)}"
        kept = Path(self.root, DAMAGED, name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            kept.hardlink_to(path)
        except OSError:  # a disk without hard links
            shutil.copyfile(path, kept)
        return kept

    def open(self, table: str, partition: str) -> pa.NativeFile:
        """Open the file of a partition. Raises FileNotFoundError if it is missing."""
        return self._files.open_input_file(self.path(table, partition))

    def open_stored(self, table: str, partition: str) -> pa.NativeFile:
        """Open the file of a partition. Raises FileNotFoundError if it is missing."""
        return self.open(table, partition)

    def replace(self, table: str, partition: str, new: Replacement) -> tuple[Facts, FileState | None]:
        """Write a partition, and replace its file after the former version is kept."""
        facts: list[Facts] = []
        mark_lake(Path(self.root))

        def write(file: IO[bytes]) -> None:
            facts.append(new.write(file))

        @contextmanager
        def replacing() -> Iterator[None]:
            with self.versions.locked(table):
                former, is_damaged = new.former(), new.is_damaged()
                if is_damaged:
                    self.set_aside(self.path(table, partition))
                if former is not None and former != facts[0] and new.keeps_former:
                    differs = content_of(former) != content_of(facts[0]) and not is_damaged
                    path = self.path(table, partition)
                    self.versions.keep(table, stem_of(partition), path, former, with_rows=differs)
                yield

        path = self.path(table, partition)
        state = replace_file(Path(path), write, replacing)
        if new.is_copied:
            with Path(path).open("rb") as source:
                replace_file(self.copy_path(path), lambda file: shutil.copyfileobj(source, file))
        return facts[0], state

    def copy_path(self, path: str) -> Path:
        """Return the path of the copy of a file whose rows nothing else can rebuild."""
        return Path(self.root, COPIES, path.removeprefix(f"{self.root}/"))

    def copied_partitions(self, table: str) -> list[str]:
        """Return the partitions of a table that have a copy."""
        folder = self.copy_path(self.folder(table))
        return [partition_of(path.stem) for path in folder.glob("[!.]*.parquet")]

    @contextmanager
    def update_lock(self, table: str) -> Iterator[None]:
        """Exclude other processes that change the rows of a partition on the basis of its current ones."""
        with lock_file(Path(self.versions.folder(table)) / UPDATE_LOCK):
            yield

    def listing_view(self) -> "LocalStorage":
        """Return the storage itself: a look at a file costs microseconds."""
        return self

    def pinned_view(self) -> "LocalStorage":
        """Return the storage itself: an open file is one version."""
        return self

    def snapshot_view(self, tables: Sequence[str]) -> "LocalStorage":
        """Return the storage itself: the links of a snapshot are created at once."""
        return self

    def open_version(self, table: str, partition: str, facts: Facts) -> pa.NativeFile:
        """Open the rows of a version. A writer keeps rows before it replaces the file, so they may move meanwhile."""
        for path in self._version_paths(table, partition, facts):
            with suppress(FileNotFoundError):
                file = self._files.open_input_file(path)
                if _has_content(file, facts):
                    return file
                file.close()
        raise FileNotFoundError(self.version_path(table, partition, facts))

    def version_path(self, table: str, partition: str, facts: Facts) -> str:
        """Return the path of the kept file if there is one, else of the current one."""
        kept, current, _ = self._version_paths(table, partition, facts)
        return kept if Path(kept).is_file() else current

    @contextmanager
    def snapshot_folder(self) -> Iterator[Path | None]:
        """Create an empty folder below the lake, so that files can be linked into it."""
        root = Path(self.root) / SNAPSHOTS / token_hex(8)
        if not can_link(root):
            yield None
            return
        try:
            yield root
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def copy(self, files: Mapping[Partition, Path]) -> None:
        """Create hard links to the current files of partitions."""
        for (table, partition), at in files.items():
            link_file(Path(self.path(table, partition)), at)

    def copy_version(self, table: str, partition: str, facts: Facts, at: Path) -> None:
        """Create a hard link to the rows of a version; none if they were removed."""
        for path in self._version_paths(table, partition, facts):
            with suppress(FileNotFoundError):
                at.hardlink_to(path)
                with self._files.open_input_file(str(at)) as file:
                    if _has_content(file, facts):
                        return
                at.unlink()

    def _version_paths(self, table: str, partition: str, facts: Facts) -> tuple[str, str, str]:
        kept = self.versions.content_path(table, stem_of(partition), content_of(facts))
        return kept, self.path(table, partition), kept


def _has_content(file: pa.NativeFile, facts: Facts) -> bool:
    """Return whether a Parquet file has the rows of a version."""
    try:
        stored = pq.read_metadata(file).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        return True  # a damaged file, which its reader verifies
    key = b"memflow.content" if facts.content else b"memflow.digest"
    return stored.get(key, b"").decode() == content_of(facts)
