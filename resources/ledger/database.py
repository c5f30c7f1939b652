"""The ledger's database: how to open it, create its tables, and translate the errors of its driver."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, NoSuchModuleError

from memflow.errors import BadSettings, StoreBusy, StoreFailed
from memflow.resources.files.disks import failed_write
from memflow.resources.files.sqlite_urls import sqlite_path
from memflow.resources.ledger.tables import completions, tables
from memflow.resources.reconnect import while_starting

BUSY_TIMEOUT_S = 60.0
"""Seconds to wait for the transaction of another process."""
CACHED_STATEMENTS = 8
"""Prepared statements that a connection to SQLite keeps. Each keeps its last values, megabytes of a large commit."""
_SCHEMA_LOCK = 0x6D656D666C6F77
"""Key of the PostgreSQL advisory lock under which the tables are created ("memflow")."""
_DAMAGED = ("malformed", "not a database", "unsupported file format")


class InvalidText(str):
    """A text of SQLite that is not valid UTF-8, with escapes. Only a damaged file has one."""

    __slots__ = ()


def open_engine(url: str) -> Engine:
    """Open the ledger's database, created if necessary; several processes may do so at the same time.

    Raises BadSettings if it cannot be opened or another version of memflow wrote it, StoreBusy if another process locks
    it, and StoreFailed if it is damaged or cannot be written.
    """
    try:
        engine = _connect(url)
        while_starting(lambda: _create_tables(engine, url))
    except UnicodeDecodeError as error:  # a damaged schema, which the driver's message quotes
        raise damaged_file(url, str(error)) from error
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, DBAPIError, OSError) as error:
        if isinstance(error, DBAPIError) and (is_locked(error) or is_damaged(error)):
            raise store_error(error, url) from error
        if failed := _disk_error(error, url):
            raise failed from error
        reason = error.orig if isinstance(error, DBAPIError) else error
        raise BadSettings(
            f"cannot open the ledger {without_password(url)}: {reason}. Fix `ledger` in memflow.toml."
        ) from error
    return engine


def open_reader(url: str) -> Engine:
    """Open a database that `open_engine` has opened, for queries without a transaction: each sees the latest state.

    SQLAlchemy can also change the mode of a connection for one query, which takes longer than a lookup.
    """
    return _connect(url, isolation_level="AUTOCOMMIT")


@contextmanager
def explained_errors(url: str) -> Iterator[None]:
    """Raise StoreBusy or StoreFailed with the next step instead of an error of the driver."""
    try:
        yield
    except DBAPIError as error:
        raise store_error(error, url) from error
    except UnicodeDecodeError as error:  # the driver's message quotes a damaged schema
        raise damaged_file(url, str(error)) from error


def _connect(url: str, **options: Any) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return sa.create_engine(parsed, pool_pre_ping=True, **options)
    path = sqlite_path(url)
    if path is None:
        raise BadSettings(
            "the SQLite URL of the ledger has no path. Add a path to `ledger` in memflow.toml; in code, use "
            "memflow.chat.ledger.MemoryLedger for a ledger in memory."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    connect_args = {"timeout": BUSY_TIMEOUT_S, "cached_statements": CACHED_STATEMENTS}
    engine = sa.create_engine(parsed, connect_args=connect_args, **options)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _create_tables(engine: Engine, url: str) -> None:
    """Create the tables of a new ledger in one transaction, under a lock. Raises BadSettings for other tables."""
    with engine.connect() as connection:
        if _has_tables(connection, url):
            return
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_SCHEMA_LOCK)))
        else:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        if _has_tables(connection, url):  # another process created them meanwhile
            return
        tables.create_all(connection)
        if engine.dialect.name == "postgresql":  # the messages are compressed already
            messages = completions.c.messages.name
            connection.exec_driver_sql(
                f"ALTER TABLE {completions} ALTER COLUMN {messages} SET STORAGE EXTERNAL"
            )


def _has_tables(connection: Connection, url: str) -> bool:
    """Return whether the ledger's tables exist. Raises BadSettings if they are those of another version."""
    inspector = sa.inspect(connection)
    existing = set(inspector.get_table_names()) & tables.tables.keys()
    columns = {name: {column["name"] for column in inspector.get_columns(name)} for name in existing}
    if existing and columns != {name: set(table.columns.keys()) for name, table in tables.tables.items()}:
        raise BadSettings(
            f"the ledger {without_password(url)} was written by another version of memflow. Choose another `home` or "
            "`ledger` in memflow.toml, or move it away, to start over."
        )
    return bool(existing)


def _prepare_sqlite(connection: Any, _: object) -> None:
    """Set WAL mode with synchronous=NORMAL on a new connection.

    Commits survive a killed process; a power failure may lose the last commits.
    """
    over = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            # SQLite does not wait where another process sets the mode of a new file.
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if not _means_locked(str(error)) or time.monotonic() > over:
                raise
            time.sleep(0.02)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.text_factory = _text


def _text(stored: bytes) -> str:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return InvalidText(stored.decode("utf-8", "backslashreplace"))


def is_locked(error: DBAPIError) -> bool:
    """Return whether another process locks the database."""
    return _means_locked(str(error.orig))


def is_damaged(error: DBAPIError) -> bool:
    """Return whether SQLite reports a damaged file."""
    return any(words in str(error.orig) for words in _DAMAGED)


def _means_locked(reason: str) -> bool:
    return any(word in reason for word in ("locked", "busy"))


def _disk_error(error: Exception, url: str) -> StoreFailed | None:
    """Return the exception if a full or read-only disk caused the error of a SQLite ledger."""
    try:
        path = sqlite_path(url)
    except ArgumentError:
        return None
    return failed_write(error, path.parent) if path is not None else None


def damaged_file(url: str, reason: str) -> StoreFailed:
    """Return the exception for a damaged file, with the commands that rescue its rows."""
    path = sqlite_path(url)
    new = None if path is None else path.with_suffix(".recovered.sqlite")
    return StoreFailed(
        f"the ledger {without_password(url)} is damaged ({reason}). End all memflow processes, rescue its rows with "
        f"`sqlite3 {path} .recover | sqlite3 {new}` (with the program of sqlite.org), and rename the new file to the "
        "old one, or restore a backup (docs/how-to/deploy.md); then rerun."
    )


def store_error(error: DBAPIError, url: str) -> StoreBusy | StoreFailed:
    """Return the exception for a database error, with a message that states the next step."""
    ledger = f"the ledger {without_password(url)}"
    reason = " ".join(str(error.orig).split())
    if is_locked(error):
        return StoreBusy(
            f"another process locked {ledger} for {BUSY_TIMEOUT_S:g} s. End that process, then rerun."
        )
    if is_damaged(error):
        return damaged_file(url, reason)
    if failed := _disk_error(error, url):
        return failed
    if any(words in reason for words in ("is full", "No space left")):
        return StoreFailed(f"the disk of {ledger} is full ({reason}). Free some space, then rerun.")
    if error.connection_invalidated or isinstance(error, InterfaceError):
        return StoreFailed(
            f"lost the connection to {ledger} ({reason}). Check the database server, then rerun."
        )
    return StoreFailed(f"cannot use {ledger} ({reason}). Fix the database, then rerun.")


def without_password(url: str) -> str:
    """Return the URL with its password hidden."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(an invalid URL)"
