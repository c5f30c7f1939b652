"""The published DuckDB file `memflow.duckdb` for other tools: tables of scores, and views over the lake's other tables.

The file is built under a temporary name and then renamed, so readers see the old or the new file.
"""

import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from memflow.errors import BadInput, StoreBusy
from memflow.records import TABLES
from memflow.scoring.catalog import catalog_rows
from resources.files.disks import explained_writes, failed_write
from resources.lake.lake import Lake
from resources.lake.snapshots import snapshot_of
from resources.publishing.record import hash_of, write_record
from resources.publishing.sql_files import VIEWS, escaped, literal, table_text, view_text

METRICS = "score.metrics"
"""The table of the catalog of metrics, which is not in the lake."""
STAGE = "score."
"""The stage whose tables the database contains; other tables are views over the lake."""
ONLY_COLUMNS = "hive_partitioning = false"
"""Without this option, a folder `a=b` in the path of the lake would add a column `a` to every table."""
ATTEMPTS, PAUSE_S = 5, 0.05
FOR_WRITING: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "preserve_insertion_order": False,
}
"""More threads insert the rows of many small files with up to half as much CPU time again, and no earlier. Rows that
need no order are written while they are read, and not held until the end of the statement."""


def publish_database(lake: Lake, path: Path) -> None:
    """Write the score tables, and views over the other tables, to the DuckDB file `path`.

    Raises StoreBusy if files of the lake were replaced during every attempt, BadInput for a duplicate key.
    """
    with explained_writes(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f".{path.name}.{secrets.token_hex(8)}.writing")
    try:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with _file_to_build(written) as built:
                    _build(lake, built)
                break
            except duckdb.Error as wrong:
                written.unlink(missing_ok=True)
                if failed := failed_write(wrong, path.parent):
                    raise failed from wrong
                if not isinstance(wrong, duckdb.IOException):  # it would fail again
                    raise BadInput(
                        f"cannot write {path}: {wrong}. The tables of this version of memflow contradict each other; "
                        "update memflow, then rerun."
                    ) from wrong
                if attempt == ATTEMPTS:
                    raise StoreBusy(
                        f"cannot write {path} after {ATTEMPTS} attempts: {wrong}. Rerun when no other run writes."
                    ) from wrong
                time.sleep(PAUSE_S * 2**attempt)
        hashed = hash_of(written)
        written.replace(path)
        write_record(path, hashed)
    finally:
        written.unlink(missing_ok=True)


@contextmanager
def _file_to_build(written: Path) -> Iterator[Path]:
    """Yield the path at which DuckDB writes: `written`, or a temporary file that is moved there.

    DuckDB reads `?` in a path, also behind a symbolic link, as the start of parameters.
    """
    if "?" not in str(written):
        yield written
        return
    with tempfile.TemporaryDirectory(prefix="memflow-") as folder:
        built = Path(folder) / "memflow.duckdb"
        yield built
        shutil.move(built, written)


def insert_metrics(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the table score.metrics with the catalog of metrics, if it does not exist."""
    import pyarrow as pa  # noqa: PLC0415  (for the queries that name it)

    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {METRICS.partition('.')[0]}")
    connection.execute(table_text(METRICS))
    if connection.execute(f"FROM {METRICS}").fetchone() is None:
        connection.from_arrow(pa.Table.from_pylist(catalog_rows())).insert_into(METRICS)


def _build(lake: Lake, written: Path) -> None:
    """Build the database in the file `written`."""
    tables = [table for table in TABLES if table.startswith(STAGE) or not lake.local]
    views = {table: _view_over(lake, table) for table in TABLES if table not in tables}
    with snapshot_of(lake, tables) as still, duckdb.connect(written, config=FOR_WRITING) as connection:
        _create(connection, views)
        for table in tables:
            _insert(connection, still, table, still.current_partitions(table))


def _create(connection: duckdb.DuckDBPyConnection, views: dict[str, str]) -> None:
    """Create the empty tables, the catalog of metrics, and the views."""
    for table in TABLES:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {table.partition('.')[0]}")
        connection.execute(views.get(table) or table_text(table))
    insert_metrics(connection)
    for view in VIEWS:
        connection.execute(view_text(view))


def _insert(connection: duckdb.DuckDBPyConnection, lake: Lake, table: str, partitions: Sequence[str]) -> None:
    """Insert partitions in order. Raises BadInput with the name of a partition that has a duplicate key."""
    if not partitions:
        return
    try:
        _insert_at_once(connection, lake, table, partitions)
    except duckdb.ConstraintException:
        for partition in partitions:
            try:
                _insert_at_once(connection, lake, table, [partition])
            except duckdb.ConstraintException as wrong:
                raise BadInput(
                    f"cannot publish {table} of {partition}: it has a duplicate key ({wrong}). Rerun this partition."
                ) from wrong


def _insert_at_once(
    connection: duckdb.DuckDBPyConnection, lake: Lake, table: str, partitions: Sequence[str]
) -> None:
    connection.sql(f"FROM {parquet_files(lake, table, partitions)}").insert_into(table)


def _view_over(lake: Lake, table: str) -> str:
    """Return the SQL statement for a table outside the scores: a view over its files, or an empty table."""
    current = lake.current_partitions(table)
    if not current:
        return table_text(table)
    pattern = literal(f"{escaped(lake.folder(table))}/*.parquet")
    whole = len(current) == len(lake.partitions(table))
    source = f"read_parquet({pattern}, {ONLY_COLUMNS})" if whole else parquet_files(lake, table, current)
    return f"CREATE VIEW {table} AS FROM {source}"


def parquet_files(lake: Lake, table: str, partitions: Sequence[str]) -> str:
    """Return the SQL expression that reads the Parquet files of partitions. A view cannot have parameters."""
    paths = (literal(escaped(lake.path(table, partition))) for partition in partitions)
    return f"read_parquet([{', '.join(paths)}], {ONLY_COLUMNS})"
