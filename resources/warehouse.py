"""The warehouse: DuckDB over the lake, with the SQL files of sql/queries, sql/tables and sql/views.

Each query runs in an in-memory database with views over the Parquet files, so that no query waits for a lock.
`memflow.duckdb`, for other tools, is built under a temporary name and renamed.
"""

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import duckdb

from memflow.errors import BadInput, StoreBusy
from memflow.records import TABLES
from memflow.scoring.catalog import catalog_rows
from resources.columns import schema
from resources.lake import Lake

ATTEMPTS = 5
PAUSE_S = 0.05
PUBLISHED_STAGE = "score."
"""The stage whose tables memflow.duckdb contains; other tables are views over the lake."""
METRICS = "score.metrics"
"""The table of the catalog of metrics, which is not in the lake."""
VIEWS = ("score.histories", "score.continual")
"""The views of sql/views/<stage>/<name>.sql, each after those that it uses."""


class QueryResult(list[dict[str, Any]]):
    """The rows of a query as dictionaries; `columns` has the column names even without rows."""

    def __init__(self, names: list[str], values: list[tuple[Any, ...]]) -> None:
        super().__init__(dict(zip(names, each, strict=True)) for each in values)
        self.columns = names


class Warehouse:
    """A query engine over a lake, which also publishes the lake as the DuckDB file `path`."""

    def __init__(self, lake: Lake, path: str | Path) -> None:
        self.lake = lake
        self.path = Path(path).absolute()

    def query(self, name: str, **parameters: Any) -> QueryResult:
        """Return the rows of sql/queries/<name>.sql; missing parameters are null.

        Raises BadInput for an unknown query or parameter.
        """
        text = _text("queries", name)
        [statement] = duckdb.extract_statements(text)
        unknown = sorted(parameters.keys() - statement.named_parameters)
        if unknown:
            known = ", ".join(sorted(statement.named_parameters))
            raise BadInput(f"the query {name} has no parameter {unknown[0]!r}. Use one of: {known}")
        return self._run(
            text,
            {parameter: parameters.get(parameter) for parameter in statement.named_parameters},
            [table for table in TABLES if table in text],
        )

    def sql(self, text: str) -> QueryResult:
        """Return the rows of one SELECT statement, which can read the lake's tables and no other file.

        Raises BadInput if `text` is not a single SELECT, or if DuckDB reports an error.
        """
        try:
            statements = duckdb.extract_statements(text)
        except duckdb.Error as wrong:
            raise BadInput(f"DuckDB cannot parse this SQL. Fix it: {wrong}") from wrong
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise BadInput(f"the SQL is {_statement_types(statements)}. Write a single SELECT statement.")
        return self._run(text, {})

    def publish(self) -> Path:
        """Replace memflow.duckdb by a new file with score tables and views over the lake. Return its path.

        Raises StoreBusy if the lake changed during every attempt, BadInput for a duplicate key.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        written = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}.writing")
        try:
            self._build(written)
            written.replace(self.path)
        finally:
            written.unlink(missing_ok=True)
        return self.path

    def _run(self, text: str, parameters: dict[str, Any], tables: Sequence[str] = (*TABLES,)) -> QueryResult:
        """Return the rows of a query over these tables, and over the views if the query names one."""
        # Creating a view reads the files of its tables.
        named = any(view.rpartition(".")[2] in text.lower() for view in VIEWS)
        views, tables = (VIEWS, (*TABLES,)) if named else ((), tables)
        metrics = named or METRICS in text.lower()
        try:
            with self.lake.snapshot(tables) as lake, _opened(lake, tables, views, metrics) as connection:
                answer = connection.execute(text, parameters)
                return QueryResult([column[0] for column in answer.description or ()], answer.fetchall())
        except duckdb.Error as wrong:
            raise BadInput(f"DuckDB cannot run this query. Fix it: {wrong}") from wrong

    def _build(self, path: Path) -> None:
        """Build the database at `path`; retry if a writer replaces a file meanwhile."""
        for attempt in range(1, ATTEMPTS + 1):
            path.unlink(missing_ok=True)
            try:
                with duckdb.connect(path) as connection:
                    for table in TABLES:
                        if self.lake.local and not table.startswith(PUBLISHED_STAGE):
                            _view(connection, self.lake, table)
                        else:
                            _copy(connection, self.lake, table)
                    _insert_metrics(connection)
                    for view in VIEWS:
                        connection.execute(_text_of("views", view))
                return
            except duckdb.Error as wrong:
                if attempt == ATTEMPTS:
                    raise StoreBusy(
                        f"cannot build {self.path} after {ATTEMPTS} attempts: {wrong}. Rerun when no other run "
                        "writes."
                    ) from wrong
                time.sleep(PAUSE_S * 2**attempt)


@contextmanager
def _opened(
    lake: Lake, tables: Sequence[str], views: Sequence[str], metrics: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an in-memory database with these tables and views and no access to other files."""
    with duckdb.connect(":memory:") as connection:
        # DuckDB names its first database `memory`, which is also a stage.
        connection.execute("ATTACH ':memory:' AS memflow")
        connection.execute("USE memflow")
        connection.execute("DETACH memory")
        connection.execute("SET python_enable_replacements = false")
        for table in tables:
            _view(connection, lake, table)
        if metrics:
            _insert_metrics(connection)
        for view in views:
            connection.execute(_text_of("views", view))
        if lake.local:
            roots = ", ".join(_literal(root) for root in (lake.root, _escaped(lake.root)))
            connection.execute(f"SET allowed_directories = [{roots}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection


def _view(connection: duckdb.DuckDBPyConnection, lake: Lake, table: str) -> None:
    """Create `table` as a view over its files, or empty. SQL allows no parameters for the names and paths of a view."""
    stage, _, name = table.partition(".")
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {stage}")
    partitions = lake.current_partitions(table)
    if not partitions:
        connection.execute(_text_of("tables", table))
    elif lake.local:
        whole = len(partitions) == len(lake.partitions(table))
        patterns = (
            [f"{_escaped(lake.folder(table))}/*.parquet"]
            if whole
            else [_escaped(lake.path(table, partition)) for partition in partitions]
        )
        files_ = ", ".join(map(_literal, patterns))
        connection.execute(f"CREATE VIEW {table} AS FROM read_parquet([{files_}], union_by_name = true)")
    else:
        import pyarrow.dataset as ds  # noqa: PLC0415  (0.4 s, for a lake in an object store alone)

        paths = [lake.path(table, partition) for partition in partitions]
        held = ds.dataset(paths, schema=schema(table), filesystem=lake.filesystem, format="parquet")
        connection.register(f"lake_{stage}_{name}", held)
        connection.execute(f"CREATE VIEW {table} AS FROM lake_{stage}_{name}")


def _copy(connection: duckdb.DuckDBPyConnection, lake: Lake, table: str) -> None:
    """Create `table` with its rows, not as a view.

    For an object store, every table is copied, since views would need credentials.
    """
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {table.partition('.')[0]}")
    connection.execute(_text_of("tables", table))
    for partition in lake.current_partitions(table):
        try:
            connection.from_arrow(lake.arrow(table, partition)).insert_into(table)
        except duckdb.ConstraintException as wrong:
            raise BadInput(f"cannot publish {table} of {partition}; rerun that partition: {wrong}") from wrong


def _insert_metrics(connection: duckdb.DuckDBPyConnection) -> None:
    import pyarrow as pa  # noqa: PLC0415  (for the questions that name it)

    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {METRICS.partition('.')[0]}")
    connection.execute(_text_of("tables", METRICS))
    connection.from_arrow(pa.Table.from_pylist(catalog_rows())).insert_into(METRICS)


def _text_of(folder: str, table: str) -> str:
    stage, _, name = table.partition(".")
    return _text(f"{folder}/{stage}", name)


def _text(folder: str, name: str) -> str:
    found: Traversable = files("sql")
    for part in folder.split("/"):
        found = found.joinpath(part)
    file = found.joinpath(f"{name}.sql")
    if not file.is_file():
        known = sorted(each.name.removesuffix(".sql") for each in found.iterdir())
        raise BadInput(f"sql/{folder}/{name}.sql does not exist. Use one of: {', '.join(known)}")
    return file.read_text(encoding="utf-8")


def _statement_types(statements: list[duckdb.Statement]) -> str:
    if not statements:
        return "empty"
    return ", then ".join(str(statement.type).rpartition(".")[2] for statement in statements)


def _escaped(path: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
