"""How commands print: the answer on standard output, as text, as JSON or as CSV; all else on standard error."""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from memflow.errors import BadInput

WIDE = 160
"""Columns of a table that goes into a file or a pipe, where COLUMNS does not say."""


class Format(StrEnum):
    """How an answer is printed."""

    text = "text"
    json = "json"


FormatOption = Annotated[
    Format, typer.Option("--format", help="text, for people; json, for programs: nothing else is on stdout.")
]


class Sheet(StrEnum):
    """How an answer with rows is printed."""

    text = "text"
    csv = "csv"
    json = "json"


SheetOption = Annotated[
    Sheet,
    typer.Option("--format", help="text, for people; csv or json, for programs: nothing else is on stdout."),
]


def answer(form: Format, data: Any, *shown: RenderableType) -> None:
    """Print `data` as JSON, or the `shown` parts as text."""
    if form is Format.json:
        typer.echo(json.dumps(data, ensure_ascii=False, indent=2, default=str))
        return
    console = _console()
    for each in shown:
        console.print(each)


def answer_rows(form: Sheet, data: Any, rows: Sequence[Mapping[str, Any]], *shown: RenderableType) -> None:
    """Print `rows` as CSV with a header; or `data` or the parts, as `answer` does."""
    if form is not Sheet.csv:
        answer(Format(form.value), data, *shown)
        return
    written = io.StringIO()
    sheet = csv.DictWriter(written, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    sheet.writeheader()
    sheet.writerows(rows)
    typer.echo(written.getvalue(), nl=False)


def line_width() -> int:
    """Return the characters that a line has on standard output."""
    return _console().width


def write(file: Path, text: str, force: bool) -> None:
    """Write a file atomically. Raises BadInput if it exists, unless `force`, or cannot be written."""
    if file.exists() and not force:
        raise BadInput(f"{file} exists; --force overwrites it")
    beside = file.with_name(f"{file.name}.part")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(file)
    except OSError as wrong:
        raise BadInput(f"{file} cannot be written: {wrong.strerror}") from wrong


def message(text: str) -> None:
    """Print a message on standard error."""
    _console(stderr=True).print(text, markup=False, soft_wrap=True)


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    right: Iterable[str] = (),
    caption: str = "",
) -> Table:
    """Return a table of plain values; the columns named in `right` hold numbers."""
    drawn = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        caption=caption or None,
        caption_justify="left",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    numbers = set(right)
    for place, column in enumerate(columns):
        whole = column in numbers or place == 0  # numbers and names are never broken
        drawn.add_column(column, justify="right" if column in numbers else "left", no_wrap=whole)
    for row in rows:
        drawn.add_row(*(value if isinstance(value, Text) else Text(cell(value)) for value in row))
    return drawn


def heading(text: str) -> Text:
    """Return the title of what follows."""
    return Text(f"\n{text}", style="bold")


def note(text: str) -> Text:
    """Return a remark below an answer: an assumption, a label, a next step."""
    return Text(text, style="dim")


def cell(value: Any) -> str:
    """Return a value as text: empty for None, thousands separators, three decimals."""
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


def duration(seconds: float) -> str:
    """Return a duration as `2 h 05 min`, `3 min 20 s` or `4.2 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60:,} h {minutes % 60:02d} min"


def cut(text: str, length: int) -> str:
    """Return `text` in one line of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _console(stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console
