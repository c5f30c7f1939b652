"""A cache on disk of small values of files, valid while a file's modification time, size and inode do not change."""

import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

RACY_NS = 2_000_000_000
"""A file modified less than this before is not cached: it may change again within the same modification time."""
CREATE, READ, WRITE = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";")[:3]


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
    is moved together with it.
    """

    def __init__(self, path: str | Path, root: str | Path = "/") -> None:
        self.path = Path(path)
        self.root = f"{str(root).rstrip('/')}/"
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
            self.path.parent.mkdir(exist_ok=True)
        self._execute(WRITE, (key, *state, text))

    def _load(self) -> dict[str, tuple[FileState, str]]:
        """Return the values, which the first call reads from the file."""
        with self._lock:
            if self._values is None:
                rows = self._execute(READ) if self.path.exists() else []
                self._values = {key: (FileState(*state), text) for key, *state, text in rows}
            return self._values

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement. Nothing is cached where the file is damaged, locked or not writable."""
        try:
            with closing(sqlite3.connect(self.path)) as connection, connection:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(CREATE)
                return connection.execute(statement, values).fetchall()
        except sqlite3.OperationalError:
            return []
        except sqlite3.DatabaseError:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            return []
