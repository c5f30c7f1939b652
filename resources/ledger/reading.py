"""Queries of stored rows by digest. Each row is compared with its checksum.

The queries return what the driver returns, without SQLAlchemy's conversions, which raise their own errors for damaged
values. rows.py stores completions, lookups.py gathers lookups.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect

from memflow.chat.requests import ChatMessage, Completion
from memflow.errors import DamagedRow
from resources.endpoints.embedder import TimedVector
from resources.ledger.row_checksums import (
    answer_checksum,
    damaged_row,
    request_checksum,
    seconds_checksum,
    vector_checksum,
)
from resources.ledger.tables import (
    ANSWER_ROW,
    MAX_ROWS,
    REQUEST_ROW,
    completions,
    embedding_times,
    embeddings,
)

STORED_ENDS = ("answered", "cut")
"""The ends of completions. The other ends of memflow.chat.requests.End are ends of failures."""
_LZ4_FRAME = b"\x04\x22\x4d\x18"
_COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
_UNDECODABLE = (pa.ArrowException, OSError, zlib.error, TypeError, ValueError, AttributeError)

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
    found: dict[str, Completion | DamagedRow] = {}
    for digest, row in _rows_of(connection, completions, ANSWER_ROW, digests):
        answer = None if row is None else verified_answer(row)
        found[digest] = damaged_row(digest) if answer is None else answer
    return found


def read_requests(connection: Connection, digests: Sequence[str]) -> dict[str, RecordedRequest]:
    """Return the stored messages and completions of the requests with these digests, by digest.

    Raises DamagedRow.
    """
    found: dict[str, RecordedRequest] = {}
    names = (*ANSWER_ROW, *REQUEST_ROW)
    for digest, row in _rows_of(connection, completions, names, digests):
        answer = None if row is None else verified_answer(row[: len(ANSWER_ROW)])
        messages = None if row is None else verified_messages(row[len(ANSWER_ROW) :])
        if answer is None or messages is None:
            raise damaged_row(digest)
        found[digest] = RecordedRequest(messages, answer)
    return found


def read_messages(connection: Connection, digest: str) -> tuple[ChatMessage, ...] | None:
    """Return the messages of the request with this digest, or None. Raises DamagedRow."""
    for _, row in _rows_of(connection, completions, REQUEST_ROW, [digest]):
        messages = None if row is None else verified_messages(row)
        if messages is None:
            raise damaged_row(digest)
        return messages
    return None


def read_vectors(connection: Connection, digests: Sequence[str]) -> dict[str, TimedVector]:
    """Return the cached vectors by content hash; vectors of old ledgers have 0 seconds. Raises DamagedRow."""
    found: dict[str, TimedVector] = {}
    seconds: dict[str, float] = {}
    for digest, row in _rows_of(connection, embedding_times, ("digest", "seconds", "checksum"), digests):
        if row is None or not verified_seconds(row):
            raise damaged_row(digest, "embedding time")
        seconds[digest] = row[1]
    for digest, row in _rows_of(connection, embeddings, ("digest", "vector", "checksum"), digests):
        vector = None if row is None else verified_vector(row)
        if vector is None:
            raise damaged_row(digest, "vector")
        if digest not in seconds and row is not None and is_timed(row):
            raise damaged_row(digest, "embedding time")
        found[digest] = TimedVector(np.frombuffer(vector, dtype="<f4"), seconds.get(digest, 0.0))
    return found


def verified_answer(row: Row) -> Completion | None:
    """Return the completion in a row: its digest, the columns of a Completion, and its checksum; None if it is damaged.

    A row without a checksum was stored by a former version: it must have possible values.
    """
    _, *values, estimated, checksum = row
    try:
        answer = Completion(*(*values, bool(estimated)))
        if estimated not in (0, 1):
            return None
        if checksum is None:
            return answer if _possible(answer) else None
        return answer if answer_checksum(answer) == checksum else None
    except (TypeError, ValueError, AttributeError):  # values of other types
        return None


def verified_messages(row: Row) -> tuple[ChatMessage, ...] | None:
    """Return the messages in a row of a request and its checksum; None if the row is damaged."""
    digest, *others, messages, checksum = row
    try:
        written = bytes(messages)
        if checksum is not None and request_checksum(digest, others, written) != checksum:
            return None
        return decompress_messages(written)
    except _UNDECODABLE:
        return None


def decodable(messages: Any) -> bool:
    """Return whether compressed messages can be decompressed and are not empty."""
    try:
        return bool(decompress_messages(bytes(messages)))
    except _UNDECODABLE:
        return False


def verified_vector(row: Row) -> bytes | None:
    """Return the vector in a row of digest, vector and checksum; None if the row is damaged."""
    digest, vector, checksum = row
    try:
        written = bytes(vector)
        valid = checksum is None or checksum in (
            vector_checksum(digest, written, timed=timed) for timed in (True, False)
        )
    except (TypeError, AttributeError):
        return None
    return written if valid and len(written) % 4 == 0 and written else None


def is_timed(row: Row) -> bool:
    """Return whether the seconds of an undamaged vector are stored, too; ledgers of former versions lack some."""
    digest, vector, checksum = row
    return bool(vector_checksum(digest, bytes(vector), timed=True) == checksum)


def verified_seconds(row: Row) -> bool:
    """Return whether a row of digest, seconds and checksum is undamaged."""
    digest, seconds, checksum = row
    if not isinstance(seconds, float) or not isinstance(digest, str):
        return False
    return checksum is None or seconds_checksum(digest, seconds) == checksum


def decompress_messages(compressed: bytes) -> tuple[ChatMessage, ...]:
    """Return the messages in an LZ4 frame, or in the zlib format of older ledgers."""
    if compressed.startswith(_LZ4_FRAME):
        written = pa.CompressedInputStream(pa.BufferReader(compressed), "lz4").read()
    else:
        written = zlib.decompress(compressed)
    return tuple(ChatMessage(role, content) for role, content in json.loads(written))


def _rows_of(
    connection: Connection, table: sa.Table, names: tuple[str, ...], digests: Sequence[str]
) -> Iterator[tuple[str, Row | None]]:
    """Yield the stored rows with these digests. None stands for a row whose own digest is damaged."""
    for start in range(0, len(digests), MAX_ROWS):
        some = digests[start : start + MAX_ROWS]
        rows = _by_digest(connection, table, names, some)
        wanted = set(some)
        for digest, row in rows.items():
            if digest in wanted:
                yield digest, row
        if rows.keys() - wanted:  # the index led to a row with another digest
            for digest in wanted - rows.keys():
                if _by_digest(connection, table, names, [digest]):
                    yield digest, None


def _by_digest(
    connection: Connection, table: sa.Table, names: tuple[str, ...], digests: Sequence[str]
) -> Mapping[str, Row]:
    if not digests:
        return {}
    before, mark, after = _query(table, names, connection.dialect)
    statement = f"{before}{', '.join([mark] * len(digests))}{after}"
    rows = connection.exec_driver_sql(statement, tuple(digests)).fetchall()
    return {row[0]: tuple(row) for row in rows}


@lru_cache(maxsize=32)
def _query(table: sa.Table, names: tuple[str, ...], dialect: Dialect) -> tuple[str, str, str]:
    """Return the SQL of a query by digests before and after its placeholders, and the placeholder."""
    mark = "?" if dialect.paramstyle == "qmark" else "%s"
    columns = [table.c[name].label(f"column_{number}") for number, name in enumerate(names)]
    query = str(sa.select(*columns).compile(dialect=dialect))
    return f"{query} WHERE digest IN (", mark, ")"


def _possible(answer: Completion) -> bool:
    counts = [getattr(answer, name) for name in _COUNTS]
    return (
        answer.end in STORED_ENDS
        and isinstance(answer.text, str)
        and isinstance(answer.latency_s, float)
        and all(isinstance(count, int) and count >= 0 for count in counts)
    )
