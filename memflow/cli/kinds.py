"""`show kinds`: MemBench's accuracy by kind of question, as in its paper's tables 10 to 12. What a row is, is
benchmarks/membench/tables.py; what the paper says, reference.py beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from memflow.cli.membench import (
    AT_FLOOR,
    NONE,
    Beside,
    DomainFilter,
    PaperOption,
    answer_tables,
    lacking,
    measured_rows,
    paper_beside,
    theirs,
)
from memflow.cli.output import Sheet, SheetOption, heading, note, table

if TYPE_CHECKING:
    from memflow.benchmarks.membench.tables import TableRow


def kinds(
    ctx: typer.Context,
    domain: DomainFilter = None,
    paper: PaperOption = False,
    form: SheetOption = Sheet.text,
) -> None:
    """Show MemBench's accuracy by kind of question, with how many were asked of each.

    What is reflective asks for a preference or an emotion; `memflow show leaderboard --slices` tells preferences that
    show in what was recommended apart (category highlevel_rec). csv and json have the intervals.
    """
    from memflow.benchmarks.membench.tables import KIND_SLICES

    domains, found = measured_rows(ctx, domain, KIND_SLICES)
    beside = paper_beside(domains, found) if paper else []
    shown = [part for one in domains for part in _domain(one.name, found, beside)]
    answer_tables(form, found, beside, shown, asked=paper)


def _domain(name: str, found: Sequence["TableRow"], beside: Sequence[Beside]) -> Iterator[RenderableType]:
    """The table of a domain: a column for each kind that it has, a line for each assistant."""
    from memflow.benchmarks.membench.kinds import COLUMNS

    mine = [row for row in found if row.domain == name]
    there = list(dict.fromkeys(row.slice for row in mine))
    heads = [COLUMNS[slice_.removeprefix("category ")] for slice_ in there]
    rows = [*_measured(mine, there), *_published([each for each in beside if each[0] == name], there)]
    yield heading(f"{name}, accuracy by kind of question")
    yield table("", ["memory", *heads], rows, right=heads)
    yield note("; ".join(f"{head}: {_title(at)}" for head, at in zip(heads, there, strict=True)) + ".")
    yield from lacking(mine, ("accuracy",))


def _measured(mine: Sequence["TableRow"], slices: Sequence[str]) -> Iterator[list[Any]]:
    """A line for each assistant, model by model where there are several; one for chance, and how many were asked."""
    held = {(row.assistant, row.slice): row for row in mine}
    models = list(dict.fromkeys(row.model for row in mine))
    for model in models:
        if len(models) > 1:
            yield [Text(model, style="dim"), *([""] * len(slices))]
        for assistant in dict.fromkeys(row.assistant for row in mine if row.model == model):
            yield [assistant, *(_cell(held.get((assistant, slice_))) for slice_ in slices)]
    yield ["chance", *(_chance([row for row in mine if row.slice == slice_]) for slice_ in slices)]
    yield ["n", *(_asked([row for row in mine if row.slice == slice_]) for slice_ in slices)]


def _cell(row: "TableRow | None") -> str:
    value = None if row is None else row.value("accuracy")
    if row is None or value is None:
        return f"{NONE} "
    return f"{value:.3f}{AT_FLOOR if row.at_floor else ' '}"


def _chance(rows: Sequence["TableRow"]) -> str:
    there = [value for row in rows if (value := row.value("random")) is not None]
    return f"{there[0]:.3f} " if there else f"{NONE} "


def _asked(rows: Sequence["TableRow"]) -> str:
    """How many questions the figures rest on: from and to, where answers were lost."""
    there = sorted({row.scores["accuracy"].n for row in rows if "accuracy" in row.scores})
    return f"{'-'.join(dict.fromkeys(map(str, (there[0], there[-1]))))} " if there else f"{NONE} "


def _published(beside: Sequence[Beside], slices: Sequence[str]) -> Iterator[list[Any]]:
    from memflow.benchmarks.membench.paper import mechanisms as titles

    held: Mapping[tuple[str, str], Any] = {(one.mechanism, slice_): one for _, slice_, one in beside}
    for model in dict.fromkeys(one.model for one in held.values()):
        yield [Text(f"paper, {model}", style="dim"), *([""] * len(slices))]
        for name, title in titles().items():
            yield [Text(title, style="dim"), *(theirs(held.get((name, slice_))) for slice_ in slices)]
        asked = [held[first].questions for first in (("full", slice_) for slice_ in slices) if first in held]
        if len(asked) == len(slices):
            yield [Text("n", style="dim"), *(f"{number or NONE} " for number in asked)]


def _title(slice_: str) -> str:
    from memflow.benchmarks.membench.kinds import EMOTION, KINDS, PREFERENCE

    name = slice_.removeprefix("category ")
    told = {PREFERENCE: "preference", EMOTION: "emotion"}
    return told[name] if name in told else KINDS[name].title
