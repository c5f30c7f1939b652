"""Output of commands: results go to standard output as text, JSON or CSV; all other messages to standard error.

fitted_table.py fits tables to the terminal. Text for people shows control characters as symbols
(memflow/control_characters.py). JSON escapes them, and CSV contains them unchanged unless it goes to a terminal.
"""

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text as RichText

from memflow.cli.fitted_table import FittedTable
from memflow.control_characters import json_escaped, visible
from memflow.errors import BadInput

WIDE = 160
"""Columns of a table that goes into a file or a pipe, where COLUMNS does not say."""


class Text(RichText):
    """Text with control characters as symbols, so that its width is that of the printed text."""

    def __init__(self, text: str = "", *arguments: Any, **options: Any) -> None:
        super().__init__(visible(text), *arguments, **options)


class TerminalConsole(Console):
    """A console that sends no control character of a text to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, with control characters in their texts as symbols."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


class Format(StrEnum):
    """The output formats of a command: text or JSON."""

    text = "text"
    json = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="text, for people; json, for programs: nothing else is on stdout.")
]


class Sheet(StrEnum):
    """The output formats of a command whose result is a list of rows: text, JSON or CSV."""

    text = "text"
    csv = "csv"
    json = "json"


SheetOption = Annotated[
    Sheet,
    typer.Option("--format", help="text, for people; csv or json, for programs: nothing else is on stdout."),
]


def answer(form: Format, data: Any, *shown: RenderableType) -> None:
    """Print a result to standard output: `data` as JSON, or the parts in `shown` as text."""
    if form is Format.json:
        typer.echo(json_escaped(json.dumps(data, ensure_ascii=False, indent=2, default=str)))
        return
    console = terminal_console()
    for part in shown:
        console.print(part)


def answer_rows(form: Sheet, data: Any, rows: Sequence[Mapping[str, Any]], *shown: RenderableType) -> None:
    """Print a result to standard output: `rows` as CSV, `data` as JSON, or the parts in `shown` as text."""
    if form is not Sheet.csv:
        answer(Format(form.value), data, *shown)
        return
    written = io.StringIO()
    sheet = csv.DictWriter(written, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    sheet.writeheader()
    sheet.writerows(rows)
    typer.echo(visible(written.getvalue()) if sys.stdout.isatty() else written.getvalue(), nl=False)


def line_width() -> int:
    """Return the number of characters per line on standard output."""
    return terminal_console().width


def write(file: Path, text: str, force: bool) -> None:
    """Write a file atomically. Raises BadInput if the file exists (unless `force`) or cannot be written."""
    if file.exists() and not force:
        raise BadInput(f"{file} already exists. Overwrite it with --force, or choose another file.")
    beside = file.with_name(f"{file.name}.part")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(file)
    except OSError as wrong:
        raise BadInput(
            f"cannot write {file} ({wrong.strerror}). Choose another file, or make the folder writable."
        ) from wrong


def message(text: str) -> None:
    """Print a message on standard error."""
    terminal_console(stderr=True).print(text, markup=False, soft_wrap=True)


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    right: Iterable[str] = (),
    optional: Sequence[str] = (),
) -> FittedTable:
    """Return a printable table of plain values; the columns named in `right` contain numbers.

    A column in `optional` is not shown where it has no value. Where the terminal is too narrow, and such a column has
    the same value in every row, a line below the table shows the value instead.
    """
    cells = [[value if isinstance(value, RichText) else Text(cell(value)) for value in row] for row in rows]
    return FittedTable(title, columns, cells, frozenset(right), frozenset(optional))


def records_table(
    rows: Sequence[Mapping[str, Any]],
    title: str = "",
    *,
    right: Iterable[str] = (),
    optional: Sequence[str] = (),
) -> FittedTable:
    """Return a printable table of rows with equal keys, which are its columns (see `table`)."""
    columns = [*rows[0]] if rows else []
    return table(title, columns, [[*row.values()] for row in rows], right=right, optional=optional)


def heading(text: str) -> Text:
    """Return a section title as styled text."""
    return Text(f"\n{text}", style="bold")


def note(text: str) -> Text:
    """Return a remark to print below a result, such as an assumption or a next step."""
    return Text(text, style="dim")


def cell(value: Any) -> str:
    """Return a table cell as text: empty for None, integers with thousands separators, floats with three decimals."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


def interval_text(low: float | None, high: float | None, form: str = ".3f", reason: str | None = None) -> str:
    """Return an interval as text, such as `0.250 – 0.750`; without ends `none: REASON`, or nothing without a reason."""
    if low is None or high is None:
        return f"none: {reason}" if reason else ""
    return f"{low:{form}} – {high:{form}}"


def p_text(p: float) -> str:
    """Return a p value with at most three decimals."""
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def duration(seconds: float) -> str:
    """Return a duration as `2 h 05 min`, `3 min 20 s` or `4.2 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60:,} h {minutes % 60:02d} min"


def cut(text: str, length: int) -> str:
    """Return `text` as one line of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def terminal_console(stderr: bool = False) -> Console:
    """Return a console on standard output or standard error; a file or pipe has WIDE columns."""
    console = TerminalConsole(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console
