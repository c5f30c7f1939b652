"""The verification of a ledger, and the repair of what can be repaired: `memflow ledger verify`, `memflow repair`.

maintenance.py shows the contents of a ledger and deletes completions, recovery.py rescues the rows of a damaged SQLite
file.
"""

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memflow.chat.requests import End
from memflow.errors import ChatError
from resources.ledger.former_rows import COLUMNS, store_checksums
from resources.ledger.reading import (
    STORED_ENDS,
    decodable,
    is_timed,
    verified_answer,
    verified_messages,
    verified_seconds,
    verified_vector,
)
from resources.ledger.tables import (
    ANSWER_ROW,
    SUMS,
    completions,
    damaged_rows,
    embedding_times,
    embeddings,
    failures,
    forgotten_usage,
    unchecked_rows,
    usage_totals,
    uses,
)
from resources.ledger.usage import GROUPS, computed_totals, fill_totals

EXAMPLES = 3
"""Number of digests that a problem names."""
PAGE = "damaged page"
DAMAGED = "damaged row"
UNCHECKED = "row without a checksum"
_FORGET = "memflow ledger forget --digest DIGEST"
_REPAIR = "memflow ledger verify --repair"
_RECOVER = "memflow ledger recover"
_KINDS = {
    PAGE: _RECOVER,
    DAMAGED: _REPAIR,
    UNCHECKED: _REPAIR,
    "malformed digest": _FORGET,
    "undecodable messages": _FORGET,
    "unknown end": _FORGET,
    "negative token count": _FORGET,
    "use of a missing completion": _REPAIR,
    "failure with an unknown end": _REPAIR,
    "total that differs from its sum": _REPAIR,
}
"""The problems, and the command that repairs each."""
_DIGEST = re.compile(r"[0-9a-f]{32}")
_BATCH = 1000

Row = Sequence[Any]


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


@dataclass
class LedgerRepair:
    """The result of a repair: the number of damaged rows that were moved aside, and of new checksums, by table."""

    moved: dict[str, int] = field(default_factory=dict)
    checksums: dict[str, int] = field(default_factory=dict)
    digests: list[str] = field(default_factory=list)
    """The digests of the moved completions, whose requests the next run sends again."""


def problems(connection: Connection) -> list[LedgerProblem]:
    """Return the problems in the whole ledger, after reading all of it."""
    kinds = {name: LedgerProblem(name, command) for name, command in _KINDS.items()}
    for fault in _page_faults(connection):
        kinds[PAGE].add(fault)
    for name in COLUMNS:
        for row in stored_rows(connection, name):
            for fault in _faults(name, row):
                kinds[fault].add(str(row[0]))
    for row in _vectors_without_time(connection):
        kinds[DAMAGED].add(str(row[0]))
    for digest in connection.scalars(sa.select(uses.c.digest).where(orphaned())):
        kinds["use of a missing completion"].add(digest)
    unknown = sa.select(failures.c.failure).where(failures.c.end.not_in(known_failure_ends()))
    for number in connection.scalars(unknown):
        kinds["failure with an unknown end"].add(str(number))
    for group in _wrong_totals(connection):
        kinds["total that differs from its sum"].add(" ".join(filter(None, group)))
    return [problem for problem in kinds.values() if problem.rows]


def repair(connection: Connection) -> LedgerRepair:
    """Move damaged rows into the table `damaged_rows`, and compute missing checksums and all totals again.

    Uses of missing completions are deleted, and unknown failures get the end `failed`. What the moved completions cost
    stays in the totals.
    """
    result = LedgerRepair()
    for name in COLUMNS:
        damaged, lacking = [], []
        for row in stored_rows(connection, name):
            if is_damaged(name, row):
                damaged.append(row)
            elif _lacks_checksum(name, row):
                lacking.append(row[0])
        if damaged:
            result.moved[name] = len(damaged)
            _move(connection, name, damaged)
            if name == completions.name:
                result.digests = sorted(str(row[0]) for row in damaged)
        if lacking:
            result.checksums[name] = _add_checksums(connection, name, lacking)
    if untimed := _vectors_without_time(connection):
        result.moved[embeddings.name] = result.moved.get(embeddings.name, 0) + len(untimed)
        _move(connection, embeddings.name, untimed)
    connection.execute(sa.delete(unchecked_rows))
    connection.execute(sa.delete(uses).where(orphaned()))
    unknown = failures.c.end.not_in(known_failure_ends())
    connection.execute(sa.update(failures).where(unknown).values(end=ChatError.end))
    fill_totals(connection)
    return result


def stored_rows(connection: Connection, name: str) -> Iterator[Row]:
    """Yield the rows of a table with checksums as the driver returns them: the columns COLUMNS[name]."""
    table, names = COLUMNS[name]
    columns = [table.c[each].label(f"column_{number}") for number, each in enumerate(names)]
    text = str(sa.select(*columns).compile(dialect=connection.dialect))
    options = {"yield_per": _BATCH}
    for row in connection.exec_driver_sql(text, None, execution_options=options):
        yield tuple(row)


def is_damaged(name: str, row: Row) -> bool:
    """Return whether a row of the columns COLUMNS[name] differs from its checksum, or has impossible values."""
    if name == completions.name:
        answer, request = row[: len(ANSWER_ROW)], row[len(ANSWER_ROW) :]
        wrong_answer = answer[-1] is not None and verified_answer(answer) is None
        return wrong_answer or (request[-1] is not None and verified_messages(request) is None)
    if name == embeddings.name:
        return verified_vector(row) is None
    return not verified_seconds(row)


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


def _vectors_without_time(connection: Connection) -> list[Row]:
    """Return the undamaged vectors whose seconds were stored and are missing."""
    _, names = COLUMNS[embeddings.name]
    is_lost = ~sa.exists().where(embedding_times.c.digest == embeddings.c.digest)
    rows = connection.execute(sa.select(*(embeddings.c[each] for each in names)).where(is_lost))
    return [
        tuple(row) for row in rows if not is_damaged(embeddings.name, tuple(row)) and is_timed(tuple(row))
    ]


def _faults(name: str, row: Row) -> Iterator[str]:
    """Yield the names of the faults of a row."""
    if is_damaged(name, row):
        yield DAMAGED
        return
    if _lacks_checksum(name, row):
        yield UNCHECKED
    if name != completions.name:
        return
    values = dict(zip(COLUMNS[name][1], row, strict=True))
    if not _DIGEST.fullmatch(values["digest"]):
        yield "malformed digest"
    if not decodable(values["messages"]):
        yield "undecodable messages"
    if values["end"] not in STORED_ENDS:
        yield "unknown end"
    tokens = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
    if min(values[each] for each in tokens) < 0:
        yield "negative token count"


def _lacks_checksum(name: str, row: Row) -> bool:
    return row[-1] is None or (name == completions.name and row[len(ANSWER_ROW) - 1] is None)


def _page_faults(connection: Connection) -> Iterator[str]:
    """Yield the faults that SQLite finds in the pages and indexes of its file; PostgreSQL verifies its own pages."""
    if connection.dialect.name == "sqlite":
        for (found,) in connection.exec_driver_sql("PRAGMA integrity_check(100)"):
            if found != "ok":
                yield " ".join(found.split())


def _add_checksums(connection: Connection, name: str, digests: Sequence[str]) -> int:
    table, names = COLUMNS[name]
    stored = 0
    for start in range(0, len(digests), _BATCH):
        some = table.c.digest.in_(digests[start : start + _BATCH])
        rows = connection.execute(sa.select(*(table.c[each] for each in names)).where(some)).fetchall()
        stored += store_checksums(connection, name, [tuple(row) for row in rows])
    return stored


def _move(connection: Connection, name: str, rows: Sequence[Row]) -> None:
    """Move rows of a table into `damaged_rows`. Their usage stays in the totals, as that of forgotten completions."""
    table, names = COLUMNS[name]
    connection.execute(
        sa.insert(damaged_rows),
        [
            {"table": name, "digest": str(row[0]), "row": _as_json(names, row), "at": time.time()}
            for row in rows
        ],
    )
    for start in range(0, len(rows), _BATCH):
        digests = [row[0] for row in rows[start : start + _BATCH]]
        if name == completions.name:
            keep_usage(connection, digests)
        connection.execute(sa.delete(table).where(table.c.digest.in_(digests)))


def keep_usage(connection: Connection, digests: Sequence[str]) -> None:
    """Delete the uses of some completions, and add what the totals had for them to `forgotten_usage`.

    The difference is taken from the totals, since the token counts of a damaged row may be wrong.
    """
    of_rows = uses.c.digest.in_(digests)
    query = sa.select(*(uses.c[each] for each in GROUPS)).where(of_rows).distinct()
    affected = {tuple(row) for row in connection.execute(query)}
    connection.execute(sa.delete(uses).where(of_rows))
    stored, left = _stored_totals(connection), _by_group(connection, computed_totals())
    for group in affected & stored.keys():
        difference = [a - b for a, b in zip(stored[group], left.get(group, [0] * len(SUMS)), strict=True)]
        if min(difference) < 0:  # the totals are damaged, too
            continue
        values = dict(zip((*GROUPS, *SUMS), (*group, *difference), strict=True))
        same = sa.and_(*(forgotten_usage.c[each] == values[each] for each in GROUPS))
        added = {each: forgotten_usage.c[each] + values[each] for each in SUMS}
        if not connection.execute(sa.update(forgotten_usage).where(same).values(added)).rowcount:
            connection.execute(sa.insert(forgotten_usage).values(values))


def _as_json(names: Sequence[str], row: Row) -> str:
    values = [each.hex() if isinstance(each, bytes | memoryview) else each for each in row]
    return json.dumps(dict(zip(names, values, strict=True)), default=str)


def _wrong_totals(connection: Connection) -> Iterator[tuple[str, ...]]:
    """Yield the groups whose stored totals differ from the sums of their rows."""
    stored = _stored_totals(connection)
    computed = _by_group(connection, computed_totals())
    for group in sorted(stored.keys() | computed.keys()):
        pairs = zip(stored.get(group, ()), computed.get(group, ()), strict=False)
        if group not in stored or group not in computed or any(abs(a - b) > 1e-6 * abs(a) for a, b in pairs):
            yield group


def _stored_totals(connection: Connection) -> dict[tuple[str, ...], tuple[float, ...]]:
    return _by_group(connection, sa.select(*(usage_totals.c[name] for name in (*GROUPS, *SUMS))))


def _by_group(connection: Connection, query: sa.Select[Any]) -> dict[tuple[str, ...], tuple[float, ...]]:
    return {
        tuple(row[: len(GROUPS)]): tuple(float(number) for number in row[len(GROUPS) :])
        for row in connection.execute(query)
    }
