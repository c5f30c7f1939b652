"""The papers of the installed benchmarks, from `paper.yaml` and `paper.csv` in their packages (`BenchmarkSpec.paper`).

`paper.csv` has a row per published value: table, system, model, slice, metric, value, source, note. A value is a number
or a text such as `<0.001`. An empty source is that of the paper.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import ValidationError

from memflow.benchmarks import registry
from memflow.benchmarks.domain_names import DomainName
from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.paper_values import KEY, PublishedValue, read_values
from memflow.benchmarks.plugins import load_object
from memflow.benchmarks.raw_records import first_error
from memflow.benchmarks.views import Reader
from memflow.errors import BadInput
from memflow.papers.schema import CellFields, Paper, PaperTable, PublishedKey
from memflow.suggestions import unknown_name

COMMAND = "memflow papers"


@dataclass(frozen=True)
class TableCell:
    """A cell of a table: the fields of memflow's value, and the published value, if there is one."""

    row: str
    column: str
    fields: CellFields
    published: PublishedValue | None


@dataclass(frozen=True)
class TableOfPaper:
    """A table or figure with its cells by row and column. `name` is that in the paper, such as `Table 2`."""

    benchmark: str
    id: str
    name: str
    paper: Paper
    table: PaperTable
    cells: tuple[tuple[TableCell, ...], ...]

    @property
    def reference(self) -> str:
        """What `--paper` takes: `BENCHMARK:ID`."""
        return f"{self.benchmark}:{self.id}"

    @property
    def runs(self) -> bool:
        """Whether memflow can compute any of its values."""
        return not self.table.unavailable and bool(self.domains)

    @property
    def domains(self) -> tuple[str, ...]:
        """The names of the domains that it needs, with the table's profile, such as `DOMAIN.PROFILE`."""
        names = dict.fromkeys(fields.domain for fields in self._fields() if fields.domain)
        return tuple(self.domain(name) for name in names)

    @property
    def assistants(self) -> tuple[str, ...]:
        """The assistants that it needs: first those of the whole table, then those that only a row names."""
        named = (fields.assistant for fields in self._fields() if fields.assistant)
        return tuple(dict.fromkeys((*self.table.assistants, *named)))

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models of the published values; empty if they name none."""
        values = (cell.published for row in self.cells for cell in row)
        return tuple(dict.fromkeys(value.model for value in values if value and value.model))

    def domain(self, name: str) -> str:
        """Return the name of a domain with the profile of the table."""
        return str(DomainName(name, self.table.profile))

    def command(self, model: str = "") -> str:
        """Return the command that runs the table, with a model or the paper's first; empty if it cannot be run."""
        name = model or next(iter(self.models), "MODEL")
        return f"memflow run --paper {self.reference} --model {name}" if self.runs else ""

    def _fields(self) -> Iterator[CellFields]:
        """Yield the fields of every cell that memflow can compute, and of what it is compared with (`minus`)."""
        for cell in (cell for row in self.cells for cell in row):
            if cell.fields.unavailable is None:
                yield cell.fields
                if cell.fields.minus is not None:
                    yield merged(cell.fields, cell.fields.minus)


@cache
def papers() -> Mapping[str, Paper]:
    """Return the papers of the benchmarks that have one, by benchmark. Raises BadInput for an invalid file."""
    return {spec.name: _paper(spec.name, spec.paper) for spec in registry.specs() if spec.paper}


def published_values(benchmark: str) -> tuple[PublishedValue, ...]:
    """Return the rows of a benchmark's `paper.csv`. Raises BadInput for an invalid file."""
    return read_values(registry.spec_of(benchmark).paper)


def find_table(reference: str) -> TableOfPaper:
    """Return the table `BENCHMARK:ID`. Raises BadInput for an unknown paper or table, with similar names."""
    benchmark, _, name = reference.partition(":")
    if benchmark not in papers():
        raise BadInput(unknown_name("paper", benchmark, papers(), COMMAND))
    tables = papers()[benchmark].tables
    if name not in tables:
        raise BadInput(unknown_name("table", name, tables, COMMAND, owner=f"the paper of {benchmark}"))
    return _table(benchmark, name)


def tables_of(benchmark: str) -> list[TableOfPaper]:
    """Return the tables and figures of a benchmark's paper in its order."""
    return [_table(benchmark, name) for name in papers()[benchmark].tables]


def merged(*parts: CellFields) -> CellFields:
    """Return the fields of all parts. Later ones replace earlier ones; what `differs` is joined."""
    values: dict[str, Any] = {}
    key: dict[str, Any] = {}
    where: dict[str, str] = {}
    differs = [part.differs for part in parts if part.differs]
    for part in parts:
        values |= part.model_dump(exclude_none=True, exclude={"published", "minus", "where"})
        values |= {"minus": part.minus} if part.minus else {}
        where |= part.where
        key |= part.published.model_dump(exclude_none=True)
    own = {"differs": "; ".join(dict.fromkeys(differs)) or None, "where": where}
    return CellFields(**{**values, **own, "published": PublishedKey(**key)})


def _paper(benchmark: str, package: str) -> Paper:
    try:
        return Paper.model_validate(load_yaml(package, "paper.yaml"))
    except ValidationError as wrong:
        raise BadInput(f"paper.yaml of {benchmark}, {first_error(wrong)}. Fix the file.") from wrong


@cache
def _table(benchmark: str, name: str) -> TableOfPaper:
    paper = papers()[benchmark]
    table = paper.tables[name]
    title = table.name or re.sub(r"(?<=[a-z])(?=\d)", " ", name).capitalize()
    cells = tuple(
        tuple(
            _cell(benchmark, name, title, row, column, merged(table.cells, of_row, of_column))
            for column, of_column in table.columns.items()
        )
        for row, of_row in table.rows.items()
    )
    return TableOfPaper(benchmark, name, title, paper, table, cells)


def _cell(benchmark: str, name: str, title: str, row: str, column: str, fields: CellFields) -> TableCell:
    """Return a cell with its published value. Raises BadInput if several published values fit."""
    defaults = {"table": title, "system": row, "metric": fields.metric}
    key = defaults | fields.published.model_dump(exclude_none=True)
    key |= {"model": fields.model} if fields.model else {}
    fitting = [
        value
        for value in _by_table(benchmark).get(str(key.pop("table")), ())
        if all(wanted in (None, getattr(value, part)) for part, wanted in key.items())
    ]
    if len(fitting) > 1:
        differing = [part for part in KEY if len({getattr(value, part) for value in fitting}) > 1]
        raise BadInput(
            f"{benchmark}:{name}, row {row!r}, column {column!r}: {len(fitting)} published values fit, which differ in "
            f"{', '.join(differing)}. Name it in `published`."
        )
    return TableCell(row, column, fields, fitting[0] if fitting else None)


@cache
def _by_table(benchmark: str) -> Mapping[str, list[PublishedValue]]:
    by_table: dict[str, list[PublishedValue]] = {}
    for value in published_values(benchmark):
        by_table.setdefault(value.table, []).append(value)
    return by_table


def view_records(reader: Reader, name: str) -> Sequence[Mapping[str, Any]]:
    """Return the records of a view of `memflow show` with the defaults of its options; empty without results."""
    _, view = registry.views()[name]
    show = load_object(view.show) if isinstance(view.show, str) else view.show
    try:
        shown = show(reader, **{option.name: option.default for option in view.options})
    except BadInput:
        return ()
    records: Sequence[Mapping[str, Any]] = shown.records
    return records
