"""A lake in an object store: the keys of a local lake, each object replaced conditionally.

A write names the version that it replaces by its tag, and fails if another writer was faster. So of two hosts that
write a partition, the later one is current and the earlier one is a kept version. Objects are read from a local cache.
"""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from copy import copy
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, TYPE_CHECKING, TypeVar

import pyarrow as pa

from memflow.errors import StoreFailed
from memflow.resources.files.file_cache import FileCache, FileState
from memflow.resources.files.local_files import partition_of
from memflow.resources.lake.columns import facts_cache_name
from memflow.resources.lake.file_hash import footer_length
from memflow.resources.lake.storage.client import ListedObject, StoredObject
from memflow.resources.lake.storage.object_cache import ObjectCache
from memflow.resources.lake.storage.obstore_client import probe_conditions

if TYPE_CHECKING:
    from memflow.resources.lake.storage.obstore_client import ObstoreClient

LISTED_S = 5.0
"""Seconds for which a list of objects is used by decisions over many partitions."""
END_BYTES = 1 << 17
"""Bytes that are read from the end of a large object for its metadata; a smaller one is fetched whole."""
THREADS = 16
"""Concurrent requests."""

S = TypeVar("S")
T = TypeVar("T")


class ObjectStorage:
    """The files of a lake in an object store, with the methods of LocalStorage."""

    local = False

    def __init__(self, store: "ObstoreClient", cache: ObjectCache) -> None:
        self.store = store
        self.root = store.address
        self.cache = cache
        self.facts_cache = FileCache(cache.folder / facts_cache_name(), None)
        self.writes = [0]
        """The number of this process's writes, after which listing views list again."""
        self._tags: dict[FileState, str] = {}
        self._lock = Lock()
        self._may_write = False

    def files(self, folder: str) -> dict[str, int]:
        """Return the size in bytes of each object below a folder, by key: one request for each thousand."""
        return {each.key: each.bytes for each in self._listed(folder)}

    def state(self, key: str) -> FileState | None:
        """Return the state of an object; None if it is missing."""
        with errors_named_by(key, "read"):
            found = self.store.head(key)
        return None if found is None else self._state(found.tag, found.bytes)

    def open(self, key: str, state: FileState | None = None) -> tuple[pa.NativeFile, FileState | None]:
        """Open the current version of an object, or the version `state` if it is cached."""
        found, state = self._fetch(key, state)
        return pa.OSFile(str(found)) if isinstance(found, Path) else pa.BufferReader(found), state

    def open_end(self, key: str, state: FileState | None) -> tuple[pa.NativeFile, FileState | None]:
        """Open the cached file of an object, or fetch its last bytes, of which the metadata is a part."""
        if state is not None and self.cache.find(key, state) is None and state.size > END_BYTES:
            found = self._get(key, state.size - END_BYTES)
            if found is not None and footer_length(found.content) <= len(found.content):
                return pa.BufferReader(found.content), self._state(found.tag, found.size)
        return self.open(key, state)

    def discard(self, key: str, state: FileState | None) -> bool:
        """Delete the cached file of a version. Return whether there was one."""
        cached = None if state is None else self.cache.find(key, state)
        if cached is not None:
            cached.unlink(missing_ok=True)
        return cached is not None

    def lock(self, table: str) -> AbstractContextManager[None]:
        """Do nothing: a commit fails if another process has replaced the object."""
        return nullcontext()

    def new_file(self, key: str) -> AbstractContextManager[IO[bytes]]:
        """Create a temporary file. Raises BadSettings if the store ignores the conditions of requests."""
        with errors_named_by(key, "written"), self._lock:
            if not self._may_write:
                probe_conditions(self.store)
                self._may_write = True
        return TemporaryFile()

    def commit(self, file: IO[bytes], key: str, expected: FileState | None) -> FileState | None:
        """Replace the version of an object with the state `expected`. Return None if it has another state."""
        file.seek(0)
        content = file.read()
        with errors_named_by(key, "written"):
            if expected is None:
                tag = self.store.create(key, content)
            else:
                tag = self.store.swap(key, content, self._tags[expected])
            if tag is None:
                # The answer to an attempt that succeeded may have been lost.
                found = self.store.get(key)
                tag = found.tag if found is not None and found.content == content else None
        if tag is None:
            return None
        self.writes[0] += 1
        state = self._state(tag, len(content))
        self.cache.store(key, state, content)
        return state

    def keep(self, key: str, state: FileState | None, at: str) -> None:
        """Store the version with this state under the key `at`. Raises FileNotFoundError if it was replaced."""
        found, fetched = self._fetch(key, state)
        if fetched != state:
            raise FileNotFoundError(key)
        with errors_named_by(key, "written"):
            self.store.create(at, found.read_bytes() if isinstance(found, Path) else found)

    def create(self, key: str, content: bytes) -> None:
        """Create a small object, unless it exists."""
        with errors_named_by(key, "written"):
            self.store.create(key, content)

    def delete(self, key: str) -> None:
        """Delete an object; do nothing if it is missing."""
        with errors_named_by(key, "removed"):
            self.store.delete(key)
        self.writes[0] += 1

    def listing_view(self, *, fresh: bool = False) -> "ObjectStorage":
        """Return a view with one list per table, which is used for some seconds."""
        return ListedObjects(self)

    def snapshot_folder(self) -> AbstractContextManager[Path | None]:
        """Create an empty folder in the cache."""
        return self.cache.snapshot_folder()

    def place(self, files: Sequence[tuple[str, Path]]) -> None:
        """Fetch objects concurrently, and place them at these paths, unless they are missing."""

        def place(item: tuple[str, Path]) -> None:
            with suppress(FileNotFoundError):
                _place(self._fetch(item[0])[0], item[1])

        in_threads(place, files)

    def _listed(self, folder: str) -> list[ListedObject]:
        try:
            return self.store.list(f"{folder}/")
        except StoreFailed as failed:
            table = ".".join(part for part in folder.split("/")[-2:])
            raise StoreFailed(f"the partitions of {table} cannot be listed: {failed}") from None

    def _state(self, tag: str, size: int) -> FileState:
        """Return the state of the version with a tag."""
        hashed = sha256(tag.encode()).hexdigest()
        state = FileState(int(hashed[:12], 16), size, int(hashed[12:27], 16))
        self._tags[state] = tag
        return state

    def _get(self, key: str, start: int = 0) -> StoredObject | None:
        with errors_named_by(key, "read"):
            return self.store.get(key, start)

    def _fetch(self, key: str, state: FileState | None = None) -> tuple[Path | bytes, FileState]:
        """Return the cached file or the content of an object, with its state. Raises FileNotFoundError."""
        state = state or self.state(key)
        cached = None if state is None else self.cache.find(key, state)
        if state is not None and cached is not None:
            return cached, state
        found = None if state is None else self._get(key)
        if found is None:
            raise FileNotFoundError(f"{self.root}/{key}")
        state = self._state(found.tag, found.size)
        return self.cache.store(key, state, found.content) or found.content, state


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


class ListedObjects(ObjectStorage):
    """The files of a lake from one list per folder, which is repeated after some seconds and after a write."""

    def __init__(self, storage: ObjectStorage, clock: Callable[[], float] = time.monotonic) -> None:
        self.__dict__ |= copy(storage).__dict__
        self._clock = clock
        self._folders: dict[str, tuple[float, int, dict[str, ListedObject]]] = {}

    def listing_view(self, *, fresh: bool = False) -> "ObjectStorage":
        """Return the view itself, or with `fresh` another one without lists."""
        return ListedObjects(self) if fresh else self

    def state(self, key: str) -> FileState | None:
        """Return the listed state of an object; None if it is missing."""
        depth = 3 if key.startswith(".") else 2
        found = self._folder("/".join(key.split("/")[:depth])).get(key)
        return None if found is None else self._state(found.tag, found.bytes)

    def _listed(self, folder: str) -> list[ListedObject]:
        depth = 3 if folder.startswith(".") else 2
        listed = self._folder("/".join(folder.split("/")[:depth])).values()
        return [each for each in listed if each.key.startswith(f"{folder}/")]

    def _folder(self, folder: str) -> dict[str, ListedObject]:
        known, now = self._folders.get(folder), self._clock()
        if known is None or known[0] + LISTED_S < now or known[1] != self.writes[0]:
            listed = {each.key: each for each in super()._listed(folder)}
            known = self._folders[folder] = (now, self.writes[0], listed)
        return known[2]


def in_threads(call: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """Return the results of concurrent calls, in the order of the items."""
    every = list(items)
    if len(every) < 2:
        return [call(item) for item in every]
    with ThreadPoolExecutor(min(THREADS, len(every))) as threads:
        return list(threads.map(call, every))


def _place(found: Path | bytes, at: Path) -> None:
    at.unlink(missing_ok=True)  # of an attempt before
    if isinstance(found, bytes):
        at.write_bytes(found)
        return
    try:
        at.hardlink_to(found)
    except OSError:  # another disk, or evicted meanwhile
        shutil.copyfile(found, at)
