"""The command `memflow show kinds`: accuracy by question kind, as in MemBench's tables 10 to 12."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memflow.benchmarks.membench.kinds import COLUMNS, EMOTION, KINDS, PREFERENCE
from memflow.benchmarks.membench.paper import mechanisms as paper_mechanisms
from memflow.benchmarks.membench.tables import KIND_SLICES, TableRow
from memflow.benchmarks.membench.views.tables import (
    AT_FLOOR,
    NONE,
    PaperValue,
    chance_cell,
    measured_rows,
    missing_notes,
    paper_cell,
    paper_values,
    tables_answer,
)
from memflow.benchmarks.views import Answer, Dim, Heading, Note, Part, Reader, Table

TITLES = {PREFERENCE: "preference", EMOTION: "emotion"}


def show_kinds(reader: Reader, domain: Sequence[str] | None, paper: bool) -> Answer:
    """Return a table for each domain, with one column per question kind and one row per assistant."""
    domains, found = measured_rows(reader, domain, KIND_SLICES)
    values = paper_values(domains, found) if paper else []
    parts = [part for one in domains for part in _table(one.name, found, values)]
    return tables_answer(found, values, parts, paper=paper)


def _table(name: str, found: Sequence[TableRow], values: Sequence[PaperValue]) -> Iterator[Part]:
    own = [row for row in found if row.domain == name]
    slices = list(dict.fromkeys(row.slice for row in own))
    heads = [COLUMNS[_kind(slice_)] for slice_ in slices]
    rows = [*_accuracy_rows(own, slices), *_published([each for each in values if each[0] == name], slices)]
    yield Heading(f"{name}, accuracy by kind of question")
    yield Table(["memory", *heads], rows)
    yield Note("; ".join(f"{head}: {_title(at)}" for head, at in zip(heads, slices, strict=True)) + ".")
    yield from missing_notes(own, ("accuracy",))


def _accuracy_rows(own: Sequence[TableRow], slices: Sequence[str]) -> Iterator[list[Any]]:
    """Yield table rows: the accuracy of each assistant by question kind, chance accuracy, and the numbers of questions.

    Assistants are grouped by model if there are several models.
    """
    rows = {(row.assistant, row.slice): row for row in own}
    models = list(dict.fromkeys(row.model for row in own))
    for model in models:
        if len(models) > 1:
            yield [Dim(model), *([""] * len(slices))]
        for assistant in dict.fromkeys(row.assistant for row in own if row.model == model):
            yield [assistant, *(_accuracy(rows.get((assistant, slice_))) for slice_ in slices)]
    yield ["chance", *(f"{chance_cell(row for row in own if row.slice == slice_)} " for slice_ in slices)]
    yield ["n", *(_questions([row for row in own if row.slice == slice_]) for slice_ in slices)]


def _accuracy(row: TableRow | None) -> str:
    value = None if row is None else row.value("accuracy")
    if row is None or value is None:
        return f"{NONE} "
    return f"{value:.3f}{AT_FLOOR if row.at_floor else ' '}"


def _questions(rows: Sequence[TableRow]) -> str:
    """Return the number of questions, or the range from fewest to most if assistants differ."""
    counts = sorted({row.scores["accuracy"].n for row in rows if "accuracy" in row.scores})
    return f"{'-'.join(dict.fromkeys(map(str, (counts[0], counts[-1]))))} " if counts else f"{NONE} "


def _published(values: Sequence[PaperValue], slices: Sequence[str]) -> Iterator[list[Any]]:
    found: Mapping[tuple[str, str], Any] = {(one.mechanism, slice_): one for _, slice_, one in values}
    for model in dict.fromkeys(one.model for one in found.values()):
        yield [Dim(f"paper, {model}"), *([""] * len(slices))]
        for name, title in paper_mechanisms().items():
            yield [Dim(title), *(paper_cell(found.get((name, slice_))) for slice_ in slices)]
        counts = [found["full", slice_].questions for slice_ in slices if ("full", slice_) in found]
        if len(counts) == len(slices):
            yield [Dim("n"), *(f"{number or NONE} " for number in counts)]


def _kind(slice_: str) -> str:
    return slice_.removeprefix("category ")


def _title(slice_: str) -> str:
    name = _kind(slice_)
    return TITLES[name] if name in TITLES else KINDS[name].title
