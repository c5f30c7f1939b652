"""The tables of the lake in SQL: their columns, types and comments derive from the row types (memflow/records).

DuckDB is told the columns of each table, so that it opens no file before a query does, and reads a column that an
older file lacks as null.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memflow.records import TABLES, columns
from memflow.resources.lake.lake import Lake

TYPES: dict[Any, str] = {
    str: "VARCHAR",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    list[str]: "VARCHAR[]",
    list[float]: "DOUBLE[]",
}
"""The SQL type of each Python type that a column may have."""


def partition_rows(lake: Lake, table: str, partitions: Sequence[str]) -> str:
    """Return the SQL expression for the rows of partitions of a table."""
    return file_rows(table, [escaped(lake.path(table, partition)) for partition in partitions])


def file_rows(table: str, patterns: Iterable[str]) -> str:
    """Return the SQL expression for the rows of the files that match patterns; without patterns, for no rows."""
    files = ", ".join(map(literal, patterns))
    if not files:
        empty = (f'CAST(NULL AS {TYPES[column.type]}) AS "{column.name}"' for column in columns(table))
        return f"(SELECT {', '.join(empty)} WHERE false)"
    stored = (
        f"'{column.name}': {{name: '{column.name}', type: '{TYPES[column.type]}', default_value: NULL}}"
        for column in columns(table)
    )
    # Without the option, a folder `a=b` in the path of the lake would add a column `a` to every table.
    return f"read_parquet([{files}], schema = MAP {{{', '.join(stored)}}}, hive_partitioning = false)"


def comments(table: str, kind: str) -> Iterator[str]:
    """Yield the SQL statements that describe a table and its columns; `kind` is TABLE or VIEW."""
    yield f"COMMENT ON {kind} {table} IS {literal(' '.join((TABLES[table].__doc__ or '').split()))}"
    for column in columns(table):
        yield f'COMMENT ON COLUMN {table}."{column.name}" IS {literal(column.description)}'


def literal(text: str) -> str:
    """Return a text as an SQL string literal, for statements that allow no parameters."""
    return "'" + text.replace("'", "''") + "'"


def escaped(path: str) -> str:
    """Return a path as a file pattern of DuckDB that matches this path alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)
