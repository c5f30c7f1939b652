"""The ledger's tables: their definition, the opening of the database, and compiled insert statements."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.schema import CreateIndex, CreateTable

from memflow.errors import BadSettings

BUSY_TIMEOUT_S = 60.0
"""Seconds to wait for the transaction of another process."""
_SCHEMA_LOCK = 0x6D656D666C6F77
"""Key of the PostgreSQL advisory lock under which the tables are created ("memflow")."""

tables = sa.MetaData()

completions = sa.Table(
    "completions",
    tables,
    sa.Column("digest", sa.String(32), primary_key=True),
    sa.Column("prompt", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("messages", sa.LargeBinary, nullable=False, comment="JSON of [role, content] pairs, zlib."),
    sa.Column("parameters", sa.Text, nullable=False, comment="The sampling, as JSON."),
    sa.Column("schema", sa.String(32), comment="Digest of the output type's JSON schema."),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("finish_reason", sa.Text, nullable=False),
    sa.Column("prompt_tokens", sa.Integer, nullable=False),
    sa.Column("completion_tokens", sa.Integer, nullable=False),
    sa.Column("cached_tokens", sa.Integer, nullable=False),
    sa.Column("latency_s", sa.Float, nullable=False),
    sa.Column("asked_at", sa.Float, nullable=False, comment="Seconds since 1970, UTC."),
)

CONTEXT_COLUMNS = ("run", "stage", "role", "domain", "assistant", "model")


def _context_columns() -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in (*CONTEXT_COLUMNS, "prompt")]


uses = sa.Table(
    "uses",
    tables,
    sa.Column("use", sa.Integer, primary_key=True),
    *_context_columns(),
    sa.Column("digest", sa.String(32), nullable=False),
    sa.Column("kept", sa.Boolean, nullable=False, comment="A cache hit: no request was sent."),
    sa.Column("at", sa.Float, nullable=False),
    sa.Index("uses_by_run", "run"),
)

failures = sa.Table(
    "failures",
    tables,
    sa.Column("failure", sa.Integer, primary_key=True),
    *_context_columns(),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Index("failures_by_run", "run"),
)

embeddings = sa.Table(
    "embeddings",
    tables,
    sa.Column("digest", sa.String(32), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False, comment="float32, little endian."),
)

embedding_times = sa.Table(
    "embedding_times",
    tables,
    sa.Column("digest", sa.String(32), primary_key=True),
    sa.Column("seconds", sa.Float, nullable=False, comment="Its share of its request's latency."),
)
"""A separate table, because ledgers of older versions have vectors without times."""


def open_engine(url: str) -> Engine:
    """Open a database, create missing tables and return the engine. Several processes may do so at the same time."""
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            if not parsed.database or parsed.database == ":memory:":
                raise BadSettings(
                    "the SQLite URL of the ledger has no path. Add one in memflow.toml; in code, use "
                    "memflow.chat.ledger.MemoryLedger for a ledger in memory."
                )
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            engine = sa.create_engine(parsed, connect_args={"timeout": BUSY_TIMEOUT_S})
            sa.event.listen(engine, "connect", _prepare_sqlite)
        else:
            engine = sa.create_engine(parsed, pool_pre_ping=True)
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_SCHEMA_LOCK)))
            for table in tables.sorted_tables:
                connection.execute(CreateTable(table, if_not_exists=True))
                for index in sorted(table.indexes, key=lambda index: str(index.name)):
                    connection.execute(CreateIndex(index, if_not_exists=True))
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, DBAPIError, OSError) as error:
        raise BadSettings(
            f"cannot open the ledger {without_password(url)}: {error}. Fix `ledger` in memflow.toml."
        ) from error
    return engine


def insert_into(engine: Engine, table: sa.Table) -> tuple[str, Sequence[str] | None]:
    """Return a compiled insert statement that ignores conflicts, and the order of its values (None: values by name).

    SQLAlchemy does not cache such statements, and compiling takes longer than inserting.
    """
    kind = postgresql if engine.dialect.name == "postgresql" else sqlite
    values: dict[str, Any] = {
        column.name: sa.bindparam(column.name) for column in table.columns if not _is_generated(column)
    }
    compiled = kind.insert(table).values(values).on_conflict_do_nothing().compile(dialect=engine.dialect)
    return str(compiled), compiled.positiontup


def _is_generated(column: sa.Column[Any]) -> bool:
    return column.primary_key and isinstance(column.type, sa.Integer)


def _prepare_sqlite(connection: Any, _: object) -> None:
    """Set WAL mode with synchronous=NORMAL.

    Commits survive a killed process; a power failure may lose the last commits.
    """
    over = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            # SQLite does not wait where another process sets the mode of a new file.
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > over:
                raise
            time.sleep(0.02)
    connection.execute("PRAGMA synchronous = NORMAL")


def is_locked(error: DBAPIError) -> bool:
    return any(word in str(error.orig) for word in ("locked", "busy"))


def without_password(url: str) -> str:
    """Return the URL with its password hidden."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(an invalid URL)"
