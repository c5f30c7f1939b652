"""sql/tables declares the same tables, columns and keys as memflow.records."""

import re
from pathlib import Path

import duckdb
import pytest

from memflow.records import KEYS, TABLES, columns
from resources.publishing.database import METRICS

SQL = Path(__file__).parents[2] / "sql"
TYPES = {
    str: "VARCHAR",
    int: "BIGINT",
    float: "DOUBLE",
    bool: "BOOLEAN",
    list[str]: "VARCHAR[]",
    list[float]: "DOUBLE[]",
}


def text_of(table):
    return (SQL / "tables" / f"{table.replace('.', '/')}.sql").read_text(encoding="utf-8")


@pytest.fixture
def connection(tmp_path):
    with duckdb.connect(tmp_path / "memflow.duckdb") as connection:
        yield connection


def test_every_table_has_a_sql_file_and_every_sql_file_a_table():
    found = {f"{path.parent.name}.{path.stem}" for path in (SQL / "tables").rglob("*.sql")}
    assert found == {*TABLES, METRICS}


@pytest.mark.parametrize("table", TABLES)
def test_table_columns_types_nullability_and_key_match_the_row_type(connection, table):
    stage, _, name = table.partition(".")
    connection.execute(f"CREATE SCHEMA {stage}")
    connection.execute(text_of(table))
    connection.execute(text_of(table))  # a second time does nothing
    held = connection.execute(
        "SELECT column_name, data_type, is_nullable FROM duckdb_columns() "
        "WHERE schema_name = ? AND table_name = ? ORDER BY column_index",
        [stage, name],
    ).fetchall()
    assert held == [(column.name, TYPES[column.type], column.nullable) for column in columns(table)]
    [(key,)] = connection.execute(
        "SELECT constraint_column_names FROM duckdb_constraints() "
        "WHERE constraint_type = 'PRIMARY KEY' AND schema_name = ? AND table_name = ?",
        [stage, name],
    ).fetchall()
    assert tuple(key) == KEYS[table]


@pytest.mark.parametrize("table", TABLES)
def test_table_header_states_grain_key_and_partition(table):
    grain, key, partition = text_of(table).splitlines()[:3]
    assert grain == f"-- Grain: {' '.join(TABLES[table].__doc__.split())}"
    assert key == f"-- Key: {', '.join(KEYS[table])}."
    assert re.fullmatch(r"-- Partition: (dataset|domain|domain, assistant|none)\.", partition)
