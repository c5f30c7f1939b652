"""The verification of a ledger, and the repair of values that can be recomputed: `memflow ledger verify`.

maintenance.py shows the contents of a ledger and deletes completions.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memflow.chat.requests import End
from memflow.errors import ChatError
from resources.ledger.rows import decompress_messages
from resources.ledger.tables import SUMS, completions, failures, usage_totals, uses
from resources.ledger.usage import GROUPS, computed_totals, fill_totals

STORED_ENDS = ("answered", "cut")
"""The ends of completions. The other ends of memflow.chat.requests.End are ends of failures."""
EXAMPLES = 3
"""Number of digests that a problem names."""
_DIGEST = re.compile(r"[0-9a-f]{32}")
_BATCH = 1000


@dataclass
class LedgerProblem:
    """One kind of fault in a ledger: its number of rows, some digests, and the command that repairs it."""

    name: str
    command: str
    rows: int = 0
    digests: list[str] = field(default_factory=list)

    def add(self, digest: str) -> None:
        """Count a faulty row."""
        self.rows += 1
        if len(self.digests) < EXAMPLES:
            self.digests.append(digest)


def problems(connection: Connection) -> list[LedgerProblem]:
    """Return the problems in the whole ledger."""
    forget = "memflow ledger forget --digest DIGEST"
    kinds = {
        name: LedgerProblem(name, command)
        for name, command in (
            ("malformed digest", forget),
            ("undecodable messages", forget),
            ("unknown end", forget),
            ("negative token count", forget),
            ("use of a missing completion", "memflow ledger verify --repair"),
            ("failure with an unknown end", "memflow ledger verify --repair"),
            ("total that differs from its sum", "memflow ledger verify --repair"),
        )
    }
    columns = completions.c
    numbers = (
        columns.prompt_tokens,
        columns.completion_tokens,
        columns.cached_tokens,
        columns.reasoning_tokens,
    )
    for digest, messages, end, *tokens in _stream(
        connection, sa.select(columns.digest, columns.messages, columns.end, *numbers)
    ):
        if not _DIGEST.fullmatch(digest):
            kinds["malformed digest"].add(digest)
        if not _decodable(messages):
            kinds["undecodable messages"].add(digest)
        if end not in STORED_ENDS:
            kinds["unknown end"].add(digest)
        if min(tokens) < 0:
            kinds["negative token count"].add(digest)
    for digest in connection.scalars(sa.select(uses.c.digest).where(orphaned())):
        kinds["use of a missing completion"].add(digest)
    unknown = sa.select(failures.c.failure).where(failures.c.end.not_in(known_failure_ends()))
    for number in connection.scalars(unknown):
        kinds["failure with an unknown end"].add(str(number))
    for group in _wrong_totals(connection):
        kinds["total that differs from its sum"].add(" ".join(filter(None, group)))
    return [problem for problem in kinds.values() if problem.rows]


def repair(connection: Connection) -> None:
    """Delete uses of missing completions, give unknown failures the end `failed`, and compute the totals again."""
    connection.execute(sa.delete(uses).where(orphaned()))
    unknown = failures.c.end.not_in(known_failure_ends())
    connection.execute(sa.update(failures).where(unknown).values(end=ChatError.end))
    fill_totals(connection)


def known_failure_ends() -> list[str]:
    """Return the possible ends of failed requests: `end` of the chat errors, and the ends that are no completions."""
    kinds, ends = [ChatError], set(get_args(End)) - {*STORED_ENDS}
    for kind in kinds:
        kinds += kind.__subclasses__()
        ends.add(kind.end)
    return sorted(ends)


def orphaned() -> sa.ColumnElement[bool]:
    """Return the condition that the completion of a use is missing."""
    return ~sa.exists().where(completions.c.digest == uses.c.digest)


def _stream(connection: Connection, query: sa.Select[Any]) -> Iterator[Sequence[Any]]:
    yield from connection.execution_options(yield_per=_BATCH).execute(query)


def _decodable(messages: bytes) -> bool:
    try:
        return bool(decompress_messages(messages))
    except (pa.ArrowException, OSError, zlib.error, ValueError, TypeError):
        return False


def _wrong_totals(connection: Connection) -> Iterator[tuple[str, ...]]:
    """Yield the groups whose stored totals differ from the sums of their rows."""
    stored = _by_group(connection, sa.select(*(usage_totals.c[name] for name in (*GROUPS, *SUMS))))
    computed = _by_group(connection, computed_totals())
    for group in sorted(stored.keys() | computed.keys()):
        pairs = zip(stored.get(group, ()), computed.get(group, ()), strict=False)
        if group not in stored or group not in computed or any(abs(a - b) > 1e-6 * abs(a) for a, b in pairs):
            yield group


def _by_group(connection: Connection, query: sa.Select[Any]) -> dict[tuple[str, ...], tuple[float, ...]]:
    return {
        tuple(row[: len(GROUPS)]): tuple(float(number) for number in row[len(GROUPS) :])
        for row in connection.execute(query)
    }
