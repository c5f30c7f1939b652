"""Output of commands: results go to standard output in one of five formats; all other messages to standard error.

tables.py has the tables and the formats. Text for people shows control characters as symbols
(memflow/control_characters.py). JSON escapes them, and CSV contains them unchanged unless it goes to a terminal.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding

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
from memflow.operations.messages import TerminalConsole, message, terminal_console

__all__ = [
    "Columns",
    "FittedTable",
    "TerminalConsole",
    "Text",
    "cell",
    "message",
    "table",
    "table_of",
    "terminal_console",
]

MOST_LINES = 20
"""Lines of a list that are shown."""


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
    if form is Format.table:
        console = terminal_console()
        for part in parts:
            console.print(part)
        return
    text = document(form, data, parts, rows)
    typer.echo(visible(text) if form is Format.csv and sys.stdout.isatty() else text, nl=False)


def document(
    form: Format, data: Any, parts: Sequence[RenderableType], rows: Sequence[Mapping[str, Any]] | None = None
) -> str:
    """Return a result as the text of a format other than `table`."""
    match form:
        case Format.csv:
            return csv_text(data, parts, rows)
        case Format.markdown:
            return markdown_text(parts)
        case Format.latex:
            return latex_text(parts)
    return json_escaped(json.dumps(data, ensure_ascii=False, indent=2, default=str)) + "\n"


def line_width() -> int:
    """Return the number of characters per line on standard output."""
    return terminal_console().width


def write(file: Path, content: str | bytes, force: bool) -> None:
    """Write a file atomically. Raises BadInput if the file exists (unless `force`) or cannot be written."""
    if file.exists() and not force:
        raise BadInput(f"{file} already exists. Overwrite it with --force, or choose another file.")
    beside = file.with_name(f"{file.name}.part")
    try:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        beside.replace(file)
    except OSError as wrong:
        raise BadInput(
            f"cannot write {file} ({wrong.strerror}). Choose another file, or make the folder writable."
        ) from wrong


def heading(text: str) -> Text:
    """Return a section title as styled text."""
    return Text(f"\n{text}", style="bold")


def note(text: str) -> Text:
    """Return a remark to print below a result, such as an assumption or a next step."""
    return Text(text, style="dim")


def inset(text: str, style: str = "") -> RenderableType:
    """Return an indented text."""
    return Padding(Text(text, style), (0, 0, 0, 2), expand=False)


def share_text(row: Any, name: str) -> str:
    """Return a share of a row with its interval, from the columns `name`, `name_low` and `name_high`; "" if missing."""
    value, low, high = (getattr(row, f"{name}{end}") for end in ("", "_low", "_high"))
    return "" if value is None else f"{value:.2f} {interval_text(low, high, '.2f')}"


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
