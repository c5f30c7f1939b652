"""The database of the shared limits: transactions under a lock, with the database's clock."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.schema import CreateTable

from memflow.errors import StoreFailed
from resources.ledger.database import open_engine, store_error, without_password
from resources.shared_limits.tables import limit_tables

UNIX_EPOCH_JULIAN_DAY = 2440587.5
_LOCKS = 0x6C696D69
"""The class of the PostgreSQL advisory locks ("limi")."""


def database_time(connection: Connection) -> float:
    """Return the seconds since 1970 by the clock of the database, which all hosts share."""
    if connection.dialect.name == "postgresql":
        seconds: sa.ColumnElement[Any] = sa.extract("epoch", sa.func.clock_timestamp())
    else:
        seconds = (sa.func.julianday("now") - UNIX_EPOCH_JULIAN_DAY) * 86400.0
    return float(connection.execute(sa.select(seconds)).scalar_one())


class LimitStore:
    """The shared limits in the database of a ledger. Threads may share it. Close it after use."""

    def __init__(self, url: str, now: Callable[[Connection], float] = database_time) -> None:
        self.url = url
        self._now = now
        self._opening = threading.Lock()
        self._engine: Engine | None = None

    @contextmanager
    def transaction(self, name: str) -> Iterator[tuple[Connection, float]]:
        """Begin a transaction that locks the limit `name`. Yield the connection and the database's time.

        Raises BadSettings if the database cannot be opened, StoreBusy if another process locks it for too long, and
        StoreFailed if the database cannot be used, for example because the connection is lost.
        """
        try:
            with self._open().begin() as connection:
                _lock(connection, name)
                yield connection, self._now(connection)
        except DBAPIError as error:
            raise store_error(error, self.url) from error
        except SQLAlchemyError as error:  # such as the timeout of SQLAlchemy's pool of connections
            raise StoreFailed(
                f"cannot use the ledger {without_password(self.url)} ({type(error).__name__}: {error}). Fix the "
                "database, then rerun."
            ) from error

    def close(self) -> None:
        """Close the connections."""
        with self._opening:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None

    def _open(self) -> Engine:
        with self._opening:
            if self._engine is None:
                engine = open_engine(self.url)
                with engine.begin() as connection:
                    _lock(connection, "tables")
                    for table in limit_tables.sorted_tables:
                        connection.execute(CreateTable(table, if_not_exists=True))
                self._engine = engine
            return self._engine


def _lock(connection: Connection, name: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCKS, sa.func.hashtext(name))))
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
