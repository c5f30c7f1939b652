"""Dagster's event log on PostgreSQL, with connections that stay open.

The shipped storage reconnects for every group of statements. This storage has a small connection pool. A thread in a
transaction uses one connection for everything, so no thread waits for a second connection. The events of a batch are
one transaction: after a failure Dagster stores them one by one, and a check whose planned event is stored twice fails.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import dagster as dg
import sqlalchemy as db
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._serdes import ConfigurableClassData, serialize_value
from dagster_postgres.auth import PgTokenProvider
from dagster_postgres.event_log import PostgresEventLogStorage
from dagster_postgres.utils import (
    create_pg_connection,
    create_pg_engine,
    get_token_provider_from_config,
    pg_url_from_config,
)
from sqlalchemy.exc import IntegrityError

from resources.instance.event_schema import require_dagster
from resources.instance.repeated_calls import in_repeated_call, repeat_calls

POOL: dict[str, Any] = {
    "isolation_level": "AUTOCOMMIT",
    "pool_size": 1,
    "max_overflow": 4,
    "pool_recycle": 3600,
    "pool_pre_ping": True,
}
EXPECTED: dict[str, tuple[str, ...]] = {
    "__init__": ("postgres_url", "should_autocreate_tables", "inst_data", "token_provider"),
    "_connect": (),
    "dispose": (),
    "from_config_value": ("inst_data", "config_value"),
    "has_table": ("table_name",),
    "index_connection": (),
    "index_transaction": (),
    "optimize_for_webserver": ("statement_timeout", "pool_recycle", "max_overflow"),
    "run_connection": ("run_id",),
    "store_asset_check_event": ("event", "event_id"),
    "store_asset_event": ("event", "event_id"),
    "store_event": ("event",),
    "store_event_batch": ("events",),
}
"""The methods that are overridden or relied on, and their parameters in dagster-postgres 0.29.27."""


@repeat_calls
class PostgresEventLog(PostgresEventLogStorage):
    """An event log in PostgreSQL with a pool of one to five open connections.

    Calls wait for a server that is being restarted, and are repeated. No event is stored twice.
    """

    def __init__(
        self,
        postgres_url: str,
        should_autocreate_tables: bool = True,
        inst_data: ConfigurableClassData | None = None,
        token_provider: PgTokenProvider | None = None,
    ) -> None:
        require_dagster(PostgresEventLogStorage, EXPECTED)
        self._tables: set[str] = set()
        self._mine = threading.local()
        super().__init__(postgres_url, should_autocreate_tables, inst_data, token_provider)
        self._engine.dispose()
        options = db.make_url(postgres_url).query.get("options")
        connect_args = {"connect_args": {"options": options}} if options else {}
        self._engine = create_pg_engine(postgres_url, token_provider, **POOL, **connect_args)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "PostgresEventLog":
        return cls(
            pg_url_from_config(config_value),
            config_value.get("should_autocreate_tables", True),
            inst_data,
            get_token_provider_from_config(config_value),
        )

    def optimize_for_webserver(self, statement_timeout: int, pool_recycle: int, max_overflow: int) -> None:
        """Replace the connection pool by a pool of the size that Dagster's web server requests."""
        self._engine.dispose()
        super().optimize_for_webserver(statement_timeout, pool_recycle, max_overflow)

    @contextmanager
    def _connect(self) -> Iterator[db.Connection]:
        """Yield a connection from the pool, or the connection of the transaction that this thread has open."""
        held = getattr(self._mine, "connection", None)
        if held is not None:
            yield held
            return
        with create_pg_connection(self._engine) as connection:
            yield connection

    @contextmanager
    def index_transaction(self) -> Iterator[db.Connection]:
        """Open a transaction that includes all events that this thread stores within the context."""
        with super().index_transaction() as connection:
            outer = getattr(self._mine, "connection", None)
            self._mine.connection = connection
            try:
                yield connection
            finally:
                self._mine.connection = outer

    def store_event(self, event: dg.EventLogEntry) -> None:
        """Store an event. After a lost connection, complete an event that was stored without its asset or check."""
        number = self._find_stored(event) if in_repeated_call() else None
        if number is None:
            super().store_event(event)
            return
        kind = event.dagster_event_type
        if kind in ASSET_EVENTS and event.get_dagster_event().asset_key:
            self.store_asset_event(event, number)
        elif kind in ASSET_CHECK_EVENTS:
            with suppress(IntegrityError):  # it is complete
                self.store_asset_check_event(event, number)

    def _find_stored(self, event: dg.EventLogEntry) -> int | None:
        """Return the number of a stored event that equals this one."""
        columns = SqlEventLogStorageTable.c
        query = db.select(columns.id).where(
            columns.run_id == event.run_id, columns.event == serialize_value(event)
        )
        with self._connect() as connection:
            number: int | None = connection.execute(query).scalar()
            return number

    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        """Store events in one transaction. If an event fails, no event is stored."""
        if events and in_repeated_call() and self._find_stored(events[0]) is not None:
            return
        with self.index_transaction():
            super().store_event_batch(events)

    def has_table(self, table_name: str) -> bool:
        """Return whether the database has a table. A positive result is cached."""
        if table_name not in self._tables:
            if not super().has_table(table_name):
                return False
            self._tables.add(table_name)
        return True

    def upgrade(self) -> None:
        """Migrate the tables of an older Dagster to the current schema, for `dagster instance migrate`."""
        super().upgrade()
        self._tables.clear()

    def dispose(self) -> None:
        """Stop the watching threads and close the connections. A later call opens them again."""
        super().dispose()
        self._engine.dispose()
