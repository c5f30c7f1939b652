"""Dagster's event log on SQLite, with faster writes than the storage that Dagster ships.

The files have Dagster's format: one database for each run, and `index.db` over all runs. Each storage can read the
other's files. There are three differences. Connections stay open, while the shipped storage opens a database for every
statement. A commit does not wait for the disk (see set_durability). The events of a batch are one transaction.

The class overrides private methods of Dagster 1.13.27 and verifies their signatures when it starts.
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as db
from dagster._config.config_schema import UserConfigSchema
from dagster._core.event_api import EventHandlerFn
from dagster._core.storage.event_log.base import EventLogCursor
from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.sqlite import sqlite_event_log as shipped
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.sql import AlembicVersion
from dagster._serdes import ConfigurableClassData
from sqlalchemy import exc

from memflow.errors import EventLogError
from resources.instance.event_schema import (
    find_revision,
    head_revision,
    is_known_revision,
    require_dagster,
    table_statements,
)
from resources.instance.sqlite_shards import (
    BUSY_TIMEOUT_S,
    ShardPool,
    create_tables,
    has_tables,
    is_damaged,
    opening_error,
    set_durability,
)

OPEN_SHARDS = 8
"""How many databases of runs stay open while nobody uses them. Each holds three files."""
INDEX = shipped.INDEX_SHARD_NAME

EXPECTED: dict[str, tuple[str, ...]] = {
    "__init__": ("base_dir", "inst_data"),
    "_connect": ("shard",),
    "_initdb": ("engine", "for_index_shard"),
    "alembic_version": (),
    "conn_string_for_shard": ("shard_name",),
    "dispose": (),
    "end_watch": ("run_id", "handler"),
    "from_config_value": ("inst_data", "config_value"),
    "has_table": ("table_name",),
    "index_connection": (),
    "path_for_shard": ("run_id",),
    "register_instance": ("instance",),
    "run_connection": ("run_id",),
    "store_event": ("event",),
    "store_event_batch": ("events",),
    "upgrade": (),
    "watch": ("run_id", "cursor", "callback"),
    "wipe": (),
}
"""The methods that are overridden or relied on, and their parameters in Dagster 1.13.27."""


class SqliteEventLog(SqliteEventLogStorage):
    """An event log in SQLite whose connections stay open.

    Args:
        base_dir: The folder of the databases. A relative path is below the instance's folder (DAGSTER_HOME).
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        require_dagster(SqliteEventLogStorage, EXPECTED)
        self._inst_data = inst_data
        self._instance_weakref = None
        self._relative = not Path(base_dir).is_absolute()
        if self._relative:
            self._base_dir = base_dir  # until register_instance() names the instance's folder
        else:
            self._start(base_dir)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Any
    ) -> "SqliteEventLog":
        return cls(inst_data=inst_data, **config_value)

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        return SqliteEventLogStorage.config_type()

    def register_instance(self, instance: dg.DagsterInstance) -> None:
        """Attach the storage to an instance; a relative folder is resolved against the instance's folder."""
        if self._relative:
            self._relative = False
            self._start(str(Path(instance.root_directory) / self._base_dir))
        super().register_instance(instance)

    def _start(self, base_dir: str) -> None:
        self._tables: set[str] = set()
        self._other_schema: dict[str, str] = {}  # revisions of open databases that need a migration
        self._migration = threading.local()
        self._watcher: SqlPollingEventWatcher | None = None
        self._watcher_lock = threading.Lock()
        self._shards = ShardPool(Path(base_dir), self._prepare, OPEN_SHARDS, frozenset({INDEX}))
        head_revision()  # read now: alembic logs, which store_event() must not
        try:
            super().__init__(base_dir, self._inst_data)
            with self._migrating():
                self.has_table("event_logs")  # opens the index
        except (OSError, exc.DBAPIError, sqlite3.Error) as error:
            raise self._opening_error(INDEX, error) from error

    @contextmanager
    def _connect(self, shard: str) -> Iterator[db.Connection]:
        """Open a transaction on a run's database or on the index; nested calls in a thread share the transaction."""
        if not isinstance(shard, str):
            raise TypeError(f"the run id {shard!r} is not a string. Pass the id of a Dagster run.")
        try:
            with self._shards.transaction(shard) as connection:
                if shard in self._other_schema and not getattr(self._migration, "running", False):
                    raise self._schema_error(shard)
                yield connection
        except exc.DatabaseError as error:
            if is_damaged(error):
                raise self._opening_error(shard, error) from error
            raise

    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        """Store events in one transaction for each database.

        If an event fails, no event is stored, and Dagster stores the events one by one. The index is committed first:
        if its commit fails, the run's database is rolled back too.
        """
        with ExitStack() as transactions:
            for run_id in sorted({event.run_id for event in events}):
                transactions.enter_context(self._connect(run_id))
            transactions.enter_context(self._connect(INDEX))
            for event in events:
                self.store_event(event)

    def has_table(self, table_name: str) -> bool:
        """Return whether the index has a table. A positive result is cached."""
        if table_name not in self._tables:
            with self._connect(INDEX) as connection:
                if not connection.dialect.has_table(connection, table_name):
                    return False
            self._tables.add(table_name)
        return True

    def watch(self, run_id: str, cursor: str | None, callback: EventHandlerFn) -> None:
        """Call `callback` with each new event of a run. The interval between reads grows from 0.25 s to 16 s.

        The shipped storage waits for changes of the database file. This storage cannot, because changes are in another
        file while a connection is open.
        """
        if cursor and EventLogCursor.parse(cursor).is_offset_cursor():
            raise ValueError(f"the event log cursor {cursor} is an offset. Pass a storage id cursor.")
        with self._watcher_lock:
            if self._watcher is None:
                self._watcher = SqlPollingEventWatcher(self)
            self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: EventHandlerFn) -> None:
        """Stop a watch that `watch` started."""
        watcher = self._watcher
        if watcher is not None:
            watcher.unwatch_run(run_id, handler)

    def dispose(self) -> None:
        """Stop the watching threads and close the databases. A later call opens them again."""
        with self._watcher_lock:
            watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.close()
        self._shards.close()

    def wipe(self) -> None:
        """Delete every event."""
        self._shards.close()
        super().wipe()

    def upgrade(self) -> None:
        """Migrate the databases of an older Dagster to the current schema, for `dagster instance migrate`."""
        with self._migrating():
            super().upgrade()
        self._tables.clear()
        self._other_schema.clear()
        self._shards.close()

    def alembic_version(self) -> AlembicVersion:
        """Return the schema revision of the index database, and that of the installed Dagster."""
        with self._migrating():
            return super().alembic_version()

    @contextmanager
    def _migrating(self) -> Iterator[None]:
        """Open a context in which this thread may open databases with another schema revision."""
        before = getattr(self._migration, "running", False)
        self._migration.running = True
        try:
            yield
        finally:
            self._migration.running = before

    def _prepare(self, connection: sqlite3.Connection, shard: str) -> None:
        """Configure a new connection, create missing tables, and record a schema that differs from Dagster's."""
        self._other_schema.pop(shard, None)
        try:
            set_durability(connection)
            if not has_tables(connection):
                create_tables(connection, table_statements())
            revision = find_revision(connection)
            if revision is None:
                self._create_by_alembic(shard)
            elif revision != head_revision():
                self._other_schema[shard] = revision
        except sqlite3.Error as error:
            raise self._opening_error(shard, error) from error

    def _create_by_alembic(self, shard: str) -> None:
        """Create the missing tables of a database whose creation was interrupted in another process."""
        engine = db.create_engine(
            self.conn_string_for_shard(shard),
            poolclass=db.NullPool,
            connect_args={"timeout": BUSY_TIMEOUT_S},
        )
        self._initdb(engine)
        engine.dispose()

    def _opening_error(self, shard: str, error: Exception) -> EventLogError:
        what = "index of assets and checks" if shard == INDEX else f"log of run {shard}"
        return opening_error(Path(self.path_for_shard(shard)), what, error)

    def _schema_error(self, shard: str) -> EventLogError:
        revision = self._other_schema[shard]
        path = self.path_for_shard(shard)
        home = self._instance.root_directory
        found = f"{path} has the schema {revision}, and Dagster {dg.__version__} needs {head_revision()}."
        if is_known_revision(revision):
            return EventLogError(
                f"{found} It was written by an older Dagster. Stop what uses {home}, back it up, run "
                f"`DAGSTER_HOME={home} dagster instance migrate`, then rerun."
            )
        return EventLogError(
            f"{found} It was written by a newer Dagster. Install that version, or set DAGSTER_HOME to another folder."
        )
