"""`show mechanisms`: MemBench's memories by level of memory, as in its paper's tables 3 to 5. What a row is, is
benchmarks/membench/tables.py; what the paper says, reference.py beside it.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
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
from memflow.cli.output import Sheet, SheetOption, heading, room, table

if TYPE_CHECKING:
    from memflow.benchmarks.membench.tables import TableRow

HEADS = {
    "accuracy": "accuracy",
    "n": "n",
    "recall_at_10": "recall@10",
    "evidence_recall": "recall",
    "read_time": "read s",
    "write_time": "write s",
    "calls": "calls r / w",
}
"""The columns of a domain."""
BROAD = 74
"""Letters that they take."""


def mechanisms(
    ctx: typer.Context,
    domain: DomainFilter = None,
    paper: PaperOption = False,
    form: SheetOption = Sheet.text,
) -> None:
    """Show MemBench's memories by level of memory: accuracy with its interval, recall of evidence, seconds to read and
    to write, and chat requests for either.

    Recall@10 is by the ten best entries, recall by all that a budget let through. Seconds and requests are means over
    operations: to read is to recall for a question, to write to take in what arrives at once. Of a figure that is not
    there, the reason stands below the table.
    """
    from memflow.benchmarks.membench.tables import LEVEL_SLICES

    domains, found = measured_rows(ctx, domain, LEVEL_SLICES)
    beside = paper_beside(domains, found) if paper else []
    shown = [part for slice_ in LEVEL_SLICES for part in _level(slice_, found, beside)]
    answer_tables(form, found, beside, shown, asked=paper)


def _level(slice_: str, found: Sequence["TableRow"], beside: Sequence[Beside]) -> Iterator[RenderableType]:
    """The tables of a level: as many domains side by side as there is room for."""
    mine = [row for row in found if row.slice == slice_]
    if not mine:
        return
    published = [each for each in beside if each[1] == slice_]
    names = list(dict.fromkeys(row.domain for row in mine))
    abreast = max(1, (room() - max(len(row.assistant) for row in mine)) // BROAD)
    yield heading(f"MemBench, {slice_.removeprefix('level ')} memory")
    for first in range(0, len(names), abreast):
        some = names[first : first + abreast]
        columns = [
            f"{name if head == 'accuracy' else ''}\n{head}" for name in some for head in HEADS.values()
        ]
        rows = [*_measured(mine, some), *_published(published, some)]
        yield table("", ["\nmemory", *columns], rows, right=columns)
    yield from lacking(mine)


def _measured(mine: Sequence["TableRow"], domains: Sequence[str]) -> Iterator[list[Any]]:
    """A line for each assistant, model by model where there are several, and one for chance."""
    several = len({row.model for row in mine}) > 1
    for model, group in groupby(sorted(mine, key=lambda row: row.model), key=lambda row: row.model):
        if several:
            yield [Text(model, style="dim"), *([""] * len(domains) * len(HEADS))]
        of_model = list(group)
        held = {(row.domain, row.assistant): row for row in of_model}
        for assistant in dict.fromkeys(row.assistant for row in of_model):
            yield [assistant, *(cell for name in domains for cell in _cells(held.get((name, assistant))))]
    chance: list[Any] = ["chance"]
    for name in domains:
        there = [value for row in mine if row.domain == name and (value := row.value("random")) is not None]
        chance += [f"{there[0]:.3f}" if there else NONE, *([""] * (len(HEADS) - 1))]
    yield chance


def _cells(row: "TableRow | None") -> list[str]:
    if row is None:
        return [NONE] * len(HEADS)
    figure = row.scores.get("accuracy")
    accuracy = NONE
    if figure is not None and figure.value is not None:
        interval = "" if figure.low is None else f" [{figure.low:.2f} {figure.high:.2f}]"
        accuracy = f"{figure.value:.3f}{interval}{AT_FLOOR if row.at_floor else ' '}"
    calls = [_short(row.value(name)) for name in ("read_calls", "write_calls")]
    return [
        accuracy,
        str(figure.n) if figure is not None else NONE,
        *(_share(row.value(name)) for name in ("recall_at_10", "evidence_recall")),
        _short(row.value("read_time")),
        _short(row.value("write_time")),
        NONE if calls == [NONE, NONE] else " / ".join(calls),
    ]


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _short(value: float | None) -> str:
    if value is None:
        return NONE
    return "<0.001" if 0 < value < 0.001 else f"{value:,.3g}"


def _published(published: Sequence[Beside], domains: Sequence[str]) -> Iterator[list[Any]]:
    """The paper's lines: model by model, a mechanism each."""
    from memflow.benchmarks.membench.paper import mechanisms as titles

    held = {
        (one.model, one.mechanism, name, one.measure): one for name, _, one in published if name in domains
    }
    for model in dict.fromkeys(model for model, _, _, _ in held):
        yield [Text(f"paper, {model}", style="dim"), *([""] * len(domains) * len(HEADS))]
        for mechanism, title in titles().items():
            cells: list[str] = []
            for name in domains:
                of = {head: held.get((model, mechanism, name, head)) for head in HEADS}
                asked = of["accuracy"].questions if of["accuracy"] else None
                cells += [str(asked or "") if head == "n" else theirs(one) for head, one in of.items()]
            if any(cells):
                yield [Text(title, style="dim"), *cells]
