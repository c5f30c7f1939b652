"""The published DuckDB file `memflow.duckdb` for other tools: tables over everything, and views over the lake.

A table over all domains is copied, so that leaderboard, comparisons and history stay those of one publication. The
others are views over the files of the lake. The file is built under a temporary name and then renamed, so readers see
the old or the new file.
"""

import secrets
from pathlib import Path

import duckdb

from memflow.errors import BadInput
from memflow.records import TABLES
from memflow.resources.files.disks import explained_writes, failed_write
from memflow.resources.lake.damage import UNPARTITIONED
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.snapshots import snapshot_of
from memflow.resources.publishing.table_sql import comments, escaped, file_rows, partition_rows
from memflow.scoring.catalog import catalog_rows

METRICS = "score.metrics"
"""The table of the catalog of metrics, which is not in the lake."""
FOR_WRITING: dict[str, str | bool | int | float | list[str]] = {"threads": 1}
"""More threads insert the rows of many small files with up to half as much CPU time again, and no earlier."""


def publish_database(lake: Lake, path: Path) -> None:
    """Write the DuckDB file `path`. Raises StoreFailed for a full disk, BadInput if DuckDB reports another error."""
    with explained_writes(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f".{path.name}.{secrets.token_hex(8)}.writing")
    try:
        _build(lake, written)
        written.replace(path)
    except duckdb.Error as wrong:
        if failed := failed_write(wrong, path.parent):
            raise failed from wrong
        raise BadInput(
            f"cannot write {path} ({wrong}). Run `memflow doctor`, which names damaged files, then rerun."
        ) from wrong
    finally:
        written.unlink(missing_ok=True)


def database_damage(path: Path) -> str | None:
    """Read the tables of a published file, whose blocks have checksums. Return why it is damaged; None if it is not."""
    try:
        with duckdb.connect(path, read_only=True) as connection:
            tables = connection.table_function("duckdb_tables").project("schema_name || '.' || table_name")
            for (table,) in tables.fetchall():
                connection.table(table).aggregate("bit_xor(hash(COLUMNS(*)))").fetchall()
    except (duckdb.Error, UnicodeDecodeError) as wrong:
        return f"DuckDB cannot read it: {str(wrong).splitlines()[0]}"
    return None


def insert_metrics(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the table score.metrics with the catalog of metrics, if it does not exist."""
    import pyarrow as pa  # noqa: PLC0415  (for the queries that name it)

    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {METRICS.partition('.')[0]}")
    rows = connection.from_arrow(pa.Table.from_pylist(catalog_rows()))
    rows.query("metrics", f"CREATE TABLE IF NOT EXISTS {METRICS} AS FROM metrics")


def _build(lake: Lake, written: Path) -> None:
    """Build the database in the file `written`."""
    with snapshot_of(lake, UNPARTITIONED) as still, duckdb.connect(written, config=FOR_WRITING) as connection:
        connection.begin()
        for table in TABLES:
            if table in UNPARTITIONED:
                kind, source = "TABLE", partition_rows(still, table, still.current_partitions(table))
            else:
                kind, source = "VIEW", _current_rows(lake, table)
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {table.partition('.')[0]}")
            connection.execute(f"CREATE {kind} {table} AS FROM {source}")
            connection.execute("; ".join(comments(table, kind)))
        insert_metrics(connection)
        connection.commit()


def _current_rows(lake: Lake, table: str) -> str:
    """Return the SQL expression for all rows of a table, also of later partitions unless a file is damaged now."""
    current = lake.current_partitions(table)
    if current and len(current) == len(lake.partitions(table)):
        return file_rows(table, [f"{escaped(lake.folder(table))}/*.parquet"])
    return partition_rows(lake, table, current)
