"""The files of a lake in a folder, by key.

Files are written under temporary names, synced and renamed. Kept versions are hard links. Several machines can use one
lake in a shared folder with locks and hard links.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path
from secrets import token_hex

import pyarrow as pa
from pyarrow import fs

from memflow.resources.files.disks import explained_writes
from memflow.resources.files.file_cache import FileCache, FileState
from memflow.resources.files.lake_format import mark_lake
from memflow.resources.files.local_files import can_link, lock_file, replace_file, sync_folder
from memflow.resources.lake.columns import facts_cache_name

SNAPSHOTS = ".snapshots"
LOCKS = ".locks"


class LakeFolder:
    """The files of a lake: whole files by key, such as score/verdicts/domain,full.parquet.

    A file's state differs for each of its versions.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = str(Path(root).expanduser().absolute()).rstrip("/")
        self.facts_cache = FileCache(f"{self.root}/.cache/{facts_cache_name()}", self.root)
        self._files = fs.LocalFileSystem()

    def path(self, key: str) -> str:
        """Return the path of a file."""
        return f"{self.root}/{key}"

    def files(self, folder: str) -> dict[str, int]:
        """Return the size in bytes of each file below a folder, by key, except temporary ones."""
        selector = fs.FileSelector(self.path(folder), allow_not_found=True, recursive=True)
        return {
            info.path.removeprefix(f"{self.root}/"): info.size
            for info in self._files.get_file_info(selector)
            if info.is_file and info.extension != "writing"
        }

    def state(self, key: str) -> FileState | None:
        """Return the state of a file; None if it is missing."""
        try:
            return FileState.of(os.stat(self.path(key)))  # noqa: PTH116  (a Path takes longer than the call)
        except FileNotFoundError:
            return None

    def open(self, key: str) -> tuple[pa.NativeFile, FileState | None]:
        """Open a file, and return it with the state of its content. Raises FileNotFoundError."""
        while True:
            before = self.state(key)
            file = self._files.open_input_file(self.path(key))
            if self.state(key) == before:
                return file, before
            file.close()  # replaced meanwhile

    @contextmanager
    def lock(self, table: str) -> Iterator[None]:
        """Exclude other processes that replace partitions of a table."""
        with lock_file(Path(self.root, LOCKS, table)):
            yield

    @contextmanager
    def new_file(self, key: str) -> Iterator[BufferedRandom]:
        """Create a temporary file beside the file. Raises StoreFailed if the disk is full or read-only."""
        path = Path(self.path(key))
        written = path.with_name(f".{path.stem}.{token_hex(8)}.writing")
        with explained_writes(path.parent):
            mark_lake(Path(self.root))
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with written.open("x+b") as file:
                    yield file
            finally:
                with suppress(OSError):
                    written.unlink(missing_ok=True)

    def commit(self, file: BufferedRandom, key: str) -> None:
        """Sync a temporary file and give it its name, in place of the file before."""
        path = Path(self.path(key))
        file.flush()
        os.fsync(file.fileno())
        Path(file.name).replace(path)
        sync_folder(path.parent)

    def keep(self, key: str, at: str) -> None:
        """Create a hard link to the current version, or a copy on a disk without links."""
        kept = Path(self.path(at))
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(self.path(key), kept)
        except (FileExistsError, FileNotFoundError):
            if not kept.exists():
                raise
        except OSError:  # a disk without hard links
            with Path(self.path(key)).open("rb") as source:
                replace_file(kept, lambda file: shutil.copyfileobj(source, file))

    def create(self, key: str, content: bytes) -> None:
        """Create a small file, or replace it by the same content."""
        replace_file(Path(self.path(key)), lambda file: file.write(content))

    def delete(self, key: str) -> None:
        """Delete a file; do nothing if it is missing."""
        Path(self.path(key)).unlink(missing_ok=True)

    @contextmanager
    def snapshot_folder(self) -> Iterator[Path | None]:
        """Create an empty folder below the lake, so that files can be linked into it; None if links do not work."""
        root = Path(self.root) / SNAPSHOTS / token_hex(8)
        if not can_link(root):
            yield None
            return
        try:
            yield root
        finally:
            shutil.rmtree(root, ignore_errors=True)
