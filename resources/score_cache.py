"""A cache of what the leaderboard is computed from: values per domain and assistant, each with the key of its inputs.

One SQLite file, which any number of processes use. A value whose key differs is computed again and replaced, so it
never outlives its inputs. The file can be deleted at any time.
"""

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from memflow.errors import BadInput, StoreBusy

NAME = ".cache/scores-1.sqlite"
"""The file of the cache below the home folder, with the version of its content."""
BUSY_TIMEOUT_S = 30.0

_TABLE = (
    "CREATE TABLE IF NOT EXISTS cached (domain TEXT, assistant TEXT, kind TEXT, key TEXT NOT NULL, "
    "value BLOB NOT NULL, PRIMARY KEY (domain, assistant, kind)) WITHOUT ROWID"
)


class DomainCache:
    """The cached values of one domain in memory; without a file, it begins empty and is not saved."""

    def __init__(self, domain: str, path: Path | None = None) -> None:
        self.domain = domain
        self._path = path
        self._found: dict[tuple[str, str], tuple[str, bytes]] = {}
        self._new: list[tuple[str, str, str, str, bytes]] = []
        if path is not None:
            with _opened(path) as connection:
                rows = connection.execute(
                    "SELECT assistant, kind, key, value FROM cached WHERE domain = ?", (domain,)
                )
                self._found = {(assistant, kind): (key, value) for assistant, kind, key, value in rows}

    def has(self, assistant: str, kind: str, key: str) -> bool:
        """Return whether there is a value of this kind with this key."""
        return self._found.get((assistant, kind), ("",))[0] == key

    def get(self, assistant: str, kind: str) -> Any:
        """Return the value of a kind, which must exist."""
        return json.loads(zlib.decompress(self._found[assistant, kind][1]))

    def put(self, assistant: str, kind: str, key: str, value: Any) -> None:
        """Add a value, which consists of plain data."""
        if self._path is not None:
            content = zlib.compress(json.dumps(value).encode(), 1)
            self._new.append((self.domain, assistant, kind, key, content))

    def save(self, assistants: Collection[str]) -> None:
        """Write the added values, and delete those of all assistants but `assistants`."""
        gone = [(self.domain, name) for name, _ in self._found if name not in assistants]
        if self._path is not None and (self._new or gone):
            with _opened(self._path) as connection, connection:
                connection.executemany("DELETE FROM cached WHERE domain = ? AND assistant = ?", gone)
                connection.executemany("INSERT OR REPLACE INTO cached VALUES (?, ?, ?, ?, ?)", self._new)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file. Raises StoreBusy if another process locks it for too long, BadInput if it is damaged."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)) as connection:
            connection.execute(_TABLE)
            yield connection
    except sqlite3.OperationalError as wrong:
        raise StoreBusy(
            f"cannot use the cache of scores {path} ({wrong}). Rerun when no other program uses it."
        ) from wrong
    except sqlite3.DatabaseError as wrong:
        raise BadInput(
            f"the cache of scores {path} is damaged ({wrong}). Delete it, then rerun; no request is sent for scores."
        ) from wrong
