"""The journal of a served memory: every Add in a SQLite file, from which the memory is built again after a restart."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from memflow.errors import BadInput
from memflow.resources.memory_servers.aml import AddRequest

_TABLE = """
create table if not exists adds (
    number integer primary key, user_id text not null, request_id text not null, content text not null,
    unique (user_id, request_id)
)
"""


class Journal:
    """The Adds of a served memory. A process holds the file alone. It belongs to one thread.

    Raises BadInput if another process has the file.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, timeout=0.5, isolation_level=None)
        try:
            self._database.execute("pragma locking_mode = exclusive")
            self._database.execute("pragma journal_mode = wal")
            self._database.execute("pragma synchronous = full")  # an answered Add survives a power failure
            self._database.execute(_TABLE)
        except sqlite3.OperationalError as error:
            self._database.close()
            raise BadInput(
                f"the journal {path} cannot be opened ({error}). Stop the other server of this "
                "memory, or make the file writable."
            ) from error

    def state(self, add: AddRequest) -> bool | None:
        """Return None for an Add that is not stored; else whether it is stored with the same content."""
        row = self._database.execute(
            "select content from adds where user_id = ? and request_id = ?", (add.user_id, add.request_id)
        ).fetchone()
        return None if row is None else bool(row[0] == add.model_dump_json())

    def knows(self, user_id: str) -> bool:
        """Return whether there is an Add of a user."""
        query = "select 1 from adds where user_id = ? limit 1"
        return self._database.execute(query, (user_id,)).fetchone() is not None

    def append(self, add: AddRequest) -> None:
        """Store an Add. It is on the disk afterwards."""
        row = (add.user_id, add.request_id, add.model_dump_json())
        self._database.execute("insert into adds (user_id, request_id, content) values (?, ?, ?)", row)

    def adds(self, user_id: str) -> Iterator[AddRequest]:
        """Yield the Adds of a user, oldest first."""
        rows = self._database.execute(
            "select content from adds where user_id = ? order by number", (user_id,)
        ).fetchall()
        return (AddRequest.model_validate_json(content) for (content,) in rows)

    def close(self) -> None:
        """Release the file."""
        self._database.close()
