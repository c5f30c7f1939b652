"""The search for damage in a ledger, for `memflow doctor`: SQLite's own check of its pages, and rows that are unusable.

A changed letter inside an answer is not detected.
"""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memflow.errors import MemflowError
from memflow.resources.files.sqlite_urls import sqlite_path
from memflow.resources.ledger.database import damaged_file
from memflow.resources.ledger.reading import damaged_row, decompress_messages, valid_completion, valid_vector
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.ledger.tables import COMPLETION_COLUMNS, completions, embeddings

_BATCH = 1000


def ledger_damage(url: str, *, whole: bool) -> Iterator[str]:
    """Yield a sentence per damage of the ledger at a URL, with the command that repairs it.

    Without `whole`, yield only why the ledger cannot be opened. A missing SQLite file has no damage; it is not created.
    """
    path = sqlite_path(url)
    if path is not None and not path.is_file():
        return
    try:
        with SqlLedger(url) as ledger, ledger.connect(transaction=True) as connection:
            if whole:
                if fault := _page_fault(connection):
                    raise damaged_file(url, fault)
                yield from _damaged_rows(connection)
    except MemflowError as error:
        yield str(error)


def _page_fault(connection: Connection) -> str:
    """Return the first fault of a SQLite file; "" if it is intact. PostgreSQL checks its own pages."""
    if connection.dialect.name != "sqlite":
        return ""
    result = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
    return "" if result == "ok" else " ".join(str(result).split())


def _damaged_rows(connection: Connection) -> Iterator[str]:
    for digest, messages, *values in _rows(connection, completions, ("messages", *COMPLETION_COLUMNS)):
        try:
            decompress_messages(messages)
        except ValueError as error:
            yield f"{damaged_row(digest)} ({error})"
            continue
        if valid_completion(values) is None:
            yield str(damaged_row(digest))
    for digest, vector, seconds in _rows(connection, embeddings, ("vector", "seconds")):
        if valid_vector(vector) is None or not isinstance(seconds, float):
            yield str(damaged_row(digest, "vector"))


def _rows(connection: Connection, table: sa.Table, names: tuple[str, ...]) -> Iterator[tuple]:
    """Yield all rows as the driver returns them: the digest, and the columns `names`."""
    columns = [table.c[name].label(f"column_{number}") for number, name in enumerate(("digest", *names))]
    statement = str(sa.select(*columns).compile(dialect=connection.dialect))
    for row in connection.exec_driver_sql(statement, None, execution_options={"yield_per": _BATCH}):
        yield tuple(row)
