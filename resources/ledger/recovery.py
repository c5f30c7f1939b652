"""The rescue of the rows of a damaged SQLite ledger into a new file: `memflow ledger recover`.

Rows are read table by table and, where a page is damaged, around it. Then completions and vectors that SQLite no longer
reaches are read from the pages themselves (sqlite_pages.py). Only rows that agree with their checksum are copied.
"""

import secrets
import shutil
import sqlite3
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memflow.errors import BadInput
from resources.files.disks import explained_writes
from resources.files.sqlite_urls import sqlite_path, sqlite_url
from resources.ledger.database import open_engine
from resources.ledger.former_rows import COLUMNS
from resources.ledger.sqlite_pages import HEADER, page_size, rows_in_pages
from resources.ledger.tables import tables, unchecked_rows, usage_totals, uses
from resources.ledger.usage import fill_totals
from resources.ledger.verification import is_damaged, keep_usage, orphaned, repair

_BATCH = 500
_LARGEST_ROWID = 2**40
_MOST_FAILURES = 2000
"""Number of failed queries after which a table is given up; a damaged page costs about 100."""


@dataclass
class Recovery:
    """The result of a recovery: copied and damaged rows by table, and the path of the damaged file."""

    backup: Path
    copied: dict[str, int] = field(default_factory=dict)
    damaged: dict[str, int] = field(default_factory=dict)
    incomplete: list[str] = field(default_factory=list)
    """Tables of which rows could not be read."""


def recover(url: str) -> Recovery:
    """Copy the readable rows of a SQLite ledger to a new file, which replaces it. No other process may use the ledger.

    The damaged file stays beside the new one, under the name `Recovery.backup`. Raises BadInput if the ledger is not in
    a SQLite file.
    """
    path = sqlite_path(url)
    if path is None or not path.is_file():
        raise BadInput(
            f"`memflow ledger recover` needs a SQLite file, and {path or 'this ledger'} is none. Restore a PostgreSQL "
            "ledger from a backup."
        )
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    result = Recovery(path.with_name(f"{path.name}.damaged-{stamp}-{secrets.token_hex(2)}"))
    new = path.with_name(f"{path.name}.recovered-{secrets.token_hex(4)}")
    copy = path.with_name(f"{path.name}.copy-{secrets.token_hex(4)}")
    try:
        with explained_writes(path.parent):
            _copy_with_header(path, copy)
            engine = open_engine(sqlite_url(new))
            _copy_rows(copy, engine, result)
            with engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            engine.dispose()
            _replace(path, new, result.backup)
    finally:
        for each in (new, copy):
            for suffix in ("", "-wal", "-shm"):
                each.with_name(each.name + suffix).unlink(missing_ok=True)
    return result


def _copy_with_header(path: Path, copy: Path) -> None:
    """Copy a file and its write-ahead log, and write the values into the copy's header that every ledger has."""
    shutil.copyfile(path, copy)
    log = path.with_name(f"{path.name}-wal")
    if log.is_file():
        shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
    size = page_size(path)
    with copy.open("r+b") as file:
        header = bytearray(file.read(HEADER).ljust(HEADER, b"\0"))
        header[:24] = struct.pack(">16sHBBBBBB", b"SQLite format 3\0", size, 2, 2, 0, 64, 32, 32)
        header[28:40] = struct.pack(">III", path.stat().st_size // size, 0, 0)
        header[44:48] = struct.pack(">I", 4)  # schema format
        header[52:60] = struct.pack(">II", 0, 1)  # no auto-vacuum; UTF-8
        header[92:96] = header[24:28]  # the number of pages is valid for this version
        file.seek(0)
        file.write(header)


def _copy_rows(path: Path, engine: Engine, result: Recovery) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as source:
        source.text_factory = lambda stored: stored.decode("utf-8", "backslashreplace")
        with suppress(sqlite3.Error):
            source.execute("PRAGMA writable_schema = ON")  # use the tables whose definition is whole
        for table in tables.sorted_tables:
            if table is unchecked_rows:
                continue
            with engine.begin() as connection:
                _copy_table(source, connection, table, result)
    for name in COLUMNS:
        if name in result.incomplete:
            with engine.begin() as connection:
                _copy_from_pages(path, connection, tables.tables[name], result)
    with engine.begin() as connection:
        if (
            usage_totals.name in result.incomplete
            or connection.scalar(sa.select(usage_totals.c.run).limit(1)) is None
        ):
            fill_totals(connection)
        lost = sa.select(uses.c.digest).where(orphaned()).distinct()
        keep_usage(connection, list(connection.scalars(lost)))
        repair(connection)


def _copy_table(
    source: sqlite3.Connection, connection: Connection, table: sa.Table, result: Recovery
) -> None:
    result.copied[table.name] = 0
    try:
        held = [row[1] for row in source.execute(f'PRAGMA table_info("{table.name}")')]
    except sqlite3.Error:
        held = []
    names = [name for name in table.c.keys() if name in held]  # noqa: SIM118
    if not names:
        result.incomplete.append(table.name)
        return
    complete = True
    for rows in _readable_rows(source, table.name, names):
        if rows is None:
            complete = False
        else:
            _insert(connection, table, names, rows, result)
    if not complete:
        result.incomplete.append(table.name)


def _readable_rows(
    source: sqlite3.Connection, table: str, names: Sequence[str]
) -> Iterator[list[tuple[Any, ...]] | None]:
    """Yield the rows of a table in batches by row number, and None for each range that cannot be read."""
    columns = ", ".join(f'"{name}"' for name in names)
    query = (
        f'select rowid, {columns} from "{table}" where rowid between ? and ? order by rowid limit {_BATCH}'
    )
    ranges = [(-_LARGEST_ROWID, _LARGEST_ROWID)]
    failures = 0
    while ranges:
        first, last = ranges.pop()
        rows: list[tuple[Any, ...]] = []
        try:
            for row in source.execute(query, (first, last)):
                rows.append(row)
        except (sqlite3.Error, OverflowError):
            rest = rows[-1][0] + 1 if rows else first
            middle = (rest + last) // 2
            failures += 1
            if failures > _MOST_FAILURES:  # the table's root, perhaps: its pages are read instead
                yield None
                return
            if rest < last:
                ranges += [(middle + 1, last), (rest, middle)]
            else:
                yield None
        else:
            if len(rows) == _BATCH and rows[-1][0] < last:
                ranges.append((rows[-1][0] + 1, last))
        yield [row[1:] for row in rows]


def _copy_from_pages(path: Path, connection: Connection, table: sa.Table, result: Recovery) -> None:
    """Copy the rows that have the right checksum in any page of the file."""
    names = table.columns.keys()
    checksum = names.index("checksum")
    rows = []
    for row in rows_in_pages(path, len(names)):
        if row[checksum] is not None and not is_damaged(table.name, _checked(table.name, names, row)):
            rows.append(row)
        if len(rows) == _BATCH:
            _insert(connection, table, names, rows, result)
            rows = []
    _insert(connection, table, names, rows, result)


def _insert(
    connection: Connection,
    table: sa.Table,
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    result: Recovery,
) -> None:
    valid = []
    for row in rows:
        if table.name in COLUMNS and is_damaged(table.name, _checked(table.name, names, row)):
            result.damaged[table.name] = result.damaged.get(table.name, 0) + 1
        else:
            valid.append(row)
    if not valid:
        return
    into = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" * len(names))
    driver = connection.connection.dbapi_connection
    assert isinstance(driver, sqlite3.Connection)
    for row in valid:
        try:
            result.copied[table.name] += driver.execute(
                f'insert or ignore into "{table.name}" ({into}) values ({marks})', tuple(row)
            ).rowcount
        except (sqlite3.Error, OverflowError):  # a value that its column cannot have
            result.damaged[table.name] = result.damaged.get(table.name, 0) + 1


def _checked(name: str, names: Sequence[str], row: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values of COLUMNS[name], in which a missing checksum is None."""
    values = dict(zip(names, row, strict=True))
    return tuple(
        values.get(each, 0 if each in ("reasoning_tokens", "estimated") else None)
        for each in COLUMNS[name][1]
    )


def _replace(path: Path, new: Path, backup: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        former = path.with_name(path.name + suffix)
        if former.exists():
            former.rename(backup.with_name(backup.name + suffix))
    new.rename(path)
