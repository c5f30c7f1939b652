"""Checksums of the ledger's rows, so that a damaged row is never used: 64 bits of BLAKE2b as a signed integer.

A checksum covers the stored values of a row. rows.py stores checksums, reading.py compares them, and former_rows.py
computes those of rows that a former version stored. SQLite itself verifies no page of a database.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from memflow.chat.requests import Completion
from memflow.errors import DamagedRow

REPAIR = "Run `memflow ledger verify --repair`, which moves damaged rows aside, then rerun."

_PIECE = 2047
"""The most bytes that are hashed without releasing the interpreter lock. After each release, the ledger's writer thread
would wait until the event loop releases the lock, which takes longer than hashing."""


def answer_checksum(answer: Completion) -> int:
    """Return the checksum of a completion with all its fields."""
    fields = (
        f"{answer.digest} {answer.finish_reason!r} {answer.prompt_tokens} {answer.completion_tokens} "
        f"{answer.cached_tokens} {float(answer.latency_s)!r} {answer.end} {answer.reasoning_tokens} "
        f"{answer.estimated:d}\n"
    )
    return _number(blake2b((fields + answer.text).encode("utf-8", "surrogatepass"), digest_size=8))


def request_checksum(digest: str, values: Sequence[Any], messages: bytes) -> int:
    """Return the checksum of a stored request: its digest, its other columns, and its compressed messages."""
    hashed = blake2b(f"{digest} {(*values,)!r}\n".encode("utf-8", "surrogatepass"), digest_size=8)
    for start in range(0, len(messages), _PIECE):
        hashed.update(messages[start : start + _PIECE])
    return _number(hashed)


def vector_checksum(digest: str, vector: bytes, *, timed: bool) -> int:
    """Return the checksum of an embedding vector; `timed` if its seconds are stored, in a row of another table."""
    hashed = blake2b(digest.encode("utf-8", "surrogatepass") + vector, digest_size=8)
    if timed:
        hashed.update(b" timed")
    return _number(hashed)


def seconds_checksum(digest: str, seconds: float) -> int:
    """Return the checksum of the seconds of an embedding."""
    return _number(blake2b(f"{digest} {float(seconds)!r}".encode("utf-8", "surrogatepass"), digest_size=8))


def damaged_row(digest: str, kind: str = "completion") -> DamagedRow:
    """Return the exception for a row whose content differs from its checksum."""
    return DamagedRow(
        f"the ledger's {kind} of the request {digest} is damaged: it differs from its checksum. {REPAIR}"
    )


def _number(hashed: "blake2b") -> int:
    return int.from_bytes(hashed.digest(), "little", signed=True)
