"""Rows of lake files that this process wrote or read, kept in memory while the files are unchanged.

In a run every table is read by several steps and by their checks; turning Parquet into rows costs more than most of
them. Vectors are not kept: they are most of a table that has any. Facts about files across processes are in
resources/file_cache.py.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from resources.file_cache import FileState

MOST_BYTES = 16_000_000
"""Size of the files whose rows are kept, the most recently used; rows take some ten times as much memory."""


class RowCache:
    """Rows by file. Rows are immutable; every caller gets a list of its own."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self._files: OrderedDict[str, tuple[FileState, list[Any]]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, path: str, state: FileState | None) -> list[Any] | None:
        """Return the rows of a file in this state; None where they are not kept."""
        with self._lock:
            found = self._files.get(path)
            if found is None or found[0] != state:
                return None
            self._files.move_to_end(path)
            return list(found[1])

    def put(self, path: str, state: FileState | None, rows: Sequence[Any]) -> None:
        """Keep the rows of a file in this state, and drop those least recently used beyond the bound."""
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
