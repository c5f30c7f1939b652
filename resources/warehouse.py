"""The warehouse: DuckDB over the lake. Questions are files in sql/queries, tables in sql/tables, views in sql/views.

Every question gets a database of its own in memory, with a view over each table's Parquet files, so that
nobody waits for a lock. `memflow.duckdb`, for other tools, is built under another name and renamed: nobody
ever holds it for writing. Rows are written by resources/lake.py, never here.
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
from resources.lake import Lake, schema

ATTEMPTS = 5
PAUSE_S = 0.05
PUBLISHED = "score."
"""The stage that memflow.duckdb holds itself and not as views: what a person wants of a file sent on."""
METRICS = "score.metrics"
"""The table of the catalog of metrics: it is in no lake."""
VIEWS = ("score.histories", "score.continual")
"""What follows from tables by SQL alone, those first that others are made from: sql/views/<stage>/<name>.sql. In
memflow.duckdb they need the lake, for the probes."""


class Rows(list[dict[str, Any]]):
    """What a question returns: a dictionary per row, and the columns even where there are none."""

    def __init__(self, names: list[str], values: list[tuple[Any, ...]]) -> None:
        super().__init__(dict(zip(names, each, strict=True)) for each in values)
        self.columns = names


class Warehouse:
    """DuckDB over a lake: asks questions of it, and publishes it as one DuckDB file at `path`."""

    def __init__(self, lake: Lake, path: str | Path) -> None:
        self.lake = lake
        self.path = Path(path).absolute()

    def query(self, name: str, **parameters: Any) -> Rows:
        """The answer to sql/queries/<name>.sql. A parameter that is not given is null.

        Raises BadInput for a question or a parameter that is not there.
        """
        text = _text("queries", name)
        [statement] = duckdb.extract_statements(text)
        unknown = sorted(parameters.keys() - statement.named_parameters)
        if unknown:
            known = ", ".join(sorted(statement.named_parameters))
            raise BadInput(f"the query {name} has no parameter {unknown[0]!r}; it has {known}")
        return self._ask(
            text,
            {parameter: parameters.get(parameter) for parameter in statement.named_parameters},
            [table for table in TABLES if table in text],
        )

    def sql(self, text: str) -> Rows:
        """The answer to a person's SELECT, which sees the lake's tables and nothing else of this machine.

        Raises BadInput where it is not one SELECT, or DuckDB cannot make sense of it.
        """
        try:
            statements = duckdb.extract_statements(text)
        except duckdb.Error as wrong:
            raise BadInput(f"DuckDB cannot read this SQL: {wrong}") from wrong
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise BadInput(
                f"one SELECT at a time, please; this is {_named(statements)}. Nothing here can be changed."
            )
        return self._ask(text, {})

    def publish(self) -> Path:
        """Build memflow.duckdb anew (views over the lake, the scores as tables) and rename it into place.

        Raises StoreBusy where the lake changed under every attempt, BadInput for a key that is there twice.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        written = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}.writing")
        try:
            self._build(written)
            written.replace(self.path)
        finally:
            written.unlink(missing_ok=True)
        return self.path

    def _ask(self, text: str, parameters: dict[str, Any], tables: Sequence[str] = (*TABLES,)) -> Rows:
        """Answer a question that sees these tables, and the views where it names one."""
        # To make a view DuckDB looks at the files of its tables; so they are made for a question that names one.
        named = any(view.rpartition(".")[2] in text.lower() for view in VIEWS)
        views, tables = (VIEWS, (*TABLES,)) if named else ((), tables)
        metrics = named or METRICS in text.lower()
        try:
            with self.lake.snapshot(tables) as lake, _opened(lake, tables, views, metrics) as connection:
                answer = connection.execute(text, parameters)
                return Rows([column[0] for column in answer.description or ()], answer.fetchall())
        except duckdb.Error as wrong:
            raise BadInput(f"DuckDB cannot answer this: {wrong}") from wrong

    def _build(self, path: Path) -> None:
        """The database at `path`; begun again where a file was replaced just as DuckDB looked at it, since its
        views have to name the lake's own files and no snapshot of them."""
        for attempt in range(1, ATTEMPTS + 1):
            path.unlink(missing_ok=True)
            try:
                with duckdb.connect(path) as connection:
                    for table in TABLES:
                        if self.lake.local and not table.startswith(PUBLISHED):
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
                        f"{self.path} could not be built in {ATTEMPTS} attempts: {wrong}"
                    ) from wrong
                time.sleep(PAUSE_S * 2**attempt)


@contextmanager
def _opened(
    lake: Lake, tables: Sequence[str], views: Sequence[str], metrics: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory with these tables of the lake and these views, and which can reach nothing else."""
    with duckdb.connect(":memory:") as connection:
        # DuckDB calls its first database `memory`, which is a stage of ours; so it gets another one.
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
    """`table` as a view over its files, or empty. Names and paths cannot be parameters of a view."""
    stage, _, name = table.partition(".")
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {stage}")
    partitions = lake.partitions(table)
    if not partitions:
        connection.execute(_text_of("tables", table))
    elif lake.local:
        pattern = f"{_escaped(lake.folder(table))}/*.parquet"
        connection.execute(
            f"CREATE VIEW {table} AS FROM read_parquet({_literal(pattern)}, union_by_name = true)"
        )
    else:
        import pyarrow.dataset as ds  # noqa: PLC0415  (0.4 s, for a lake in an object store alone)

        paths = [lake.path(table, partition) for partition in partitions]
        held = ds.dataset(paths, schema=schema(table), filesystem=lake.filesystem, format="parquet")
        connection.register(f"lake_{stage}_{name}", held)
        connection.execute(f"CREATE VIEW {table} AS FROM lake_{stage}_{name}")


def _copy(connection: duckdb.DuckDBPyConnection, lake: Lake, table: str) -> None:
    """`table` with its rows. From an object store, every table: views would need the keys."""
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {table.partition('.')[0]}")
    connection.execute(_text_of("tables", table))
    for partition in lake.partitions(table):
        try:
            connection.from_arrow(lake.arrow(table, partition)).insert_into(table)
        except duckdb.ConstraintException as wrong:
            raise BadInput(f"{table} of {partition} cannot be published: {wrong}") from wrong


def _insert_metrics(connection: duckdb.DuckDBPyConnection) -> None:
    """Create score.metrics with the rows of the catalog."""
    import pyarrow as pa  # noqa: PLC0415  (for the questions that name it)

    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {METRICS.partition('.')[0]}")
    connection.execute(_text_of("tables", METRICS))
    connection.from_arrow(pa.Table.from_pylist(catalog_rows())).insert_into(METRICS)


def _text_of(folder: str, table: str) -> str:
    """The SQL of a table or a view, `stage.name`."""
    stage, _, name = table.partition(".")
    return _text(f"{folder}/{stage}", name)


def _text(folder: str, name: str) -> str:
    found: Traversable = files("sql")
    for part in folder.split("/"):
        found = found.joinpath(part)
    file = found.joinpath(f"{name}.sql")
    if not file.is_file():
        known = sorted(each.name.removesuffix(".sql") for each in found.iterdir())
        raise BadInput(f"there is no sql/{folder}/{name}.sql; there are {', '.join(known)}")
    return file.read_text(encoding="utf-8")


def _named(statements: list[duckdb.Statement]) -> str:
    if not statements:
        return "empty"
    return ", then ".join(str(statement.type).rpartition(".")[2] for statement in statements)


def _escaped(path: str) -> str:
    """`path` as a pattern that matches itself alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
