"""Output of commands: results go to standard output in one of five formats; all other messages to standard error.

tables.py has the tables and the formats. Text for people shows control characters as symbols
(memflow/control_characters.py). JSON escapes them, and CSV contains them unchanged unless it goes to a terminal.
"""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment

from memflow.cli.tables import (
    Columns,
    FittedTable,
    Text,
    cell,
    csv_text,
    latex_text,
    markdown_text,
    table,
    table_of,
)
from memflow.control_characters import json_escaped, visible
from memflow.errors import BadInput

__all__ = ["Columns", "FittedTable", "Text", "cell", "table", "table_of"]

MOST_LINES = 20
"""Lines of a list that are shown."""
WIDE = 160
"""Columns of a table that goes into a file or a pipe, where COLUMNS does not say."""


class TerminalConsole(Console):
    """A console that sends no control character of a text to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, with control characters in their texts as symbols."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


class Format(StrEnum):
    """The formats of a command's result."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        help="table, for people; json or csv, for programs; markdown or latex (booktabs), for documents.",
    ),
]


def answer(
    form: Format, data: Any, *parts: RenderableType, rows: Sequence[Mapping[str, Any]] | None = None
) -> None:
    """Print a result to standard output: `data` as JSON, or the tables and texts in `parts` in another format.

    CSV has `rows`, or else the rows of `data` or of the tables.
    """
    match form:
        case Format.table:
            console = terminal_console()
            for part in parts:
                console.print(part)
            return
        case Format.json:
            text = json_escaped(json.dumps(data, ensure_ascii=False, indent=2, default=str)) + "\n"
        case Format.csv:
            text = csv_text(data, parts, rows)
            text = visible(text) if sys.stdout.isatty() else text
        case Format.markdown:
            text = markdown_text(parts)
        case Format.latex:
            text = latex_text(parts)
    typer.echo(text, nl=False)


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


def heading(text: str) -> Text:
    """Return a section title as styled text."""
    return Text(f"\n{text}", style="bold")


def note(text: str) -> Text:
    """Return a remark to print below a result, such as an assumption or a next step."""
    return Text(text, style="dim")


def inset(text: str, style: str = "") -> RenderableType:
    """Return an indented text."""
    return Padding(Text(text, style), (0, 0, 0, 2), expand=False)


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


def first_lines(lines: Sequence[str], style: str = "") -> list[Text]:
    """Return the first lines of a list, indented, and a line with the number of the others."""
    shown = [Text(f"  {line}", style=style) for line in lines[:MOST_LINES]]
    if (others := len(lines) - MOST_LINES) > 0:
        shown.append(Text(f"  and {others:,} others; `--format json` lists all.", style="dim"))
    return shown


def line(text: str) -> Text:
    """Return a text as one line, which the terminal truncates with an ellipsis if it is too long."""
    return Text(" ".join(text.split()), no_wrap=True, overflow="ellipsis")


def cut(text: str, length: int) -> str:
    """Return `text` as one line of at most `length` characters."""
    words = " ".join(text.split())
    return words if len(words) <= length else words[: length - 1] + "…"


def terminal_console(stderr: bool = False) -> Console:
    """Return a console on standard output or standard error; a file or pipe has WIDE columns."""
    console = TerminalConsole(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console
