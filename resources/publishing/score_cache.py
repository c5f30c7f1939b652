"""A cache of the values that the leaderboard is computed from, by domain and assistant, with a key of their inputs.

The cache is one SQLite file that several processes may use. A value whose inputs have changed has another key, and is
computed again and replaced. The file can be deleted at any time.
"""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from memflow.errors import BadInput, StoreBusy
from memflow.resources.files.disks import failed_write
from memflow.resources.lake.columns import declared_columns

NAME = ".cache/scores-2.sqlite"
"""The file of the cache below the home folder, with the version of its content."""
BUSY_TIMEOUT_S = 30.0
CHECK_BYTES = 16
"""Bytes of the hash in front of each value."""

_CACHED = sa.Table(
    "cached",
    sa.MetaData(),
    sa.Column("domain", sa.Text, primary_key=True),
    sa.Column("assistant", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("value", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)


class DomainCache:
    """The cached values of one domain, in memory; without a file, the cache starts empty and is not saved."""

    def __init__(self, domain: str, path: Path | None = None) -> None:
        self.domain = domain
        self._path = path
        self._found: dict[tuple[str, str], tuple[str, bytes]] = {}
        self._new: list[dict[str, Any]] = []
        if path is not None:
            with _opened(path) as connection:
                rows = connection.execute(sa.select(_CACHED).where(_CACHED.c.domain == domain))
                self._found = {
                    (row.assistant, row.kind): (row.key, row.value)
                    for row in rows
                    if self._is_intact(row.assistant, row.kind, row.key, row.value)
                }

    def _is_intact(self, assistant: str, kind: str, key: str, value: bytes) -> bool:
        """Return whether a value is as it was written; a damaged one is computed again."""
        return isinstance(value, bytes) and value[:CHECK_BYTES] == self._check(
            assistant, kind, key, value[CHECK_BYTES:]
        )

    def _check(self, assistant: str, kind: str, key: str, content: bytes) -> bytes:
        running = hashlib.blake2b(content, digest_size=CHECK_BYTES)
        # A value has a field for each column of a row, so it is lost when a table gets another column.
        names = (declared_columns(), self.domain, assistant, kind, key)
        running.update("\0".join(names).encode("utf-8", "surrogatepass"))
        return running.digest()

    def has(self, assistant: str, kind: str, key: str) -> bool:
        """Return whether the cache has a value of this kind whose inputs have this key."""
        return self._found.get((assistant, kind), ("",))[0] == key

    def get(self, assistant: str, kind: str) -> Any:
        """Return the cached value of a kind. Raises KeyError if there is none."""
        return json.loads(zlib.decompress(self._found[assistant, kind][1][CHECK_BYTES:]))

    def put(self, assistant: str, kind: str, key: str, value: Any) -> None:
        """Add a value of JSON types, to be written by `save`."""
        if self._path is not None:
            compressed = zlib.compress(json.dumps(value).encode(), 1)
            content = self._check(assistant, kind, key, compressed) + compressed
            row = {"domain": self.domain, "assistant": assistant, "kind": kind, "key": key, "value": content}
            self._new.append(row)

    def save(self, assistants: Collection[str]) -> None:
        """Write the added values, and delete the values of all assistants except `assistants`."""
        gone = {name for name, _ in self._found} - set(assistants)
        if self._path is not None and (self._new or gone):
            with _opened(self._path) as connection:
                for name in gone:
                    of_assistant = (_CACHED.c.domain == self.domain) & (_CACHED.c.assistant == name)
                    connection.execute(sa.delete(_CACHED).where(of_assistant))
                if self._new:
                    connection.execute(sa.insert(_CACHED).prefix_with("OR REPLACE"), self._new)


@contextmanager
def _opened(path: Path) -> Iterator[sa.Connection]:
    """Open the cache file.

    Raises StoreBusy if another process locks it for too long, StoreFailed for a full disk, and else BadInput.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        connect_args={"timeout": BUSY_TIMEOUT_S},
        poolclass=sa.NullPool,
    )
    try:
        with engine.begin() as connection:
            connection.execute(sa.schema.CreateTable(_CACHED, if_not_exists=True))
            yield connection
    except sa.exc.DatabaseError as wrong:
        if getattr(wrong.orig, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreBusy(
                f"another process locks the cache of scores {path}. Rerun when no other program uses it."
            ) from wrong
        if failed := failed_write(wrong, path.parent):
            raise failed from wrong
        raise BadInput(
            f"the cache of scores {path} cannot be used ({wrong.orig}). Delete the file, then rerun: scores are "
            "computed again without requests."
        ) from wrong


def plain_values(rows: Sequence[Any]) -> list[list[Any]]:
    """Return dataclass rows of one type as lists of their field values."""
    names = [field.name for field in fields(rows[0])] if rows else []
    return [[getattr(row, name) for name in names] for row in rows]


def rows_of(row: Any, plain: Iterable[Sequence[Any]]) -> list[Any]:
    """Return the rows of a type with these field values."""
    names = [field.name for field in fields(row)]
    return [row(**dict(zip(names, values, strict=True))) for values in plain]
