"""Rows of lake files that this process wrote or read, kept in memory while the files are unchanged.

In a run every table is read by several steps and by their checks; turning Parquet into rows costs more than most of
them. Facts about files across processes are in resources/file_cache.py.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from resources.file_cache import FileState

MOST_ROWS = 50_000
"""Rows kept in all, the most recently used; a larger partition is not kept."""


class RowCache:
    """Rows by file and by whether they have their vectors. Rows are immutable; every caller gets a list of its own."""

    def __init__(self, most: int = MOST_ROWS) -> None:
        self.most = most
        self._held: OrderedDict[tuple[str, bool], tuple[FileState, list[Any]]] = OrderedDict()
        self._rows = 0
        self._lock = threading.Lock()

    def get(self, path: str, vectors: bool, state: FileState | None) -> list[Any] | None:
        """Return the rows of a file in this state; None where they are not kept."""
        with self._lock:
            held = self._held.get((path, vectors))
            if held is None or held[0] != state:
                return None
            self._held.move_to_end((path, vectors))
            return list(held[1])

    def put(self, path: str, vectors: bool, state: FileState | None, rows: Sequence[Any]) -> None:
        """Keep the rows of a file in this state, and drop those least recently used beyond the bound."""
        with self._lock:
            _, before = self._held.pop((path, vectors), (None, []))
            self._rows -= len(before)
            if state is None or len(rows) > self.most:
                return
            self._held[path, vectors] = (state, list(rows))
            self._rows += len(rows)
            while self._rows > self.most:
                _, (_, dropped) = self._held.popitem(last=False)
                self._rows -= len(dropped)
