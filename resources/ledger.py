"""The ledger in a database: SQLite in WAL mode by default, PostgreSQL where several machines share it.

It keeps memflow.chat.ledger.Ledger: every answered request, who used it, and what was given up; and the
vectors that an endpoint embedded. The accounts are drawn up from it. No key, no header and no address is ever
written. Several processes may write at once; a process killed at any point loses no answer that `put` has
returned for.
"""

import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.schema import CreateIndex, CreateTable

from memflow.chat.ledger import Account
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, schema_digest
from memflow.errors import BadSettings, StoreBusy
from memflow.memories.entries import Vector
from resources.limits import Prices

BULK = 500
"""Uses and failures that are held back at most, to be written in one transaction."""
BUSY = 60.0
"""Seconds to wait for another process's transaction."""
_SCHEMA_LOCK = 0x6D656D666C6F77
"""Key of the PostgreSQL advisory lock under which the tables are made ("memflow")."""

_tables = sa.MetaData()

_completions = sa.Table(
    "completions",
    _tables,
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

_BOOKED = ("run", "stage", "role", "domain", "assistant", "model")


def _booked() -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in (*_BOOKED, "prompt")]


_uses = sa.Table(
    "uses",
    _tables,
    sa.Column("use", sa.Integer, primary_key=True),
    *_booked(),
    sa.Column("digest", sa.String(32), nullable=False),
    sa.Column("kept", sa.Boolean, nullable=False, comment="The answer was in the ledger; nobody was asked."),
    sa.Column("at", sa.Float, nullable=False),
    sa.Index("uses_by_run", "run"),
)

_failures = sa.Table(
    "failures",
    _tables,
    sa.Column("failure", sa.Integer, primary_key=True),
    *_booked(),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Index("failures_by_run", "run"),
)

_embeddings = sa.Table(
    "embeddings",
    _tables,
    sa.Column("digest", sa.String(32), primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False, comment="float32, little endian."),
)

_KEPT = sa.select(
    _completions.c.text,
    _completions.c.finish_reason,
    _completions.c.prompt_tokens,
    _completions.c.completion_tokens,
    _completions.c.cached_tokens,
    _completions.c.latency_s,
    _completions.c.digest,
).where(_completions.c.digest == sa.bindparam("key"))

Event = Literal["asked", "kept", "failed"]


@dataclass(frozen=True)
class AccountRow:
    """One line of the accounts: `by` says of what. Tokens and seconds are those of all uses, as when first
    asked; the paid ones are those that this account's own calls took."""

    by: Mapping[str, str]
    asked: int = 0
    kept: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latency_s: float = 0.0
    paid_prompt_tokens: int = 0
    paid_completion_tokens: int = 0


def cost(row: AccountRow, prices: Mapping[str, Prices]) -> float:
    """What an account's calls cost, by the prices of its model; 0 for a model without a price. The row has to
    be by model."""
    price = prices.get(row.by["model"], Prices())
    return price.cost(row.paid_prompt_tokens, row.paid_completion_tokens)


class SqlLedger:
    """A ledger at a SQLAlchemy URL, such as sqlite:////path/ledger.sqlite or postgresql+psycopg2://host/name.

    `on_use` is called with what happened to each request as it happens: for progress. Raises BadSettings when
    the database cannot be opened, StoreBusy when others hold it for too long.
    """

    def __init__(self, url: str, on_use: Callable[[Event, ChatRequest, Account], None] | None = None) -> None:
        self.url = url
        self.on_use = on_use
        self._lock = threading.RLock()
        self._connection: Connection
        self._pending: dict[sa.Table, list[dict[str, Any]]] = {_uses: [], _failures: []}
        self._open()

    def __reduce__(self) -> tuple[Any, ...]:
        return SqlLedger, (self.url,)  # connections stay where they were made

    def __enter__(self) -> "SqlLedger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, digest: str) -> Completion | None:
        """The completion under `digest`, or None."""
        with self._lock:
            rows = self._read(_KEPT, {"key": digest})
        return Completion(*rows[0]) if rows else None

    def put(self, digest: str, request: ChatRequest, completion: Completion, account: Account) -> None:
        """Keep an answered request and book its use, in one transaction. The first answer under a digest
        stays."""
        now = time.time()
        kept = {
            "digest": digest,
            "prompt": request.prompt,
            "model": account.model,
            "messages": _packed(request.messages),
            "parameters": json.dumps(asdict(request.sampling)),
            "schema": None if request.output is None else schema_digest(request.output),
            "attempt": request.attempt,
            "text": completion.text,
            "finish_reason": completion.finish_reason,
            "prompt_tokens": completion.prompt_tokens,
            "completion_tokens": completion.completion_tokens,
            "cached_tokens": completion.cached_tokens,
            "latency_s": completion.latency_s,
            "asked_at": now,
        }
        use = {**_line(request, account, now), "digest": digest, "kept": False}
        with self._lock, self._transaction() as connection:
            self._keep(connection, _completions, [kept])
            self._keep(connection, _uses, [use])
        self._tell("asked", request, account)

    def used(self, digest: str, request: ChatRequest, account: Account) -> None:
        """Book that a kept completion was used once more. Written in bulk."""
        self._book(_uses, {**_line(request, account, time.time()), "digest": digest, "kept": True})
        self._tell("kept", request, account)

    def failed(self, request: ChatRequest, account: Account, reason: str) -> None:
        """Book that a request was given up. Written in bulk."""
        self._book(_failures, {**_line(request, account, time.time()), "reason": reason})
        self._tell("failed", request, account)

    def flush(self) -> None:
        """Write what was held back."""
        with self._lock:
            if not any(self._pending.values()):
                return
            with self._transaction() as connection:
                for table, lines in self._pending.items():
                    if lines:
                        self._keep(connection, table, lines)
            for lines in self._pending.values():
                lines.clear()

    def close(self) -> None:
        """Write what was held back, and let go of the database."""
        with self._lock:
            self.flush()
            self._connection.close()
            self._engine.dispose()

    def messages(self, digest: str) -> tuple[ChatMessage, ...]:
        """What was asked under `digest`: for tracing. Raises KeyError when it is not kept."""
        with self._lock:
            rows = self._read(sa.select(_completions.c.messages).where(_completions.c.digest == digest))
        if not rows:
            raise KeyError(digest)
        return tuple(ChatMessage(role, content) for role, content in json.loads(zlib.decompress(rows[0][0])))

    def digests(self) -> set[str]:
        """The digests of all that is kept."""
        with self._lock:
            return {row[0] for row in self._read(sa.select(_completions.c.digest))}

    def vectors(self, digests: Sequence[str]) -> dict[str, Vector]:
        """The kept vectors among `digests`."""
        found: dict[str, Vector] = {}
        for start in range(0, len(digests), 500):  # SQLite bounds the parameters of a statement
            some = list(digests[start : start + 500])
            with self._lock:
                rows = self._read(sa.select(_embeddings).where(_embeddings.c.digest.in_(some)))
            found.update((digest, np.frombuffer(vector, dtype="<f4")) for digest, vector in rows)
        return found

    def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by digest; the first under a digest stays."""
        if vectors:
            rows = [
                {"digest": digest, "vector": np.asarray(vector, dtype="<f4").tobytes()}
                for digest, vector in vectors.items()
            ]
            with self._lock, self._transaction() as connection:
                self._keep(connection, _embeddings, rows)

    def accounts(
        self, by: Sequence[str] = ("stage", "role", "model"), *, run: str | None = None
    ) -> list[AccountRow]:
        """The accounts by any of run, stage, role, domain, assistant, model and prompt, in their order; of
        one run, or of all."""
        unknown = set(by) - {*_BOOKED, "prompt"}
        if unknown:
            raise BadSettings(
                f"the accounts are by {', '.join(_BOOKED)} and prompt, not by {', '.join(sorted(unknown))}"
            )
        self.flush()
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        with self._lock:
            for query in (_used(by, run), _failed(by, run)):
                for row in self._read(query):
                    numbers = dict(row._mapping)
                    names = tuple(numbers.pop(name) for name in by)
                    found.setdefault(names, {}).update(numbers)
        return [AccountRow(dict(zip(by, names, strict=True)), **found[names]) for names in sorted(found)]

    def _tell(self, event: Event, request: ChatRequest, account: Account) -> None:
        if self.on_use is not None:
            self.on_use(event, request, account)

    def _book(self, table: sa.Table, line: dict[str, Any]) -> None:
        with self._lock:
            self._pending[table].append(line)
            if len(self._pending[table]) >= BULK:
                self.flush()

    def _keep(self, connection: Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows; what is there already under the same key stays."""
        statement, names = self._inserts[table]
        given: list[Any] = [
            dict(row) if names is None else tuple(row[name] for name in names) for row in rows
        ]
        connection.exec_driver_sql(statement, given)

    def _read(
        self, query: sa.Executable, parameters: Mapping[str, Any] | None = None
    ) -> Sequence[sa.Row[Any]]:
        self._mine()
        try:
            return self._connection.execute(query, parameters or {}).fetchall()
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            self._connection = self._reader()  # the server was restarted
            return self._connection.execute(query, parameters or {}).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        self._mine()
        try:
            with self._engine.begin() as connection:
                yield connection
        except OperationalError as error:
            if not _is_locked(error):
                raise
            raise StoreBusy(
                f"the ledger {_shown(self.url)} was held by another process for {BUSY:g} s; "
                "end that one, and run again"
            ) from error

    def _mine(self) -> None:
        """After a fork the connections are the parent's: leave them to it, and open our own."""
        if self._process != os.getpid():
            self._engine.dispose(close=False)
            for lines in self._pending.values():
                lines.clear()  # the parent writes them
            self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._engine = _engine(self.url)
        self._inserts = {table: _insert(self._engine, table) for table in _tables.sorted_tables}
        self._connection = self._reader()

    def _reader(self) -> Connection:
        # Reading runs outside of transactions, on a connection of its own: it always sees the latest state.
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")


def _engine(url: str) -> Engine:
    """An engine whose database has the tables, whoever else may be making them at this moment."""
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            if not parsed.database or parsed.database == ":memory:":
                raise BadSettings(
                    "a ledger in memory is memflow.chat.ledger.MemoryLedger; give the SQLite URL a path"
                )
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            engine = sa.create_engine(parsed, connect_args={"timeout": BUSY})
            sa.event.listen(engine, "connect", _prepare_sqlite)
        else:
            engine = sa.create_engine(parsed, pool_pre_ping=True)
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_SCHEMA_LOCK)))
            for table in _tables.sorted_tables:
                connection.execute(CreateTable(table, if_not_exists=True))
                for index in sorted(table.indexes, key=lambda index: str(index.name)):
                    connection.execute(CreateIndex(index, if_not_exists=True))
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, DBAPIError, OSError) as error:
        raise BadSettings(
            f"the ledger {_shown(url)} cannot be opened: {error}; mend `ledger` in memflow.toml"
        ) from error
    return engine


def _insert(engine: Engine, table: sa.Table) -> tuple[str, Sequence[str] | None]:
    """The driver's own statement that inserts a row, and the order of its values; None where it takes them by
    name.

    Compiled once: SQLAlchemy compiles an insert that minds conflicts anew each time, which takes longer than
    it.
    """
    kind = postgresql if engine.dialect.name == "postgresql" else sqlite
    values: dict[str, Any] = {
        column.name: sa.bindparam(column.name) for column in table.columns if not _counted(column)
    }
    compiled = kind.insert(table).values(values).on_conflict_do_nothing().compile(dialect=engine.dialect)
    return str(compiled), compiled.positiontup


def _counted(column: sa.Column[Any]) -> bool:
    """Whether the database counts it up by itself."""
    return column.primary_key and isinstance(column.type, sa.Integer)


def _prepare_sqlite(connection: Any, _: object) -> None:
    """Readers beside a writer, and commits that outlive this process (a power cut may cost the last)."""
    over = time.monotonic() + BUSY
    while True:
        try:
            # Another process that does the same to a new file is not waited for by SQLite itself.
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > over:
                raise
            time.sleep(0.02)
    connection.execute("PRAGMA synchronous = NORMAL")


def _is_locked(error: DBAPIError) -> bool:
    return any(word in str(error.orig) for word in ("locked", "busy"))


def _shown(url: str) -> str:
    """The URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(its URL is not one)"


def _packed(messages: Iterable[ChatMessage]) -> bytes:
    said = [[message.role, message.content] for message in messages]
    return zlib.compress(json.dumps(said, separators=(",", ":")).encode(), 1)


def _line(request: ChatRequest, account: Account, at: float) -> dict[str, Any]:
    return {**{name: getattr(account, name) for name in _BOOKED}, "prompt": request.prompt, "at": at}


def _used(by: Sequence[str], run: str | None) -> sa.Select[Any]:
    names = [_uses.c[name] for name in by]
    columns = _completions.c
    asked = sa.case((_uses.c.kept, 0), else_=1)
    query = (
        sa.select(
            *names,
            sa.func.sum(asked).label("asked"),
            sa.func.sum(1 - asked).label("kept"),
            sa.func.sum(columns.prompt_tokens).label("prompt_tokens"),
            sa.func.sum(columns.completion_tokens).label("completion_tokens"),
            sa.func.sum(columns.cached_tokens).label("cached_tokens"),
            sa.func.sum(columns.latency_s).label("latency_s"),
            sa.func.sum(columns.prompt_tokens * asked).label("paid_prompt_tokens"),
            sa.func.sum(columns.completion_tokens * asked).label("paid_completion_tokens"),
        )
        .join_from(_uses, _completions, _uses.c.digest == columns.digest)
        .group_by(*names)
    )
    return query if run is None else query.where(_uses.c.run == run)


def _failed(by: Sequence[str], run: str | None) -> sa.Select[Any]:
    names = [_failures.c[name] for name in by]
    query = sa.select(*names, sa.func.count().label("failed")).select_from(_failures).group_by(*names)
    return query if run is None else query.where(_failures.c.run == run)
