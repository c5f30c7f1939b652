"""The ledger in a database: SQLite in WAL mode, or PostgreSQL if several machines share it.

SqlLedger stores completions, their uses, failed requests and embedding vectors, but no keys, headers or addresses.
Several processes may write concurrently; a killed process loses no stored completion.
"""

import json
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import Any, Literal

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, OperationalError

from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, schema_digest
from memflow.errors import BadSettings, StoreBusy
from resources.embedder import TimedVector
from resources.ledger_tables import (
    BUSY_TIMEOUT_S,
    CONTEXT_COLUMNS,
    completions,
    embedding_times,
    embeddings,
    failures,
    insert_into,
    is_locked,
    open_engine,
    tables,
    uses,
    without_password,
)
from resources.usage import UsageRow, failed_by, needed_by, used_by

BULK = 500
"""Maximum number of uses and failures that are buffered for one transaction."""

_ANSWER = tuple(each.name for each in fields(Completion) if each.name != "digest")
_SELECT = sa.select(*(completions.c[name] for name in (*_ANSWER, "digest"))).where(
    completions.c.digest == sa.bindparam("key")
)

Event = Literal["asked", "kept", "failed"]


class SqlLedger:
    """A ledger at a SQLAlchemy URL, such as sqlite:////path/ledger.sqlite or postgresql+psycopg2://host/name.

    `on_use` is called after each request, to report progress. Raises BadSettings if the database cannot be opened,
    StoreBusy if another process locks it for too long.
    """

    def __init__(
        self, url: str, on_use: Callable[[Event, ChatRequest, RequestContext], None] | None = None
    ) -> None:
        self.url = url
        self.on_use = on_use
        self._lock = threading.RLock()
        self._connection: Connection
        self._pending: dict[sa.Table, list[dict[str, Any]]] = {uses: [], failures: []}
        self._open()

    def __reduce__(self) -> tuple[Any, ...]:
        return SqlLedger, (self.url,)  # a connection belongs to its process

    def __enter__(self) -> "SqlLedger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, digest: str) -> Completion | None:
        """Return the completion of a request digest, or None."""
        statement, positional = self._select
        with self._lock:
            rows = self._read(statement, (digest,) if positional else {"key": digest})
        return Completion(*rows[0]) if rows else None

    def put(self, digest: str, request: ChatRequest, completion: Completion, account: RequestContext) -> None:
        """Store a completion and its use in one transaction. Do not replace an existing completion of the digest."""
        now = time.time()
        kept = {
            "digest": digest,
            "prompt": request.prompt,
            "model": account.model,
            "messages": _compressed(request.messages),
            "parameters": json.dumps(asdict(request.sampling)),
            "schema": None if request.output is None else schema_digest(request.output),
            "attempt": request.attempt,
            **{name: getattr(completion, name) for name in _ANSWER},
            "asked_at": now,
        }
        use = {**_use_row(request, account, now), "digest": digest, "kept": False}
        with self._lock, self._transaction() as connection:
            self._insert(connection, completions, [kept])
            self._insert(connection, uses, [use])
        self._notify("asked", request, account)

    def used(self, digest: str, request: ChatRequest, account: RequestContext) -> None:
        """Record a cache hit. The record is buffered and written later."""
        self._buffer(uses, {**_use_row(request, account, time.time()), "digest": digest, "kept": True})
        self._notify("kept", request, account)

    def failed(self, request: ChatRequest, account: RequestContext, reason: str) -> None:
        """Record a failed request. The record is buffered and written later."""
        self._buffer(failures, {**_use_row(request, account, time.time()), "reason": reason})
        self._notify("failed", request, account)

    def flush(self) -> None:
        """Write the buffered uses and failures."""
        with self._lock:
            if not any(self._pending.values()):
                return
            with self._transaction() as connection:
                for table, lines in self._pending.items():
                    if lines:
                        self._insert(connection, table, lines)
            for lines in self._pending.values():
                lines.clear()

    def close(self) -> None:
        """Write the buffered records and close the database."""
        with self._lock:
            self.flush()
            self._connection.close()
            self._engine.dispose()

    def messages(self, digest: str) -> tuple[ChatMessage, ...]:
        """Return the messages of a request. Raises KeyError if the digest is unknown."""
        with self._lock:
            rows = self._read(sa.select(completions.c.messages).where(completions.c.digest == digest))
        if not rows:
            raise KeyError(digest)
        return tuple(ChatMessage(role, content) for role, content in json.loads(zlib.decompress(rows[0][0])))

    def digests(self) -> set[str]:
        """Return the digests of all completions."""
        with self._lock:
            return {row[0] for row in self._read(sa.select(completions.c.digest))}

    def vectors(self, digests: Sequence[str]) -> dict[str, TimedVector]:
        """Return the cached vectors of these digests; vectors stored by an older version have 0 seconds."""
        found: dict[str, TimedVector] = {}
        timed = sa.select(embeddings, embedding_times.c.seconds).join(
            embedding_times, embeddings.c.digest == embedding_times.c.digest, isouter=True
        )
        for start in range(0, len(digests), 500):  # SQLite bounds the parameters of a statement
            some = list(digests[start : start + 500])
            with self._lock:
                rows = self._read(timed.where(embeddings.c.digest.in_(some)))
            found.update(
                (digest, TimedVector(np.frombuffer(vector, dtype="<f4"), seconds or 0.0))
                for digest, vector, seconds in rows
            )
        return found

    def keep_vectors(self, vectors: Mapping[str, TimedVector]) -> None:
        """Cache vectors and their seconds by digest. Do not replace an existing vector of a digest."""
        if vectors:
            rows = [
                {"digest": digest, "vector": np.asarray(vector, dtype="<f4").tobytes()}
                for digest, (vector, _) in vectors.items()
            ]
            times = [{"digest": digest, "seconds": seconds} for digest, (_, seconds) in vectors.items()]
            with self._lock, self._transaction() as connection:
                self._insert(connection, embeddings, rows)
                self._insert(connection, embedding_times, times)

    def usage(
        self, by: Sequence[str] = ("stage", "role", "model"), *, run: str | None = None
    ) -> list[UsageRow]:
        """Return the usage, grouped by any of run, stage, role, domain, assistant, model and prompt; of one run or of
        all.
        """
        return self._summarize(by, used_by, run)

    def needed(self, by: Sequence[str], run: str) -> list[UsageRow]:
        """Return the usage of one run as if the ledger had been empty: each answer counts once, as a request."""
        return self._summarize(by, needed_by, run)

    def _summarize(
        self, by: Sequence[str], of: Callable[[Sequence[str], Any], sa.Select[Any]], run: str | None
    ) -> list[UsageRow]:
        unknown = set(by) - {*CONTEXT_COLUMNS, "prompt"}
        if unknown:
            raise BadSettings(
                f"usage cannot be grouped by {', '.join(sorted(unknown))}. Use "
                f"{', '.join(CONTEXT_COLUMNS)} or prompt."
            )
        self.flush()
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        with self._lock:
            for query in (of(by, run), failed_by(by, run)):
                for row in self._read(query):
                    numbers = dict(row._mapping)
                    names = tuple(numbers.pop(name) for name in by)
                    found.setdefault(names, {}).update(numbers)
        return [UsageRow(dict(zip(by, names, strict=True)), **found[names]) for names in sorted(found)]

    def _notify(self, event: Event, request: ChatRequest, account: RequestContext) -> None:
        if self.on_use is not None:
            self.on_use(event, request, account)

    def _buffer(self, table: sa.Table, line: dict[str, Any]) -> None:
        with self._lock:
            self._pending[table].append(line)
            if len(self._pending[table]) >= BULK:
                self.flush()

    def _insert(self, connection: Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows. Do not replace existing rows with the same key."""
        statement, names = self._inserts[table]
        given: list[Any] = [
            dict(row) if names is None else tuple(row[name] for name in names) for row in rows
        ]
        connection.exec_driver_sql(statement, given)

    def _read(self, query: sa.Executable | str, parameters: Any = None) -> Sequence[sa.Row[Any]]:
        """Return the rows of a query or compiled statement. Reconnect once if the server was restarted."""

        def read() -> Sequence[sa.Row[Any]]:
            if isinstance(query, str):
                return self._connection.exec_driver_sql(query, parameters).fetchall()
            return self._connection.execute(query).fetchall()

        self._reopen_after_fork()
        try:
            return read()
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            self._connection = self._reader()
            return read()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        self._reopen_after_fork()
        try:
            with self._engine.begin() as connection:
                yield connection
        except OperationalError as error:
            if not is_locked(error):
                raise
            raise StoreBusy(
                f"another process locked the ledger {without_password(self.url)} for {BUSY_TIMEOUT_S:g} s. End that "
                "process, then rerun."
            ) from error

    def _reopen_after_fork(self) -> None:
        """Open new connections in a forked process; the parent's connections stay open in the parent."""
        if self._process != os.getpid():
            self._engine.dispose(close=False)
            for lines in self._pending.values():
                lines.clear()  # the parent writes them
            self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._engine = open_engine(self.url)
        self._inserts = {table: insert_into(self._engine, table) for table in tables.sorted_tables}
        kept = _SELECT.compile(dialect=self._engine.dialect)
        self._select = str(kept), kept.positiontup is not None
        self._connection = self._reader()

    def _reader(self) -> Connection:
        # Reads use a separate connection outside of transactions, so that they see the latest state.
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")


def _compressed(messages: Iterable[ChatMessage]) -> bytes:
    said = [[message.role, message.content] for message in messages]
    return zlib.compress(json.dumps(said, separators=(",", ":")).encode(), 1)


def _use_row(request: ChatRequest, account: RequestContext, at: float) -> dict[str, Any]:
    return {**{name: getattr(account, name) for name in CONTEXT_COLUMNS}, "prompt": request.prompt, "at": at}
