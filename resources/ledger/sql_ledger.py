"""The ledger in a database: SQLite in WAL mode, or PostgreSQL if several machines share it.

Implements memflow.chat.ledger.Ledger: completions, their uses, failed requests; and embedding vectors. Keys, headers
and addresses are not stored. Several processes may write concurrently; a killed process loses no stored completion.
writer.py writes, lookups.py batches lookups, tables.py defines the tables.
"""

import asyncio
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memflow.chat.ledger import RequestContext, RequestsInFlight
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from memflow.errors import BadSettings, DamagedRow
from memflow.resources.ledger.database import explained_errors, open_engine, open_reader
from memflow.resources.ledger.lookups import LookupBatcher
from memflow.resources.ledger.reading import (
    RecordedRequest,
    read_completions,
    read_messages,
    read_requests,
    read_vectors,
)
from memflow.resources.ledger.rows import Record, compress_messages
from memflow.resources.ledger.statements import InsertStatement
from memflow.resources.ledger.tables import completions, embeddings, uses
from memflow.resources.ledger.usage import (
    GROUPS,
    UsageRow,
    unfinished_by,
    used_by,
)
from memflow.resources.ledger.writer import LedgerWriter
from memflow.resources.models.cached_embedder import TimedVector
from memflow.resources.reconnect import repeat_if_lost

T = TypeVar("T")


class SqlLedger:
    """A ledger at a SQLAlchemy URL, such as sqlite:////path/ledger.sqlite or postgresql+psycopg2://host/name.

    Threads and event loops may share it; a forked process opens new connections and a new writer. Raises BadSettings if
    the database cannot be opened, StoreBusy if another process locks it for too long, and StoreFailed if its disk is
    full or the connection is lost.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.in_flight = RequestsInFlight()
        self._open()

    def __reduce__(self) -> tuple[Any, ...]:
        return SqlLedger, (self.url,)  # a connection belongs to its process

    def __enter__(self) -> "SqlLedger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def get(self, digest: str) -> Completion | None:
        """Return the completion of the request with this digest, or None. Concurrent lookups share one query.

        Raises DamagedRow if the stored row has impossible values.
        """
        self._reopen_after_fork()
        loop = asyncio.get_running_loop()
        lookups = self._lookups.get(loop) or self._lookups.setdefault(loop, LookupBatcher(self._find))
        return await lookups.find(digest)

    def put(
        self, completion: Completion, request: ChatRequest, account: RequestContext
    ) -> asyncio.Future[Completion]:
        """Store a completion and its use in one transaction. Return a future of the stored completion.

        If the ledger already has a completion of this request, that completion is kept and returned.
        """
        self._reopen_after_fork()
        messages = compress_messages(request)
        return self._writer.store(Record(request, account, time.time(), completion, messages=messages))

    def record_cache_hit(self, completion: Completion, request: ChatRequest, account: RequestContext) -> None:
        """Record a cache hit, which is written with the next commit."""
        self._reopen_after_fork()
        self._writer.add(Record(request, account, time.time(), completion, cached=True))

    def record_failure(self, request: ChatRequest, account: RequestContext, error: Exception) -> None:
        """Record a failed request, which is written with the next commit."""
        self._reopen_after_fork()
        self._writer.add(Record(request, account, time.time(), error=error))

    def flush(self) -> None:
        """Write all pending records to the database."""
        self._reopen_after_fork()
        self._writer.flush()

    def close(self) -> None:
        """Write all pending records, and close the database."""
        self._reopen_after_fork()
        try:
            self._writer.close()
        finally:
            self._engine.dispose()
            self._reader.dispose()

    def messages(self, digest: str) -> tuple[ChatMessage, ...]:
        """Return the messages of the request with this digest. Raises KeyError if it is unknown, and DamagedRow."""
        messages = self._repeat(lambda connection: read_messages(connection, digest))
        if messages is None:
            raise KeyError(digest)
        return messages

    def requests(self, digests: Sequence[str]) -> dict[str, RecordedRequest]:
        """Return the recorded requests with these digests, by digest, without unknown ones. Raises DamagedRow."""
        return self._repeat(lambda connection: read_requests(connection, digests))

    def run_starts(self, runs: Collection[str]) -> dict[str, float]:
        """Return each run's time of its first request, in seconds since 1970; runs without requests are omitted."""
        query = sa.select(uses.c.run, sa.func.min(uses.c.at)).where(uses.c.run.in_(sorted(runs)))
        return {run: at for run, at in self._all(query.group_by(uses.c.run))}

    def digests(self) -> set[str]:
        """Return the request digests of all completions."""
        return self._repeat(lambda connection: set(connection.scalars(sa.select(completions.c.digest))))

    def vectors(self, digests: Sequence[str]) -> dict[str, TimedVector]:
        """Return cached vectors by content hash of model and text, without missing ones. Raises DamagedRow."""
        return self._repeat(lambda connection: read_vectors(connection, digests))

    def keep_vectors(self, vectors: Mapping[str, TimedVector]) -> None:
        """Cache vectors and their seconds by content hash of model and text; an already cached vector is kept."""
        rows = [
            (digest, np.asarray(vector, dtype="<f4").tobytes(), float(seconds))
            for digest, (vector, seconds) in sorted(vectors.items())
        ]
        statement = InsertStatement(self._engine, embeddings, ("digest", "vector", "seconds"))
        self._repeat(lambda connection: statement.execute(connection, rows), transaction=True)

    def usage(
        self, by: Sequence[str] = ("stage", "role", "model"), *, runs: Collection[str] | None = None
    ) -> list[UsageRow]:
        """Return the usage of the given runs (default: all), grouped by the columns `by`."""
        return self._summarize(by, used_by(_checked(by), runs))

    def unfinished(self, run: str, stage: str) -> int:
        """Return the number of failed requests of one stage of a run that a later run has to send again."""
        self.flush()
        return self._repeat(lambda connection: connection.scalar(unfinished_by(run, stage))) or 0

    def _summarize(self, by: Sequence[str], *queries: sa.Select[Any]) -> list[UsageRow]:
        self.flush()
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        for query in queries:
            for row in self._all(query):
                numbers = dict(row._mapping)
                names = tuple(numbers.pop(name) for name in by)
                found.setdefault(names, {}).update(numbers)
        return [UsageRow(dict(zip(by, names, strict=True)), **found[names]) for names in sorted(found)]

    def _all(self, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        return self._repeat(lambda connection: connection.execute(query).all())

    async def _find(self, digests: Sequence[str]) -> Mapping[str, Completion | DamagedRow]:
        # A query on SQLite takes less time than its way to another thread and back.
        if self._engine.dialect.name == "sqlite":
            return self._read(digests)
        return await asyncio.to_thread(self._read, digests)

    def _read(self, digests: Sequence[str]) -> Mapping[str, Completion | DamagedRow]:
        return self._repeat(lambda connection: read_completions(connection, digests))

    def _repeat(self, read: Callable[[Connection], T], *, transaction: bool = False) -> T:
        """Return the result of `read`, which is repeated if the connection to the server is lost."""

        def attempt() -> T:
            with self._engine.begin() if transaction else self._reader.connect() as connection:
                return read(connection)

        self._reopen_after_fork()
        with explained_errors(self.url):
            return attempt() if self._engine.dialect.name == "sqlite" else repeat_if_lost(attempt)

    @contextmanager
    def connect(self, *, transaction: bool = False) -> Iterator[Connection]:
        """Return a connection from the pool; without a transaction each statement sees the latest state."""
        self._reopen_after_fork()
        with (
            explained_errors(self.url),
            self._engine.begin() if transaction else self._reader.connect() as connection,
        ):
            yield connection

    def _reopen_after_fork(self) -> None:
        """Open new connections in a forked process; the parent process keeps its connections and pending records."""
        if self._process != os.getpid():
            self._engine.dispose(close=False)
            self._reader.dispose(close=False)
            self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._engine = open_engine(self.url)
        self._reader = open_reader(self.url)
        self._writer = LedgerWriter(self._engine, self.url)
        self._lookups: WeakKeyDictionary[asyncio.AbstractEventLoop, LookupBatcher] = WeakKeyDictionary()


def _checked(by: Sequence[str]) -> Sequence[str]:
    unknown = set(by) - {*GROUPS}
    if unknown:
        *others, last = GROUPS
        raise BadSettings(
            f"usage cannot be grouped by {', '.join(sorted(unknown))}. Use {', '.join(others)} or {last}."
        )
    return by
