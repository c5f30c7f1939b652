"""Records of requests in the ledger, and the transaction that stores many of them.

writer.py runs the transactions in a thread; statements.py has their SQL; reading.py reads the stored rows.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from operator import attrgetter

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatRequest, Completion, Sampling, schema_digest
from memflow.errors import ChatError, DamagedRow
from memflow.resources.ledger.reading import read_completions
from memflow.resources.ledger.statements import InsertStatement, Row
from memflow.resources.ledger.tables import (
    COMPLETION_COLUMNS,
    CONTEXT_COLUMNS,
    REQUEST_COLUMNS,
    SUMS,
    completions,
    failures,
    usage_totals,
    uses,
)
from memflow.resources.ledger.usage import GROUPS

_COLUMNS = (*COMPLETION_COLUMNS, *REQUEST_COLUMNS, "messages")
_answer_of = attrgetter(*COMPLETION_COLUMNS)
_context_of = attrgetter(*CONTEXT_COLUMNS)

_FAILURE = tuple(int(name == "failed") for name in SUMS)
"""What a failed request adds to the columns SUMS."""


@dataclass(slots=True)
class Record:
    """The ledger's record of a completion, a cache hit, or a failed request (without a completion)."""

    request: ChatRequest
    account: RequestContext
    at: float
    completion: Completion | None = None
    cached: bool = False
    error: Exception | None = None
    messages: bytes = b""
    """The compressed messages of a request whose completion is new."""
    stored: asyncio.Future[Completion] | None = None
    """Done when the record is stored, if something waits for it."""

    @property
    def groups(self) -> Row:
        """The record's values of the columns GROUPS, by which usage is summed."""
        return (*_context_of(self.account), self.request.prompt)


class RecordWriter:
    """Stores records in one transaction. Rows are sorted by key, so that concurrent transactions cannot deadlock."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._completions = InsertStatement(engine, completions, _COLUMNS)
        self._uses = InsertStatement(engine, uses, (*GROUPS, "digest", "kept", "at"))
        self._failures = InsertStatement(engine, failures, (*GROUPS, "reason", "end", "repeats", "at"))
        self._totals = InsertStatement(engine, usage_totals, (*GROUPS, *SUMS), sums=SUMS, key=GROUPS)

    def write(self, records: Sequence[Record]) -> Mapping[str, Completion | DamagedRow]:
        """Store records. Return the stored completions of those that are no cache hits, by request digest.

        A completion that another process stored before is kept and returned; the value of a damaged row is DamagedRow.
        """
        stored: dict[str, Completion | DamagedRow] = {}
        rows: dict[str, Row] = {}
        use_rows: list[Row] = []
        failure_rows: list[Row] = []
        for record in records:
            if record.completion is None:
                failure_rows.append(_failure_row(record))
                continue
            digest = record.completion.digest
            use_rows.append((*record.groups, digest, record.cached, record.at))
            if not record.cached and digest not in rows:
                stored[digest], rows[digest] = record.completion, _completion_row(record, record.completion)
        sorted_rows = [rows[digest] for digest in sorted(rows)]
        with self._engine.begin() as connection:
            if self._completions.execute(connection, sorted_rows) < len(rows):
                # Another process stored one of the completions since the lookup.
                stored.update(read_completions(connection, [*rows]))
            self._uses.execute(connection, use_rows)
            self._failures.execute(connection, failure_rows)
            self._totals.execute(connection, _total_rows(records, stored))
        return stored

    def read_if_stored(self, records: Sequence[Record]) -> Mapping[str, Completion | DamagedRow] | None:
        """Return the completions of committed records by request digest, as `write`; None if they are not committed."""
        with self._engine.connect() as connection:
            if not _is_stored(connection, records[0]):  # a transaction stores all records or none
                return None
            digests = {each.completion.digest for each in records if each.completion is not None}
            return read_completions(connection, sorted(digests))


def _is_stored(connection: Connection, record: Record) -> bool:
    """Return whether a record is in the ledger, by its run and its time in microseconds."""
    if record.completion is None:
        table, more = failures, [failures.c.reason == str(record.error)]
    else:
        table, more = uses, [uses.c.digest == record.completion.digest]
    query = sa.select(table.c.at).where(table.c.run == record.account.run, table.c.at == record.at, *more)
    return connection.execute(query.limit(1)).first() is not None


def _completion_row(record: Record, completion: Completion) -> Row:
    request = record.request
    schema = None if request.output is None else schema_digest(request.output)
    return (
        *_answer_of(completion),
        request.prompt,
        record.account.model,
        _parameters(request.sampling),
        schema,
        request.attempt,
        record.at,
        record.messages,
    )


def _failure_row(record: Record) -> Row:
    error = record.error
    failure = error if isinstance(error, ChatError) else ChatError()
    repeats = failure.repeats and not record.request.optional
    return (*record.groups, str(error), failure.end, repeats, record.at)


def _total_rows(records: Iterable[Record], stored: Mapping[str, Completion | DamagedRow]) -> list[Row]:
    """Return one row per group of records: the values of GROUPS, and of SUMS."""
    numbers: dict[Row, list[tuple[float, ...]]] = defaultdict(list)
    for record in records:
        numbers[record.groups].append(_numbers(record, stored))
    return [(*groups, *map(sum, zip(*numbers[groups], strict=True))) for groups in sorted(numbers)]


def _numbers(record: Record, stored: Mapping[str, Completion | DamagedRow]) -> tuple[float, ...]:
    """Return the values that a record adds to the columns SUMS."""
    given = record.completion
    if given is None:
        return _FAILURE
    earlier = given if record.cached else stored[given.digest]
    answer = given if isinstance(earlier, DamagedRow) else earlier
    prompt, completion = answer.prompt_tokens, answer.completion_tokens
    paid = (0, 0, 0) if record.cached else (prompt, answer.cached_tokens, completion)
    counts = (not record.cached, record.cached, 0, answer.cut, record.request.retry)
    tokens = (prompt, completion, answer.cached_tokens, answer.reasoning_tokens)
    return (*counts, *tokens, *paid, completion * record.request.retry, answer.latency_s)


@lru_cache(maxsize=256)
def _parameters(sampling: Sampling) -> str:
    return json.dumps(asdict(sampling))


def compress_messages(request: ChatRequest) -> bytes:
    """Return the messages of a request as JSON in an LZ4 frame.

    Callers compress before they add the record, since LZ4 takes a fifth of zlib's time. The writer's thread would wait
    milliseconds for the interpreter lock after each message while the event loop is busy.
    """
    written = request.messages_json.encode("utf-8", "surrogatepass")
    compressed: bytes = pa.compress(written, codec="lz4", asbytes=True)
    return compressed
