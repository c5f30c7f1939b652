"""Caches of the contents of local files, valid while a file's modification time, size and inode do not change.

FileCache stores small values on disk, RowCache stores rows in memory. Callers read the files and pass the values.
"""

import json
import os
import sqlite3
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

RACY_NS = 2_000_000_000
"""A file modified less than this before is not cached: it may change again within the same modification time."""
MOST_BYTES = 4_000_000
"""Maximum total size of the files whose rows are cached; rows take about ten times as much memory."""
TABLE = (
    "CREATE TABLE IF NOT EXISTS cached "
    "(path TEXT PRIMARY KEY, mtime_ns INTEGER, size INTEGER, inode INTEGER, value TEXT)"
)


class FileState(NamedTuple):
    """The state of a file: modification time, size and inode."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, seen: os.stat_result) -> "FileState | None":
        """Return the state of a regular file; None if the path is not a regular file."""
        return cls(seen.st_mtime_ns, seen.st_size, seen.st_ino) if stat.S_ISREG(seen.st_mode) else None


class FileCache:
    """A cache of values by path and file state, in a SQLite file that processes share and that the first use creates.

    A damaged cache is deleted. Paths below `root` are stored relative to `root`, so the cache stays valid if the folder
    is moved together with it. Without `root`, the paths are addresses in an object store.
    """

    def __init__(self, path: str | Path, root: str | Path | None = "/") -> None:
        self.path = Path(path)
        self.is_remote = root is None
        self.root = f"{str(root or '').rstrip('/')}/"
        self._values: dict[str, tuple[FileState, str]] | None = None
        self._lock = threading.Lock()

    def get(self, path: str, state: FileState | None) -> Any:
        """Return the value cached for a file with this size and modification time; None if no value is cached."""
        cached = self._load().get(path.removeprefix(self.root))
        return json.loads(cached[1]) if cached is not None and cached[0] == state else None

    def put(self, path: str, state: FileState | None, value: Any) -> None:
        """Cache a value computed from a file. `state` must be the file's state before it was read."""
        if state is None or time.time_ns() - state.mtime_ns < RACY_NS:
            return
        key, text = path.removeprefix(self.root), json.dumps(value)
        self._load()[key] = state, text
        with suppress(OSError):  # a missing home is not created
            self.path.parent.mkdir(exist_ok=True, parents=self.is_remote)
        self._execute("REPLACE INTO cached VALUES (?, ?, ?, ?, ?)", (key, *state, text))

    def _load(self) -> dict[str, tuple[FileState, str]]:
        """Return the values, which the first call reads from the file."""
        with self._lock:
            if self._values is None:
                rows = self._execute("SELECT * FROM cached") if self.path.exists() else []
                self._values = {key: (FileState(*state), text) for key, *state, text in rows}
            return self._values

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement. Nothing is cached where the file is damaged, locked or not writable."""
        try:
            with closing(sqlite3.connect(self.path)) as connection, connection:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(TABLE)
                return connection.execute(statement, values).fetchall()
        except sqlite3.OperationalError:
            return []
        except sqlite3.DatabaseError:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            return []


class RowCache:
    """A cache in memory of the rows of files, without vectors. It evicts the least recently used rows first.

    Every caller gets a new list of the rows.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self._files: OrderedDict[str, tuple[FileState, list[Any]]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, path: str, state: FileState | None) -> list[Any] | None:
        """Return the cached rows of a file with this size and modification time; None if the rows are not cached."""
        with self._lock:
            found = self._files.get(path)
            if found is None or found[0] != state:
                return None
            self._files.move_to_end(path)
            return list(found[1])

    def put(self, path: str, state: FileState | None, rows: Sequence[Any]) -> None:
        """Cache the rows of a file. `state` must be the file's size and modification time before the file was read."""
        with self._lock:
            self._drop(path)
            if state is None or state.size > self.most:
                return
            self._files[path] = (state, list(rows))
            self._bytes += state.size
            while self._bytes > self.most:
                self._drop(next(iter(self._files)))

    def _drop(self, path: str) -> None:
        found = self._files.pop(path, None)
        if found is not None:
            self._bytes -= found[0].size
