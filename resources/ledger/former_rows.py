"""Checksums for rows that a former version of memflow stored without them.

migration.py adds the columns, which takes no time. Each opening of the ledger computes checksums for at most FILL_S
seconds, in short transactions, and continues where the last one ended. Until then, a row without a checksum is used if
its values are possible.
"""

import time
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from resources.ledger.reading import verified_answer, verified_messages, verified_seconds, verified_vector
from resources.ledger.row_checksums import (
    answer_checksum,
    request_checksum,
    seconds_checksum,
    vector_checksum,
)
from resources.ledger.tables import (
    ANSWER_ROW,
    REQUEST_ROW,
    completions,
    embedding_times,
    embeddings,
    unchecked_rows,
)

FILL_S = 3.0
"""Maximum number of seconds that an opening of a ledger spends on checksums."""
BATCH = 500

COLUMNS: dict[str, tuple[sa.Table, tuple[str, ...]]] = {
    completions.name: (completions, (*ANSWER_ROW, *REQUEST_ROW)),
    embeddings.name: (embeddings, ("digest", "vector", "checksum")),
    embedding_times.name: (embedding_times, ("digest", "seconds", "checksum")),
}
"""The tables whose rows have checksums, and the columns that a checksum needs."""

Row = Sequence[Any]


def mark_unchecked(connection: Connection, table: str) -> None:
    """Record that the rows of a table have no checksums yet."""
    connection.execute(sa.delete(unchecked_rows).where(unchecked_rows.c.table == table))
    connection.execute(sa.insert(unchecked_rows).values(table=table, after=""))


def fill_checksums(engine: Engine, seconds: float = FILL_S) -> bool:
    """Compute missing checksums for at most `seconds`. Return whether all marked tables are complete."""
    until = time.monotonic() + seconds
    with engine.connect() as connection:
        marked = list(connection.scalars(sa.select(unchecked_rows.c.table)))
    for table in marked:
        while table in COLUMNS and _fill_batch(engine, table):
            if time.monotonic() > until:
                return False
    return True


def checksums_of(table: str, row: Row) -> dict[str, int] | None:
    """Return the checksums of a row of the columns COLUMNS by column; None if the row has impossible values."""
    digest = row[0]
    if table == completions.name:
        answer, messages = (*row[: len(ANSWER_ROW)],), (*row[len(ANSWER_ROW) :],)
        found = verified_answer(answer)
        if found is None or verified_messages(messages) is None:
            return None
        _, *others, written, _ = messages
        return {
            "checksum": answer_checksum(found),
            "request_checksum": request_checksum(digest, others, bytes(written)),
        }
    if table == embeddings.name:
        vector = verified_vector(row)
        return None if vector is None else {"checksum": vector_checksum(digest, vector, timed=False)}
    return {"checksum": seconds_checksum(digest, row[1])} if verified_seconds(row) else None


def _fill_batch(engine: Engine, name: str) -> bool:
    """Compute the checksums of some rows. Return whether rows are left."""
    table, names = COLUMNS[name]
    mark = unchecked_rows.c.table == name
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        query = sa.select(unchecked_rows.c.after).where(mark)
        after = connection.scalar(query.with_for_update())
        if after is None:  # another process computed the last ones
            return False
        sign = "?" if engine.dialect.paramstyle == "qmark" else "%s"
        columns = [table.c[each].label(f"column_{number}") for number, each in enumerate(names)]
        text = str(sa.select(*columns).compile(dialect=connection.dialect))
        rows = connection.exec_driver_sql(
            f"{text} WHERE digest > {sign} ORDER BY digest LIMIT {BATCH}", (after,)
        ).fetchall()
        if not rows:
            connection.execute(sa.delete(unchecked_rows).where(mark))
            return False
        store_checksums(connection, name, rows)
        connection.execute(sa.update(unchecked_rows).where(mark).values(after=rows[-1][0]))
    return True


def store_checksums(connection: Connection, name: str, rows: Sequence[Row]) -> int:
    """Store the checksums of rows that lack them. Return the number of rows; impossible rows stay without."""
    table, _ = COLUMNS[name]
    lacking = [row for row in rows if row[-1] is None]
    values = [{"of": row[0], **found} for row in lacking if (found := checksums_of(name, row)) is not None]
    if values:
        columns = [each for each in values[0] if each != "of"]
        statement = sa.update(table).where(table.c.digest == sa.bindparam("of"))
        connection.execute(statement.values({each: sa.bindparam(each) for each in columns}), values)
    return len(values)
