"""The migration of a ledger that a former version of memflow wrote, in place.

database.py runs it under a lock. It adds missing columns, computes their values from stored rows, and
computes missing totals.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Connection
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from resources.ledger.former_rows import mark_unchecked
from resources.ledger.tables import completions, failures, tables, usage_totals, uses
from resources.ledger.usage import GROUPS, fill_totals

NO_ANSWER = "the response contained no answer (stored as an empty answer by a former version of memflow)"


def is_current(connection: Connection) -> bool:
    """Return whether the database has all tables and columns of this version."""
    found = _columns(connection)
    complete = all(
        found.get(table.name, set()) >= set(table.columns.keys()) for table in tables.sorted_tables
    )
    return complete and not _compresses_messages(connection)


def migrate(connection: Connection) -> None:
    """Create missing tables and columns. The caller holds the lock and opens the transaction.

    A completion whose finish reason is `length` gets the end `cut`. An empty completion without tokens is an error body
    that the former version stored as an answer: its uses become failures with the end `blank`, and it is deleted.
    """
    found = _columns(connection)
    unchecked = []
    for table in tables.sorted_tables:
        if table.name in found:
            _add_columns(connection, table, found[table.name])
            if "checksum" in table.c and "checksum" not in found[table.name]:
                unchecked.append(table.name)
        else:
            connection.execute(CreateTable(table, if_not_exists=True))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            connection.execute(CreateIndex(index, if_not_exists=True))
    if _compresses_messages(connection):
        messages = completions.c.messages.name
        connection.exec_driver_sql(f"ALTER TABLE {completions} ALTER COLUMN {messages} SET STORAGE EXTERNAL")
    for name in unchecked:
        mark_unchecked(connection, name)
    if completions.c.end.name not in found.get(completions.name, {completions.c.end.name}):
        _fill_ends(connection)
    if not found.get(usage_totals.name, set()) >= set(usage_totals.columns.keys()):
        fill_totals(connection)


def _compresses_messages(connection: Connection) -> bool:
    """Return whether PostgreSQL tries to compress messages again, which takes longer than to store them.

    Only the owner of the table can change that, so the answer is no for other users.
    """
    if connection.dialect.name != "postgresql":
        return False
    of_table = sa.cast(completions.name, postgresql.REGCLASS)
    storage: sa.Select[Any] = (
        sa.select(sa.column("attstorage") != "e")
        .select_from(sa.join(sa.table("pg_attribute"), sa.table("pg_class"), sa.text("oid = attrelid")))
        .where(sa.column("oid") == of_table, sa.column("attname") == completions.c.messages.name)
        .where(sa.func.pg_has_role(sa.column("relowner"), "USAGE"))
    )
    return bool(connection.scalar(storage))


def _columns(connection: Connection) -> dict[str, set[str]]:
    """Return the names of the columns of each table of the ledger that exists."""
    inspector = sa.inspect(connection)
    existing = set(inspector.get_table_names()) & tables.tables.keys()
    return {name: {column["name"] for column in inspector.get_columns(name)} for name in existing}


def _add_columns(connection: Connection, table: sa.Table, found: set[str]) -> None:
    preparer = connection.dialect.identifier_preparer
    for column in table.columns:
        if column.name not in found:
            declared = CreateColumn(column).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {preparer.format_table(table)} ADD COLUMN {declared}")


def _fill_ends(connection: Connection) -> None:
    columns = completions.c
    connection.execute(sa.update(completions).where(columns.finish_reason == "length").values(end="cut"))
    empty = sa.and_(sa.func.trim(columns.text) == "", columns.completion_tokens == 0)
    blank = sa.select(columns.digest).where(empty, columns.end != "cut")
    failed = sa.select(
        *(uses.c[name] for name in GROUPS), sa.literal(NO_ANSWER), sa.literal("blank"), sa.true(), uses.c.at
    ).where(uses.c.digest.in_(blank))
    names = [*GROUPS, "reason", "end", "repeats", "at"]
    connection.execute(sa.insert(failures).from_select(names, failed))
    connection.execute(sa.delete(uses).where(uses.c.digest.in_(blank)))
    connection.execute(sa.delete(completions).where(columns.digest.in_(blank)))
