"""An in-memory cache of the rows of lake files, valid while the files are unchanged.

Several steps and checks read the same tables, and converting Parquet to rows is expensive. Vectors are not cached.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from resources.file_cache import FileState

MOST_BYTES = 16_000_000
"""Maximum total size of the cached files; their rows take about ten times as much memory."""


class RowCache:
    """Rows by file, least recently used dropped first. Every caller gets its own list of the immutable rows."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self._files: OrderedDict[str, tuple[FileState, list[Any]]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, path: str, state: FileState | None) -> list[Any] | None:
        """Return the rows of a file in this state, or None."""
        with self._lock:
            found = self._files.get(path)
            if found is None or found[0] != state:
                return None
            self._files.move_to_end(path)
            return list(found[1])

    def put(self, path: str, state: FileState | None, rows: Sequence[Any]) -> None:
        """Cache the rows of a file in this state."""
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
