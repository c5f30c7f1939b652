"""The warehouse: DuckDB over the lake, with the SQL files of sql/queries.

Queries run in an in-memory database with views over the Parquet files, so that no query waits for a lock. database.py
writes `memflow.duckdb`, for other tools.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from memflow.errors import BadInput, DamagedFile
from memflow.records import TABLES
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.snapshots import snapshot_of
from memflow.resources.publishing.database import METRICS, insert_metrics, publish_database
from memflow.resources.publishing.sql_files import query_text
from memflow.resources.publishing.table_sql import escaped, literal, partition_rows

_COMPOSED = re.compile(r"query(_table)?\s*\(|information_schema|duckdb_|pg_|\bshow\b")
"""Parts of a query that can name tables in other ways, or that list them."""


class QueryResult(list[dict[str, Any]]):
    """The rows of a query as dictionaries; `columns` has the column names even without rows.

    `left_out` has, by table, the partitions that the query could not read, and why.
    """

    def __init__(self, names: list[str], values: list[tuple[Any, ...]]) -> None:
        super().__init__(dict(zip(names, each, strict=True)) for each in values)
        self.columns = names
        self.left_out: dict[str, dict[str, str]] = {}


class Warehouse:
    """A query engine over a lake, which also publishes the lake as the DuckDB file `path`."""

    def __init__(self, lake: Lake, path: str | Path) -> None:
        self.lake = lake
        self.path = Path(path).absolute()

    def query(self, name: str, **parameters: Any) -> QueryResult:
        """Return the result of sql/queries/<name>.sql; missing parameters are null.

        Damaged partitions are left out; the result names them. Raises BadInput for an unknown query or parameter.
        """
        with self.session(_tables_in(query_text(name)), leave_out_damaged=True) as session:
            return session.query(name, **parameters)

    def sql(self, text: str) -> QueryResult:
        """Return the result of one SELECT statement, which can read the lake's tables and no other file.

        Damaged partitions are left out; the result names them. Raises BadInput if `text` is not a single SELECT, or if
        DuckDB reports an error.
        """
        try:
            statements = duckdb.extract_statements(text)
        except duckdb.Error as wrong:
            raise BadInput(f"DuckDB cannot parse the SQL query ({wrong}). Fix the query.") from wrong
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise BadInput(
                f"the SQL query consists of {_statement_types(statements)}. Write a single SELECT."
            )
        tables = _tables_named_in(text)
        with self.session(tables, leave_out_damaged=True) as session:
            return session.run(text, {}, tables)

    @contextmanager
    def session(
        self,
        tables: Sequence[str] = (*TABLES,),
        partitions: Collection[str] | None = None,
        *,
        leave_out_damaged: bool = False,
    ) -> Iterator["WarehouseSession"]:
        """Open an in-memory database over a snapshot of these tables, limited to `partitions` if given.

        Raises DamagedFile for a damaged file, unless damaged partitions are left out.
        """
        with snapshot_of(self.lake, tables, partitions) as lake, duckdb.connect(":memory:") as connection:
            if lake.left_out and not leave_out_damaged:
                raise DamagedFile(next(iter(next(iter(lake.left_out.values())).values())))
            yield WarehouseSession(lake, connection)

    def publish(self) -> Path:
        """Write the tables of the lake to memflow.duckdb. Return its path. Raises the errors of `publish_database`."""
        publish_database(self.lake, self.path)
        return self.path


class WarehouseSession:
    """An in-memory DuckDB database over a snapshot of a lake, without access to other files."""

    def __init__(self, lake: Lake, connection: duckdb.DuckDBPyConnection) -> None:
        self._lake = lake
        self._connection = connection
        # DuckDB names its first database `memory`, which is also a stage.
        connection.execute("ATTACH ':memory:' AS memflow")
        connection.execute("USE memflow")
        connection.execute("DETACH memory")
        connection.execute("SET python_enable_replacements = false")
        roots = ", ".join(literal(root) for root in (lake.root, escaped(lake.root)))
        connection.execute(f"SET allowed_directories = [{roots}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")

    def query(self, name: str, partitions: Collection[str] | None = None, **parameters: Any) -> QueryResult:
        """Return the result of sql/queries/<name>.sql over all partitions, or over the given ones."""
        text = query_text(name)
        [statement] = duckdb.extract_statements(text)
        unknown = sorted(parameters.keys() - statement.named_parameters)
        if unknown:
            known = ", ".join(sorted(statement.named_parameters))
            raise BadInput(f"the query {name} has no parameter {unknown[0]!r}. Use one of: {known}")
        given = {parameter: parameters.get(parameter) for parameter in statement.named_parameters}
        return self.run(text, given, _tables_in(text), partitions)

    def run(
        self,
        text: str,
        parameters: dict[str, Any],
        tables: Sequence[str],
        partitions: Collection[str] | None = None,
    ) -> QueryResult:
        """Return the result of one SQL statement over these tables. Raises BadInput if DuckDB reports an error."""
        try:
            for table in tables:
                self._create_view(table, partitions)
            if METRICS in text.lower():
                insert_metrics(self._connection)
            answer = self._connection.execute(text, parameters)
            result = QueryResult([column[0] for column in answer.description or ()], answer.fetchall())
            result.left_out = dict(self._lake.left_out)
            return result
        except duckdb.Error as wrong:
            raise BadInput(f"DuckDB cannot run the SQL query ({wrong}). Fix the query.") from wrong

    def _create_view(self, table: str, partitions: Collection[str] | None) -> None:
        """Create `table` as a view over its files."""
        chosen = [
            partition
            for partition in self._lake.current_partitions(table)
            if partitions is None or partition in partitions
        ]
        self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {table.partition('.')[0]}")
        self._connection.execute(
            f"CREATE OR REPLACE VIEW {table} AS FROM {partition_rows(self._lake, table, chosen)}"
        )


def _tables_in(text: str) -> tuple[str, ...]:
    """Return the lake's tables that a query of sql/queries reads."""
    return tuple(table for table in TABLES if table in text)


def _tables_named_in(text: str) -> tuple[str, ...]:
    """Return the tables whose names occur in an SQL query; all tables if none does, or if it may compose names."""
    lower = text.lower()
    found = tuple(table for table in TABLES if table.rpartition(".")[2] in lower)
    return found if found and not _COMPOSED.search(lower) else (*TABLES,)


def _statement_types(statements: list[duckdb.Statement]) -> str:
    if not statements:
        return "no statement"
    return ", then ".join(str(statement.type).rpartition(".")[2] for statement in statements)
