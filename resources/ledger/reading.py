"""Queries of stored rows by digest. A row with impossible values is damaged, and never used.

The queries return what the driver returns, without SQLAlchemy's conversions, which raise their own errors for damaged
values. rows.py stores completions, lookups.py gathers lookups.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect

from memflow.chat.requests import ChatMessage, Completion
from memflow.errors import DamagedRow
from memflow.resources.ledger.tables import COMPLETION_COLUMNS, MAX_ROWS, completions, embeddings, uses
from memflow.resources.models.cached_embedder import TimedVector

STORED_ENDS = ("answered", "cut", "loop")
"""The ends of completions. The other ends of memflow.chat.requests.End are ends of failures."""
_COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A stored request: its messages and its completion."""

    messages: tuple[ChatMessage, ...]
    completion: Completion


def read_completions(connection: Connection, digests: Sequence[str]) -> dict[str, Completion | DamagedRow]:
    """Return the stored completions of the requests with these digests, by digest.

    The value of a damaged row is the exception to raise.
    """
    return {
        digest: valid_completion(values) or damaged_row(digest)
        for digest, *values in _rows_of(connection, completions, COMPLETION_COLUMNS, digests)
    }


def read_requests(connection: Connection, digests: Sequence[str]) -> dict[str, RecordedRequest]:
    """Return the stored messages and completions of the requests with these digests, by digest.

    Raises DamagedRow.
    """
    requests = {}
    for digest, messages, *values in _rows_of(
        connection, completions, ("messages", *COMPLETION_COLUMNS), digests
    ):
        completion = valid_completion(values)
        if completion is None:
            raise damaged_row(digest)
        requests[digest] = RecordedRequest(_messages(digest, messages), completion)
    return requests


def read_messages(connection: Connection, digest: str) -> tuple[ChatMessage, ...] | None:
    """Return the messages of the request with this digest; None if it is not stored. Raises DamagedRow."""
    for _, messages in _rows_of(connection, completions, ("messages",), [digest]):
        return _messages(digest, messages)
    return None


def read_judge_replies(
    connection: Connection, run: str, domain: str, assistant: str
) -> Sequence[sa.Row[Any]]:
    """Return the completions of the judges that a run used for an assistant, each with `judge`, its name."""
    query = (
        sa.select(uses.c.model.label("judge"), completions)
        .join_from(uses, completions, uses.c.digest == completions.c.digest)
        .where(uses.c.run == run, uses.c.role == "judge", uses.c.domain == domain)
        .where(uses.c.assistant == assistant)
        .distinct()
    )
    return connection.execute(query).all()


def read_vectors(connection: Connection, digests: Sequence[str]) -> dict[str, TimedVector]:
    """Return the cached vectors by content hash; missing ones are omitted. Raises DamagedRow."""
    vectors = {}
    for digest, stored, seconds in _rows_of(connection, embeddings, ("vector", "seconds"), digests):
        vector = valid_vector(stored)
        if vector is None or not isinstance(seconds, float):
            raise damaged_row(digest, "vector")
        vectors[digest] = TimedVector(vector, seconds)
    return vectors


def valid_completion(values: Row) -> Completion | None:
    """Return the completion with the values of COMPLETION_COLUMNS; None if one of them is impossible."""
    *others, estimated = values
    completion = Completion(*(*others, bool(estimated)))
    counts = [getattr(completion, name) for name in _COUNTS]
    is_possible = (
        completion.end in STORED_ENDS
        and type(completion.text) is str  # and no InvalidText
        and isinstance(completion.latency_s, float)
        and all(isinstance(count, int) and count >= 0 for count in counts)
        and estimated in (0, 1)
    )
    return completion if is_possible else None


def valid_vector(stored: Any) -> np.ndarray | None:
    """Return a stored vector; None if it is no sequence of finite numbers."""
    try:
        vector = np.frombuffer(stored, dtype="<f4")
    except (TypeError, ValueError):
        return None
    return vector if vector.size and np.isfinite(vector).all() else None


def decompress_messages(compressed: bytes) -> tuple[ChatMessage, ...]:
    """Return the messages in an LZ4 frame. Raises ValueError if it is damaged."""
    try:
        written = pa.CompressedInputStream(pa.BufferReader(compressed), "lz4").read()
        return tuple(ChatMessage(role, content) for role, content in json.loads(written))
    except (pa.ArrowException, OSError, TypeError) as error:
        raise ValueError(f"the messages cannot be decompressed: {error}") from error


def damaged_row(digest: str, kind: str = "completion") -> DamagedRow:
    """Return the exception for a row with impossible values."""
    return DamagedRow(
        f"the ledger's {kind} of the request {digest} is damaged. Delete it with `memflow ledger forget --digest "
        f"{digest}`, then rerun, which sends only this request again."
    )


def _messages(digest: str, compressed: Any) -> tuple[ChatMessage, ...]:
    try:
        return decompress_messages(compressed)
    except ValueError as error:
        raise damaged_row(digest) from error


def _rows_of(
    connection: Connection, table: sa.Table, names: tuple[str, ...], digests: Sequence[str]
) -> Iterator[Row]:
    """Yield the stored rows with these digests: the digest, and the columns `names`."""
    for start in range(0, len(digests), MAX_ROWS):
        some = digests[start : start + MAX_ROWS]
        before, mark, after = _query(table, names, connection.dialect)
        statement = f"{before}{', '.join([mark] * len(some))}{after}"
        yield from connection.exec_driver_sql(statement, tuple(some)).fetchall()


@lru_cache(maxsize=32)
def _query(table: sa.Table, names: tuple[str, ...], dialect: Dialect) -> tuple[str, str, str]:
    """Return the SQL of a query by digests before and after its placeholders, and the placeholder."""
    mark = "?" if dialect.paramstyle == "qmark" else "%s"
    columns = [table.c[name].label(f"column_{number}") for number, name in enumerate(("digest", *names))]
    query = str(sa.select(*columns).compile(dialect=dialect))
    return f"{query} WHERE digest IN (", mark, ")"
