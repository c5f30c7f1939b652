"""The protocol between the lake and the place of its files: whole files by key, each replaced atomically.

A key is a path below the lake's root, such as score/verdicts/domain,full.parquet.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Protocol

import pyarrow as pa

from memflow.errors import StoreFailed
from resources.files.file_cache import FileCache, FileState
from resources.files.local_files import partition_of


class LakeStorage(Protocol):
    """The files of a lake, by key. A file's state differs for each of its versions."""

    @property
    def root(self) -> str:
        """The lake's folder or address, as messages show it."""
        ...

    @property
    def local(self) -> bool:
        """Whether the files are on this machine, so that other programs can read them."""
        ...

    @property
    def facts_cache(self) -> FileCache:
        """The cache of the metadata of files, by address and state."""
        ...

    def files(self, folder: str) -> dict[str, int]:
        """Return the size in bytes of each file below a folder, at any depth, by key."""
        ...

    def state(self, key: str) -> FileState | None:
        """Return the state of a file; None if it is missing."""
        ...

    def open(self, key: str, state: FileState | None = None) -> tuple[pa.NativeFile, FileState | None]:
        """Open a file, and return its state too; `state` is the known one. Raises FileNotFoundError."""
        ...

    def open_end(self, key: str, state: FileState | None) -> tuple[pa.NativeFile, FileState | None]:
        """Open a file, or its last bytes, which contain its metadata. Return its state too."""
        ...

    def discard(self, key: str, state: FileState | None) -> bool:
        """Delete the local copy of a file, so that it is fetched again. Return whether there was one."""
        ...

    def lock(self, table: str) -> AbstractContextManager[None]:
        """Exclude other writers of a table, where `commit` alone does not detect them. Readers never wait."""
        ...

    def new_file(self, key: str) -> AbstractContextManager[IO[bytes]]:
        """Create a temporary file for a new version of `key`, which is deleted unless it is committed."""
        ...

    def commit(self, file: IO[bytes], key: str, expected: FileState | None) -> FileState | None:
        """Replace the version of `key` that has the state `expected`. Return the new state; None if it has another."""
        ...

    def keep(self, key: str, state: FileState | None, at: str) -> None:
        """Keep the current version of `key` under the key `at`, unless it exists. Raises FileNotFoundError."""
        ...

    def create(self, key: str, content: bytes) -> None:
        """Create a small file, unless it exists."""
        ...

    def delete(self, key: str) -> None:
        """Delete a file; do nothing if it is missing."""
        ...

    def listing_view(self, *, fresh: bool = False) -> "LakeStorage":
        """Return a view for decisions over many partitions with few requests, some seconds old unless `fresh`."""
        ...

    def snapshot_folder(self) -> AbstractContextManager[Path | None]:
        """Create an empty folder for a snapshot, which is deleted afterwards. Yield None if links are impossible."""
        ...

    def place(self, files: Sequence[tuple[str, Path]]) -> None:
        """Place the current versions of files at these paths, unless they are missing."""
        ...


@contextmanager
def errors_named_by(key: str, verb: str) -> Iterator[None]:
    """Name the table and the partition of a key in the error of a failed request."""
    try:
        yield
    except StoreFailed as failed:
        *folders, name = key.removesuffix(".parquet").split("/")
        if folders[0].startswith("."):  # of a replaced version
            folders, name = folders[1:-1], folders[-1]
        raise StoreFailed(f"{'.'.join(folders)} of {partition_of(name)} cannot be {verb}: {failed}") from None
