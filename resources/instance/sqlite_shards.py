"""A pool of open SQLite databases: one connection per file, used by one thread at a time.

This module must not log. Dagster writes an event from within a logging handler, which holds the handler's lock. A
second thread may hold the lock of Python's logging module and wait for that handler. A log message from this module
would then wait for the second thread: a deadlock.
"""

import logging
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import sqlalchemy as db
from sqlalchemy import exc
from sqlalchemy.pool import NullPool

from memflow.errors import EventLogError

BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for another process's transaction. Dagster's own storage waits as long."""

Prepare = Callable[[sqlite3.Connection, str], None]
"""Checks a database that was just opened, and creates its tables if it has none. Its arguments: connection, name."""

T = TypeVar("T")

SILENT = logging.Logger("memflow.sqlite_shards")
SILENT.disabled = True  # a disabled logger returns before it asks for the lock of the logging module


class Shard:
    """A database file of the pool: its connection, and the lock of the thread that uses the connection."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self.lock = threading.RLock()
        self.users = 0
        self.retired = False
        self.in_use = False
        self.connection: db.Connection | None = None
        self._file: tuple[int, int] | None = None

    def open(self, connection: db.Connection) -> None:
        """Set a new connection, and record the identity of its file."""
        self.connection = connection
        self._file = self._identity()

    def is_current(self) -> bool:
        """Return whether the connection's file is still at the path; another process may have deleted it."""
        return self.connection is not None and self._file is not None and self._file == self._identity()

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino


class ShardPool:
    """The open databases of one folder. At most `limit` stay open while no thread uses them.

    Args:
        folder: The folder of the files NAME.db.
        prepare: Called with each connection before its first use.
        limit: The number of databases to keep open, without those in `pinned`.
        pinned: Names of databases that stay open until close().
    """

    def __init__(self, folder: Path, prepare: Prepare, limit: int, pinned: frozenset[str]) -> None:
        self._folder = folder
        self._prepare = prepare
        self._limit = limit
        self._pinned = pinned
        self._lock = (
            threading.Lock()
        )  # of the two below; never held while a database is opened, used or closed
        self._shards: OrderedDict[str, Shard] = OrderedDict()
        self._new = threading.local()
        self._engine = db.create_engine("sqlite://", creator=lambda: self._new.connection, poolclass=NullPool)
        for part in (self._engine, self._engine.pool):
            part.logger = SILENT
            part._should_log_info = part._should_log_debug = _no  # type: ignore[method-assign]

    @contextmanager
    def transaction(self, name: str) -> Iterator[db.Connection]:
        """Open a transaction on a database: committed at the end, rolled back after an exception.

        Nested calls by one thread share the transaction. A thread that needs several databases at once must open them
        in the same order as every other thread.
        """
        shard = self._take(name)
        try:
            with shard.lock:
                if shard.in_use:
                    yield self._open(shard)
                    return
                if not shard.is_current():
                    shard.close()
                connection = self._open(shard)
                shard.in_use = True
                try:
                    with connection.begin():
                        yield connection
                except exc.DBAPIError:
                    shard.close()  # it may be unusable, and a new one costs little
                    raise
                finally:
                    shard.in_use = False
        finally:
            self._give_back(shard)

    def open_names(self) -> list[str]:
        """The names of the open databases, least recently used first."""
        with self._lock:
            return [name for name, shard in self._shards.items() if shard.connection is not None]

    def close(self) -> None:
        """Close every database; a database in use is closed when its thread has finished.

        The next use opens it again.
        """
        with self._lock:
            shards, self._shards = list(self._shards.values()), OrderedDict()
            for shard in shards:
                shard.retired = True
            idle = [shard for shard in shards if not shard.users]
        for shard in idle:
            shard.close()

    def _take(self, name: str) -> Shard:
        with self._lock:
            shard = self._shards.get(name)
            if shard is None:
                shard = self._shards[name] = Shard(name, self._folder / f"{name}.db")
            self._shards.move_to_end(name)
            shard.users += 1
            surplus = self._surplus()
        for each in surplus:
            each.close()
        return shard

    def _give_back(self, shard: Shard) -> None:
        with self._lock:
            shard.users -= 1
            unused = shard.retired and not shard.users
        if unused:
            shard.close()

    def _surplus(self) -> list[Shard]:
        """Remove the unused databases that exceed the limit. Return them, least recently used first."""
        names = [name for name in self._shards if name not in self._pinned]
        idle = [name for name in names if not self._shards[name].users]
        return [self._shards.pop(name) for name in idle[: max(0, len(names) - self._limit)]]

    def _open(self, shard: Shard) -> db.Connection:
        if shard.connection is None:
            connection = sqlite3.connect(shard.path, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
            try:
                self._prepare(connection, shard.name)
                self._new.connection = connection
                shard.open(self._engine.connect())
            except BaseException:
                connection.close()
                raise
            finally:
                self._new.connection = None
        assert shard.connection is not None
        return shard.connection


def set_durability(connection: sqlite3.Connection) -> None:
    """Use WAL mode with synchronous=NORMAL.

    A killed process loses no commit. A power failure may lose the last commits, but does not damage the database. If
    the file system supports no write-ahead log, every commit is synced, as is SQLite's default.
    """
    (mode,) = _when_free(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchone())
    if mode == "wal":
        connection.execute("PRAGMA synchronous=NORMAL")


def create_tables(connection: sqlite3.Connection, statements: list[str]) -> None:
    """Create tables and indexes in one transaction, unless another process has just created them."""
    _when_free(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        if not has_tables(connection):
            for statement in statements:
                connection.execute(statement)
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def has_tables(connection: sqlite3.Connection) -> bool:
    """Return whether the database has ever had a table, by SQLite's counter of schema changes."""
    (changes,) = connection.execute("PRAGMA schema_version").fetchone()
    return bool(changes)


def is_damaged(error: Exception) -> bool:
    """Return whether SQLite reports that a file is damaged or is not a database."""
    return any(words in str(error) for words in ("malformed", "not a database"))


def opening_error(path: Path, what: str, error: Exception) -> EventLogError:
    """Return the exception for a database that cannot be opened.

    `what` describes the data that is lost if the user moves the file away.
    """
    reason = str(getattr(error, "orig", None) or error)
    if is_damaged(error):
        return EventLogError(
            f"{path} is damaged or is not a SQLite database ({reason}). Restore it from a backup, or move it and the "
            f"files {path.name}-wal and {path.name}-shm away and rerun: Dagster then starts an empty {what}. The "
            "tables of memflow are not affected."
        )
    return EventLogError(
        f"Cannot open {path}, Dagster's {what} ({reason}). Check that the folder exists, that you may write to it and "
        "that the disk is not full, then rerun."
    )


def _when_free(call: Callable[[], T]) -> T:
    """Call a function until the database is not locked, and return its result.

    SQLite does not wait if two processes set the journal mode at the same time.
    """
    until = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            return call()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _no() -> bool:
    return False
