"""The local cache of a lake in an object store: fetched versions of objects as files, in a folder of bounded size.

A version never changes, so a cached file is right for ever; the lake compares its hash when a process first reads it.
Any number of processes share the folder.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir, mkdtemp
from threading import Lock

from memflow.resources.files.file_cache import FileState
from memflow.resources.files.local_files import can_link

FOLDER_VARIABLE = "MEMFLOW_CACHE"
MOST_BYTES = 10_000_000_000
EVICT_EVERY = 50
"""Stored files between two measurements of the folder."""


class ObjectCache:
    """A folder of cached versions of objects, and snapshots as links to them."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self._stored = 0
        self._lock = Lock()

    def path(self, key: str, state: FileState) -> Path:
        """Return the path of a version of an object, which need not be cached."""
        hashed = sha256(f"{key} {state.mtime_ns} {state.size} {state.inode}".encode()).hexdigest()[:32]
        return self.folder / "objects" / f"{hashed}.parquet"

    def find(self, key: str, state: FileState) -> Path | None:
        """Return the file of a version of an object; None if it is not cached."""
        path = self.path(key, state)
        try:
            if path.stat().st_size != state.size:
                return None
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))  # recently used
        except OSError:
            return None
        return path

    def store(self, key: str, state: FileState, content: bytes) -> Path | None:
        """Store a version of an object. Return its file; None if the folder cannot be written, as on a full disk."""
        path = self.path(key, state)
        written = path.with_name(f".{token_hex(8)}.writing")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            written.write_bytes(content)
            written.replace(path)
        except OSError:
            with suppress(OSError):
                written.unlink(missing_ok=True)
            return None
        with self._lock:
            self._stored += 1
            is_due = self._stored % EVICT_EVERY == 1
        if is_due:
            self.evict(path)
        return path

    def evict(self, newest: Path | None = None) -> None:
        """Delete the least recently used files until the folder is within its size."""
        found = []
        with suppress(OSError):
            for path in (self.folder / "objects").iterdir():
                with suppress(OSError):
                    seen = path.stat()
                    found.append((seen.st_atime, seen.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self.most_bytes:
                return
            if path != newest:
                with suppress(OSError):
                    path.unlink()
                total -= size

    @contextmanager
    def snapshot_folder(self) -> Iterator[Path]:
        """Create an empty folder, which is deleted afterwards: beside the objects if links work there."""
        root = self.folder / "snapshots" / token_hex(8)
        if not can_link(root):
            root = Path(mkdtemp(prefix="memflow-lake-"))
        try:
            yield root
        finally:
            shutil.rmtree(root, ignore_errors=True)


def cache_folder(address: str) -> Path:
    """Return the folder for the cache of a lake: below $MEMFLOW_CACHE, else $XDG_CACHE_HOME/memflow, else ~/.cache."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        base = Path(given).expanduser()
    else:
        try:
            above = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        except RuntimeError:  # no home folder, as in some containers
            above = Path(gettempdir()) / f"cache-{os.getuid()}"
        base = above / "memflow"
    return base.absolute() / "lake" / sha256(address.encode()).hexdigest()[:16]
