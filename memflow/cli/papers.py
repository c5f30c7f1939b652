"""`memflow papers` and `memflow show paper`: the tables of papers, and one with memflow's values beside the paper's."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.options import argument, front_of, option
from memflow.cli.output import DOCUMENTS, Format, FormatOption, print_result
from memflow.rendering.tables import Text, table, table_of
from memflow.rendering.texts import heading, note

if TYPE_CHECKING:
    from memflow.papers.cells import MeasuredCell, MeasuredTable
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

NOT_RUN = "-"
MOST_DATA = 4
"""Missing data sets of a table that the list names."""
MOST_TOPICS = 12
"""Deviations of a domain that are named."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


PaperModelOption = Annotated[
    str | None,
    option("--model", "The model of rows for which it compares none. [the paper's, if it has results]"),
]
PaperLimitOption = Annotated[
    int,
    option(
        "--limit", "Show the samples of N. [the whole domains, or their largest samples]", metavar="N", min=0
    ),
]


def papers(
    ctx: typer.Context,
    paper: Annotated[str | None, argument("[PAPER]", "Of this benchmark's paper. [all]")] = None,
    form: FormatOption = Format.table,
) -> None:
    """List the tables and figures of each paper, and what is missing to run them.

    `memflow run --paper PAPER:TABLE` runs one, `memflow plan --paper` forecasts its cost, and `memflow show paper`
    prints it with the published values.
    """
    from memflow.operations.papers import listed_tables

    rows = listed_tables(front_of(ctx).load(), paper)
    parts: list[RenderableType] = []
    for name in dict.fromkeys(row["paper"] for row in rows):
        of_paper = [row for row in rows if row["paper"] == name]
        parts += [
            heading(f"{of_paper[0]['paper_title']}, {of_paper[0]['source']}"),
            table_of(of_paper, {"table": "table", "title": "title", "missing": _missing}),
        ]
    print_result(
        form,
        rows,
        *parts,
        note(
            "\n`memflow run --paper TABLE --model NAME` runs one, with `--limit N` on a sample; `memflow show paper "
            "TABLE` prints it beside the published values."
        ),
        rows=rows,
    )


def _missing(row: dict[str, Any]) -> str:
    names = row["missing"]
    others = f" and {len(names) - MOST_DATA} others" if len(names) > MOST_DATA else ""
    return row["unavailable"] or (f"data: {', '.join(names[:MOST_DATA])}{others}" if names else "")


def paper(
    ctx: typer.Context,
    reference: Annotated[str, argument("PAPER:TABLE", "The table, as `memflow papers` lists it.")],
    model: PaperModelOption = None,
    limit: PaperLimitOption = 0,
    form: FormatOption = Format.table,
) -> None:
    """Show a table of a paper in its rows and columns: published values, memflow's, and their difference.

    A difference is `beyond` if the published value is outside the 95 % interval of memflow's, or, with repeats, if it
    is larger than the noise between two evaluations; else it is `within`. Letters name what else differs, such as a
    sample. What was not run is `-`.
    """
    from memflow.cli.views import reader_of
    from memflow.operations.papers import missing_data, stored_table

    measured = stored_table(reader_of(ctx), reference, model=model or "", limit=limit)
    missing = missing_data(front_of(ctx).load(), measured.table)
    deviations = _deviations(front_of(ctx).load(), front_of(ctx).lake(), measured)
    print_result(
        form,
        {
            "table": reference,
            "title": measured.table.table.title,
            "source": measured.table.paper.source,
            "model": measured.model or None,
            "cells": [cell.plain() for cell in measured.cells],
            "deviations": deviations,
            "missing": missing,
            "unavailable": measured.table.table.unavailable or None,
        },
        *paper_parts(measured, deviations, missing, intervals=form in DOCUMENTS),
        rows=[cell.plain() for cell in measured.cells],
    )


def paper_parts(
    measured: "MeasuredTable", deviations: dict[str, list[str]], missing: dict[str, str], *, intervals: bool
) -> Iterator[RenderableType]:
    """Yield the table with three lines a row, optionally with intervals, and the notes below it."""
    from memflow.operations.papers import missing_lines

    of, name = measured.table.table, measured.table.reference
    texts = dict.fromkeys(
        text for cell in measured.cells for text in (_doubt(cell), *cell.marks, _reason(cell)) if text
    )
    letters = {text: LETTERS[at % 26] * (1 + at // 26) for at, text in enumerate(texts)}
    yield heading(f"{measured.table.name}: {of.title} ({measured.table.paper.source})")
    if measured.rows:
        columns = ["", *(cell.cell.column for cell in measured.rows[0])]
        has_values = any(cell.cell.published for cell in measured.cells)
        lines = [
            line
            for row in measured.rows
            for line in _lines(row, letters, has_values=has_values, intervals=intervals)
        ]
        yield table(columns, lines)
    yield from (note(f"{letters[text]}: {text.rstrip('.')}.") for text in letters)
    yield from map(note, _notes(measured, deviations))
    if measured.table.runs:
        if absent := [cell for cell in measured.cells if not cell.domain and not _reason(cell)]:
            model = next((cell.cell.fields.model or measured.model for cell in absent), "") or ""
            yield note(f"{NOT_RUN}: not run. {measured.table.command(model)}")
            yield from map(note, missing_lines(missing))
    else:
        yield Text(f"{name} cannot be run: {of.unavailable}.", "yellow")


def _lines(
    row: Sequence["MeasuredCell"], letters: dict[str, str], *, has_values: bool, intervals: bool
) -> Iterator[list[RenderableType]]:
    """Yield the lines of a row: published values, memflow's, and differences; one line if nothing is published."""
    label = row[0].cell.row
    if has_values:
        yield [label, *(Text(_published(cell, letters), "dim") for cell in row)]
    yield ["  memflow" if has_values else label, *(_own(cell, letters, intervals=intervals) for cell in row)]
    if any(cell.difference is not None for cell in row):
        bold = ["bold" if cell.verdict == "beyond" else "" for cell in row]
        yield ["  difference", *map(Text, map(_difference, row), bold)]


def _doubt(cell: "MeasuredCell") -> str:
    """Return what is known to be wrong with the published value of a cell, or an empty text."""
    return cell.cell.published.note if cell.cell.published else ""


def _reason(cell: "MeasuredCell") -> str:
    """Return why a cell has no value, or an empty text for one that was not run."""
    return cell.reason or cell.cell.fields.unavailable or ""


def _published(cell: "MeasuredCell", letters: dict[str, str]) -> str:
    value = cell.cell.published
    return f"{value.value} {letters.get(value.note, '')}".rstrip() if value else ""


def _own(cell: "MeasuredCell", letters: dict[str, str], *, intervals: bool) -> str:
    if cell.value is None:
        return f"none {letters[_reason(cell)]}" if _reason(cell) else NOT_RUN
    marks = "".join(letters[mark] for mark in cell.marks)
    form = f".{_digits(cell)}f"
    interval = f" [{cell.low:{form}}, {cell.high:{form}}]" if intervals and cell.low is not None else ""
    return f"{cell.value:{form}}{interval} {marks}".rstrip()


def _difference(cell: "MeasuredCell") -> str:
    return "" if cell.difference is None else f"{cell.difference:+.{_digits(cell)}f} {cell.verdict}".rstrip()


def _digits(cell: "MeasuredCell") -> int:
    value = cell.cell.published.value if cell.cell.published else ""
    return len(value.partition(".")[2]) if "." in value else 0 if value.isdigit() else 3


def _notes(measured: "MeasuredTable", deviations: dict[str, list[str]]) -> Iterator[str]:
    of = measured.table.table
    if of.note:
        yield of.note
    if measured.model:
        others = [name for name in measured.models if name != measured.model]
        also = f"; --model shows {', '.join(others)}" if others else ""
        paper = [name for name in measured.table.models if name != measured.model]
        of_paper = f"; the paper's: {', '.join(paper)}" if paper else ""
        yield f"memflow's values are of the model {measured.model}{also}{of_paper}."
    if any(cell.verdict for cell in measured.cells):
        yield (
            "within, beyond: whether the published value lies in the 95 % interval of memflow's value over episodes; "
            "with repeats, whether the difference is no larger than the noise between two evaluations."
        )
    for domain, topics in deviations.items():
        more = f"; and {len(topics) - MOST_TOPICS} others" if len(topics) > MOST_TOPICS else ""
        yield (
            f"{domain} differs from the published protocol in {len(topics)} points that can change scores: "
            f"{'; '.join(topics[:MOST_TOPICS])}{more}. `memflow show deviations {domain}` has all."
        )


def _deviations(settings: "Settings", lake: "Lake", measured: "MeasuredTable") -> dict[str, list[str]]:
    """Return the topics of the protocol points that can change scores and differ in the table's runs, by domain."""
    from memflow.operations.deviations import deviations_of_domain

    topics: dict[str, list[str]] = {}
    for domain in measured.domains:
        names = {cell.assistant for cell in measured.cells if cell.domain == domain}
        rows = deviations_of_domain(settings, lake, domain)["deviations"]
        own = [
            row["topic"] for row in rows if row["changes_scores"] and names.intersection(row["assistants"])
        ]
        topics[domain] = list(dict.fromkeys(own))
    return topics
