"""Output of commands: results go to standard output as text, JSON or CSV; all other messages to standard error."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from memflow.errors import BadInput

WIDE = 160
"""Columns of a table that goes into a file or a pipe, where COLUMNS does not say."""

NAMES = frozenset({"assistant", "domain", "memory", "metric", "role", "stage"})
"""Columns that are shown whole at every width, as the first column is."""
LEAST_NAME, LEAST_TEXT = 32, 14
"""Characters that the first column, and a column of text, keep at least."""
GAP = 2
"""Characters between two columns."""


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
        typer.echo(json.dumps(data, ensure_ascii=False, indent=2, default=str))
        return
    console = _console()
    for each in shown:
        console.print(each)


def answer_rows(form: Sheet, data: Any, rows: Sequence[Mapping[str, Any]], *shown: RenderableType) -> None:
    """Print a result to standard output: `rows` as CSV, `data` as JSON, or the parts in `shown` as text."""
    if form is not Sheet.csv:
        answer(Format(form.value), data, *shown)
        return
    written = io.StringIO()
    sheet = csv.DictWriter(written, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    sheet.writeheader()
    sheet.writerows(rows)
    typer.echo(written.getvalue(), nl=False)


def line_width() -> int:
    """Return the number of characters per line on standard output."""
    return _console().width


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
    _console(stderr=True).print(text, markup=False, soft_wrap=True)


@dataclass(frozen=True)
class FittedTable:
    """A table that fits the width of the terminal. Names are never truncated, and numbers wrap at spaces.

    Columns that do not fit are omitted; a line below the table lists the omitted columns.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Text]]
    numbers: frozenset[str]
    optional: Sequence[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, fitted to the console's width, and a note that lists the omitted columns."""
        natural = [self._width(at, str.splitlines) for at in range(len(self.columns))]
        least = [self._least(at, width) for at, width in enumerate(natural)]
        shown = [
            at
            for at, column in enumerate(self.columns)
            if column not in self.optional or any(row[at] for row in self.rows)
        ]
        left_out = []
        dispensable = [at for at in reversed(shown) if not self._is_name(at)]
        dispensable.sort(key=lambda at: _position(self.columns[at], self.optional))
        room = options.max_width + GAP
        while sum(least[at] + GAP for at in shown) > room and len(dispensable) > 1:
            left_out.append(dispensable.pop(0))
            shown.remove(left_out[-1])
        widths = {at: natural[at] for at in shown}
        while sum(width + GAP for width in widths.values()) > room:
            shrinkable = [at for at in shown if widths[at] > least[at]] or shown
            widths[max(shrinkable, key=lambda at: (self.columns[at] not in self.numbers, widths[at]))] -= 1
        yield self._table(widths)
        if left_out:
            names = ", ".join(" ".join(self.columns[at].split()) for at in sorted(left_out))
            yield note(f"Not shown at a width of {options.max_width} characters: {names}.")

    def _table(self, widths: Mapping[int, int]) -> Table:
        drawn = Table(
            title=self.title or None,
            title_justify="left",
            title_style="bold",
            box=None,
            pad_edge=False,
            header_style="dim",
        )
        for at, width in widths.items():
            column = self.columns[at]
            justify: JustifyMethod = "right" if column in self.numbers else "left"
            drawn.add_column(column, justify=justify, overflow="fold", min_width=width, max_width=width)
        for row in self.rows:
            drawn.add_row(*(row[at] for at in widths))
        return drawn

    def _width(self, at: int, split: Callable[[str], list[str]]) -> int:
        cells = [self.columns[at], *(row[at].plain for row in self.rows)]
        return max((cell_len(part) for text in cells for part in split(text)), default=0)

    def _least(self, at: int, natural: int) -> int:
        if self.columns[at] in NAMES:
            return natural
        if self.columns[at] in self.numbers:
            return self._width(at, str.split)
        return min(natural, LEAST_NAME if at == 0 else LEAST_TEXT)

    def _is_name(self, at: int) -> bool:
        return at == 0 or self.columns[at] in NAMES


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    right: Iterable[str] = (),
    optional: Sequence[str] = (),
) -> FittedTable:
    """Return a printable table of plain values; the columns named in `right` contain numbers.

    In a narrow terminal, the columns in `optional` are omitted first, in this order, then others from the right. A
    column in `optional` without a value is never shown.
    """
    cells = [[value if isinstance(value, Text) else Text(cell(value)) for value in row] for row in rows]
    return FittedTable(title, columns, cells, frozenset(right), optional)


def _position(column: str, optional: Sequence[str]) -> int:
    return optional.index(column) if column in optional else len(optional)


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


def _console(stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console
