"""Dagster's event log on SQLite, with connections that stay open.

The shipped storage opens a database for every statement, has alembic create each new one, and waits for the disk at
each commit: a third of the CPU time of a demo run. The files are Dagster's; each storage can read the other's.
"""

import os
import secrets
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as db
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import exc
from sqlalchemy.pool import StaticPool

from memflow.errors import EventLogError

OPEN_DATABASES = 8
"""How many databases stay open. Each holds three files."""
BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for another process's transaction. Dagster's own storage waits as long."""


class SqliteEventLog(SqliteEventLogStorage):
    """An event log in SQLite whose connections stay open.

    Args:
        base_dir: The folder of the databases. A relative path is below the instance's folder (DAGSTER_HOME).
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._inst_data = inst_data
        self._folder = Path(base_dir)
        self._engines: OrderedDict[str, db.Engine] = OrderedDict()
        self._empty: bytes | None = None
        """The file of a run's database without events, as Dagster created the first."""
        self._tables: set[str] = set()
        self._watcher: SqlPollingEventWatcher | None = None
        if self._folder.is_absolute():
            self._start(base_dir)

    def register_instance(self, instance: dg.DagsterInstance) -> None:
        """Attach the storage to an instance; a relative folder is resolved against the instance's folder."""
        if not self._folder.is_absolute():
            self._folder = Path(instance.root_directory) / self._folder
            self._start(str(self._folder))
        super().register_instance(instance)

    def _start(self, folder: str) -> None:
        try:
            super().__init__(folder, self._inst_data)
        except (OSError, exc.DBAPIError, sqlite3.Error) as error:
            raise _unusable(Path(folder) / "index.db", error) from error

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Any
    ) -> "SqliteEventLog":
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[db.Connection]:
        """Open a transaction on a run's database or on the index. One thread at a time has one."""
        with self._db_lock:
            try:
                with self._engine(shard).begin() as connection:
                    yield connection
            except exc.DatabaseError as error:
                if engine := self._engines.pop(shard, None):
                    engine.dispose()
                if "malformed" in str(error) or "not a database" in str(error):
                    raise _unusable(Path(self.path_for_shard(shard)), error) from error
                raise

    def _engine(self, shard: str) -> db.Engine:
        """Return the engine of a database, whose only connection stays open. Create the database if it is new."""
        if engine := self._engines.get(shard):
            self._engines.move_to_end(shard)
            return engine
        engine = db.create_engine(
            self.conn_string_for_shard(shard),
            poolclass=StaticPool,
            connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
        )
        db.event.listen(engine, "connect", _sync_at_checkpoints)
        path = Path(self.path_for_shard(shard))
        is_new = not path.exists()
        if is_new and self._empty is not None:
            _create(path, self._empty)
        elif shard not in self._initialized_dbs:
            self._initdb(engine)
            if is_new:
                self._empty = _content(engine)
        self._initialized_dbs.add(shard)
        self._engines[shard] = engine
        if len(self._engines) > OPEN_DATABASES:
            self._engines.popitem(last=False)[1].dispose()
        return engine

    def has_table(self, table_name: str) -> bool:
        """Return whether the index has a table. A positive result is cached."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def watch(self, run_id: str, cursor: str | None, callback: Any) -> None:
        """Call `callback` with each new event of a run, by polling.

        The shipped storage waits for changes of the database file. This one cannot, because changes are in the
        write-ahead log while a connection is open.
        """
        if self._watcher is None:
            self._watcher = SqlPollingEventWatcher(self)
        self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: Any) -> None:
        """Stop a watch that `watch` started."""
        if self._watcher is not None:
            self._watcher.unwatch_run(run_id, handler)

    def dispose(self) -> None:
        """Stop the watching threads and close the databases. A later call opens them again."""
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None
        with self._db_lock:
            while self._engines:
                self._engines.popitem()[1].dispose()

    def wipe(self) -> None:
        """Delete every event."""
        self.dispose()
        super().wipe()
        self._initialized_dbs.clear()


def _sync_at_checkpoints(connection: sqlite3.Connection, _: Any) -> None:
    """Do not wait for the disk at each commit.

    A killed process loses no commit. A power failure may lose the last ones, but does not damage the database.
    """
    connection.execute("PRAGMA synchronous=NORMAL")


def _content(engine: db.Engine) -> bytes:
    """Return the file of a database that Dagster has just created, to create others faster."""
    with engine.connect() as connection:
        return bytes(connection.connection.driver_connection.serialize())  # type: ignore[union-attr]


def _create(path: Path, content: bytes) -> None:
    """Write a database, unless another process has created it."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    new.write_bytes(content)
    with suppress(FileExistsError):
        os.link(new, path)
    new.unlink()


def _unusable(path: Path, error: Exception) -> EventLogError:
    """Return the exception for a database that is damaged or cannot be opened."""
    reason = getattr(error, "orig", None) or error
    return EventLogError(
        f"Cannot use {path}, a part of Dagster's event log ({reason}). If it is damaged, restore it from a backup, or "
        f"move it and the files {path.name}-wal and {path.name}-shm away; the tables of memflow are not affected. "
        "Otherwise check that you may write to the folder and that the disk is not full. Then rerun."
    )
