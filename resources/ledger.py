"""The ledger in a database: SQLite in WAL mode by default, PostgreSQL where several machines share it.

It keeps memflow.chat.ledger.Ledger: every answered request, who used it, and what was given up; and the
vectors that an endpoint embedded. The accounts are drawn up from it. No key, no header and no address is ever
written. Several processes may write at once; a process killed at any point loses no answer that `put` has
returned for.
"""

import json
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, OperationalError

from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, schema_digest
from memflow.errors import BadSettings, StoreBusy
from resources.embedder import Embedded
from resources.ledger_tables import (
    BOOKED,
    BUSY,
    completions,
    embedding_times,
    embeddings,
    failures,
    insert_into,
    is_locked,
    open_engine,
    shown,
    tables,
    uses,
)
from resources.usage import UsageRow, failed_by, needed_by, used_by

BULK = 500
"""Uses and failures that are held back at most, to be written in one transaction."""

_KEPT = sa.select(
    completions.c.text,
    completions.c.finish_reason,
    completions.c.prompt_tokens,
    completions.c.completion_tokens,
    completions.c.cached_tokens,
    completions.c.latency_s,
    completions.c.digest,
).where(completions.c.digest == sa.bindparam("key"))

Event = Literal["asked", "kept", "failed"]


class SqlLedger:
    """A ledger at a SQLAlchemy URL, such as sqlite:////path/ledger.sqlite or postgresql+psycopg2://host/name.

    `on_use` is called with what happened to each request as it happens: for progress. Raises BadSettings when
    the database cannot be opened, StoreBusy when others hold it for too long.
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
        return SqlLedger, (self.url,)  # connections stay where they were made

    def __enter__(self) -> "SqlLedger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, digest: str) -> Completion | None:
        """The completion under `digest`, or None."""
        statement, by_place = self._kept
        with self._lock:
            rows = self._read(statement, (digest,) if by_place else {"key": digest})
        return Completion(*rows[0]) if rows else None

    def put(self, digest: str, request: ChatRequest, completion: Completion, account: RequestContext) -> None:
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
            self._keep(connection, completions, [kept])
            self._keep(connection, uses, [use])
        self._tell("asked", request, account)

    def used(self, digest: str, request: ChatRequest, account: RequestContext) -> None:
        """Book that a kept completion was used once more. Written in bulk."""
        self._book(uses, {**_line(request, account, time.time()), "digest": digest, "kept": True})
        self._tell("kept", request, account)

    def failed(self, request: ChatRequest, account: RequestContext, reason: str) -> None:
        """Book that a request was given up. Written in bulk."""
        self._book(failures, {**_line(request, account, time.time()), "reason": reason})
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
            rows = self._read(sa.select(completions.c.messages).where(completions.c.digest == digest))
        if not rows:
            raise KeyError(digest)
        return tuple(ChatMessage(role, content) for role, content in json.loads(zlib.decompress(rows[0][0])))

    def digests(self) -> set[str]:
        """The digests of all that is kept."""
        with self._lock:
            return {row[0] for row in self._read(sa.select(completions.c.digest))}

    def vectors(self, digests: Sequence[str]) -> dict[str, Embedded]:
        """The kept vectors among `digests`; of one that an older memflow kept, nobody knows the seconds: they are 0."""
        found: dict[str, Embedded] = {}
        timed = sa.select(embeddings, embedding_times.c.seconds).join(
            embedding_times, embeddings.c.digest == embedding_times.c.digest, isouter=True
        )
        for start in range(0, len(digests), 500):  # SQLite bounds the parameters of a statement
            some = list(digests[start : start + 500])
            with self._lock:
                rows = self._read(timed.where(embeddings.c.digest.in_(some)))
            found.update(
                (digest, Embedded(np.frombuffer(vector, dtype="<f4"), seconds or 0.0))
                for digest, vector, seconds in rows
            )
        return found

    def keep_vectors(self, vectors: Mapping[str, Embedded]) -> None:
        """Keep vectors by digest, with their seconds; the first under a digest stays."""
        if vectors:
            rows = [
                {"digest": digest, "vector": np.asarray(vector, dtype="<f4").tobytes()}
                for digest, (vector, _) in vectors.items()
            ]
            times = [{"digest": digest, "seconds": seconds} for digest, (_, seconds) in vectors.items()]
            with self._lock, self._transaction() as connection:
                self._keep(connection, embeddings, rows)
                self._keep(connection, embedding_times, times)

    def usage(
        self, by: Sequence[str] = ("stage", "role", "model"), *, run: str | None = None
    ) -> list[UsageRow]:
        """Return the usage by any of run, stage, role, domain, assistant, model and prompt; of one run, or of all."""
        return self._summarize(by, used_by, run)

    def needed(self, by: Sequence[str], run: str) -> list[UsageRow]:
        """Return the usage of one run as if the ledger had been empty: each answer counts once, as a request."""
        return self._summarize(by, needed_by, run)

    def _summarize(
        self, by: Sequence[str], of: Callable[[Sequence[str], Any], sa.Select[Any]], run: str | None
    ) -> list[UsageRow]:
        unknown = set(by) - {*BOOKED, "prompt"}
        if unknown:
            raise BadSettings(
                f"the accounts are by {', '.join(BOOKED)} and prompt, not by {', '.join(sorted(unknown))}"
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

    def _tell(self, event: Event, request: ChatRequest, account: RequestContext) -> None:
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

    def _read(self, query: sa.Executable | str, parameters: Any = None) -> Sequence[sa.Row[Any]]:
        """The rows of a query, or of one that is in the driver's own words already."""

        def read() -> Sequence[sa.Row[Any]]:
            if isinstance(query, str):
                return self._connection.exec_driver_sql(query, parameters).fetchall()
            return self._connection.execute(query).fetchall()

        self._mine()
        try:
            return read()
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            self._connection = self._reader()  # the server was restarted
            return read()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        self._mine()
        try:
            with self._engine.begin() as connection:
                yield connection
        except OperationalError as error:
            if not is_locked(error):
                raise
            raise StoreBusy(
                f"the ledger {shown(self.url)} was held by another process for {BUSY:g} s; "
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
        self._engine = open_engine(self.url)
        self._inserts = {table: insert_into(self._engine, table) for table in tables.sorted_tables}
        kept = _KEPT.compile(dialect=self._engine.dialect)
        self._kept = str(kept), kept.positiontup is not None
        self._connection = self._reader()

    def _reader(self) -> Connection:
        # Reading runs outside of transactions, on a connection of its own: it always sees the latest state.
        return self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")


def _packed(messages: Iterable[ChatMessage]) -> bytes:
    said = [[message.role, message.content] for message in messages]
    return zlib.compress(json.dumps(said, separators=(",", ":")).encode(), 1)


def _line(request: ChatRequest, account: RequestContext, at: float) -> dict[str, Any]:
    return {**{name: getattr(account, name) for name in BOOKED}, "prompt": request.prompt, "at": at}
