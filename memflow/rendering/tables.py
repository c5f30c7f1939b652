"""Tables of the command line, in each format: fitted to the terminal, CSV, Markdown, LaTeX.

On a terminal, a table that is too wide is printed as several blocks of columns, each with the columns that identify a
row. No value is left out or truncated. A column without a value is not shown. Where the terminal is too narrow, and a
column has the same value in every row, a line below the table shows the value instead.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as RichText

from memflow.control_characters import PICTURES, visible

NAMES = frozenset(
    {
        *("address", "addresses", "assistant", "domain", "episode", "memory", "metric", "probe", "role"),
        *("slice", "stage", "variant"),
    }
)
"""Columns that identify a row, as the first column does."""
LEAST_TEXT = 24
"""Characters that a column of text has at least in each line."""
GAP = 2
"""Characters between two columns."""
NUMBER = re.compile(
    r"(none|not measured|unknown|[-+±<~]? ?[\d.,]+(e[-+]?\d+)?)( ?(%|of|–|[-+/x±\[\](]+ ?|[\d.,]+|[)\]]))*"
)
"""The text of a cell with a number: a value, a share, a count of a total, or an interval."""
LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"},
    **{"–": "--", "…": "\\ldots{}", "±": "$\\pm$", "<": "$<$", ">": "$>$", "|": "$|$"},
    "\0": "{}",
    **{chr(PICTURES + code): f"$<$U+{code:04X}$>$" for code in range(0x22)},
}
"""The characters that LaTeX reads as markup, or that its default fonts lack."""
MINUS = re.compile(r"(?<![\w.])-(?=\d)")

Column = str | Callable[[Any], Any]
"""Where the values of a column are: the key or attribute of a row, or a function of the row."""
Columns = Mapping[str, Column]
"""The columns of a table by title."""


class Text(RichText):
    """Text with control characters as symbols, so that its width is that of the printed text."""

    def __init__(self, text: str = "", *arguments: Any, **options: Any) -> None:
        super().__init__(visible(text), *arguments, **options)


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


@dataclass(frozen=True)
class FittedTable:
    """A table of plain values or styled texts. Texts wrap; numbers are aligned on the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""

    @cached_property
    def shown(self) -> list["TableColumn"]:
        """The columns that have a value, and the first one."""
        texts = [
            [value if isinstance(value, RichText) else Text(cell(value)) for value in row]
            for row in self.rows
        ]
        columns = [
            TableColumn(name, [row[at] for row in texts], at == 0) for at, name in enumerate(self.columns)
        ]
        return [column for at, column in enumerate(columns) if at == 0 or any(column.cells) or not self.rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table in one or more blocks of columns, and a line on values that all rows share."""
        room, columns, shared = options.max_width, self.shown, []
        if _width(column.least for column in columns) > room and len(self.rows) > 1:
            others = [column for column in columns if not column.is_name]
            shared = [column for column in others if len({cell.plain for cell in column.cells}) == 1]
        columns = [column for column in columns if column not in shared]
        for number, block in enumerate(_blocks(columns, room)):
            if number:
                yield ""
            yield _drawn(block, room, self.title if not number else "")
        if shared:
            values = (f"{column.title} {column.cells[0].plain}" for column in shared)
            yield Text(f"In every row: {', '.join(values)}.", style="dim")

    @property
    def titles(self) -> list[str]:
        """The titles of the shown columns."""
        return [column.title for column in self.shown]

    def cells(self) -> list[list[str]]:
        """Return the shown cells of each row as text."""
        return [
            [text.plain for text in row] for row in zip(*(column.cells for column in self.shown), strict=True)
        ]


class TableColumn:
    """A column, its `natural` width, and its `least` width, below which it goes into another block."""

    def __init__(self, name: str, cells: Sequence[RichText], is_first: bool) -> None:
        texts = [name, *(cell.plain for cell in cells)]
        self.name, self.cells = name, cells
        self.title = " ".join(visible(name).split())
        values = [text for text in texts[1:] if text]
        self.is_name = is_first or name in NAMES
        self.is_number = bool(values) and all(map(NUMBER.fullmatch, values))
        self.natural = max(cell_len(line) for text in texts for line in text.split("\n"))
        self.least = self.natural if self.is_name else min(self.natural, LEAST_TEXT)
        if self.is_number and not self.is_name:  # its name may wrap between words
            self.least = max(map(cell_len, (*name.split(), *texts[1:])), default=0)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> FittedTable:
    """Return a printable table of plain values or styled texts."""
    return FittedTable(columns, [*rows], title)


def table_of(rows: Iterable[Any], columns: Columns | Sequence[str] = (), title: str = "") -> FittedTable:
    """Return a printable table of records. `columns` declares the value of each column; the default is all keys."""
    records = [*rows]
    declared = columns or [*(records[0] if records else ())]
    if not isinstance(declared, Mapping):
        declared = {name.replace("_", " "): name for name in declared}
    return FittedTable(
        [*declared], [[_value(row, column) for column in declared.values()] for row in records], title
    )


def _value(row: Any, column: Column) -> Any:
    if callable(column):
        return column(row)
    return row.get(column) if isinstance(row, Mapping) else getattr(row, column)


def csv_text(data: Any, parts: Iterable[RenderableType], rows: Sequence[Mapping[str, Any]] | None) -> str:
    """Return a result as CSV: `rows`, or else the list `data`, the tables in `parts`, or the plain values of `data`."""
    if rows is None and isinstance(data, list) and all(isinstance(row, Mapping) for row in data):
        rows = data
    written = io.StringIO()
    tables = [part for part in map(_inner, parts) if isinstance(part, FittedTable)]
    if rows is not None or not tables:
        rows = [data] if rows is None else rows
        sheet = csv.DictWriter(written, list(dict.fromkeys(name for row in rows for name in row)), restval="")
        sheet.writeheader()
        sheet.writerows({name: _plain(value) for name, value in row.items()} for row in rows)
    for number, part in enumerate(tables if rows is None else ()):
        lines = csv.writer(written)
        if number:
            lines.writerow([])
        lines.writerow([" ".join(name.split()) for name in part.columns])
        lines.writerows([_plain(value) for value in row] for row in part.rows)
    return written.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, RichText):
        return value.plain
    return (
        json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, (dict, list, tuple))
        else value
    )


def markdown_text(parts: Iterable[RenderableType]) -> str:
    """Return a result in Markdown: its tables, and its other texts as paragraphs."""
    from memflow.scoring.markdown import Escaped, escape, markdown_table

    paragraphs = []
    for part in map(_inner, parts):
        if isinstance(part, FittedTable):
            names = [*map(escape, part.titles)]
            numbers = [escape(column.title) for column in part.shown if column.is_number]
            paragraphs += [f"**{escape(part.title.strip())}**"] * bool(part.title.strip())
            cells = zip(*(column.cells for column in part.shown), strict=True)
            rows = [
                [Escaped(f"**{escape(text.plain)}**") if text.style == "bold" else text.plain for text in row]
                for row in cells
            ]
            paragraphs.append(markdown_table(names, rows, numbers))
        elif text := _text(part):
            paragraphs.append("  \n".join(map(escape, text.splitlines())))
    return "\n\n".join(paragraphs) + "\n"


def latex_text(parts: Iterable[RenderableType]) -> str:
    """Return a result in LaTeX: a `table` with a `tabular` of the package booktabs for each table, and its notes below.

    A bold text, such as a heading, is the caption of the next table.
    """
    lines = ["% \\usepackage{booktabs}"]
    caption, is_open = "", False
    for part in map(_inner, parts):
        is_table = isinstance(part, FittedTable)
        is_heading = isinstance(part, RichText) and part.style == "bold"
        if is_open and (is_table or is_heading):
            lines.append("\\end{table}")
            is_open = False
        if isinstance(part, FittedTable):
            title = ". ".join(filter(None, (caption, _latex(part.title))))
            lines += [
                "\\begin{table}",
                "\\centering",
                *([f"\\caption{{{title}}}"] * bool(title)),
                *_tabular(part),
            ]
            caption, is_open = "", True
        elif is_heading:
            caption = ". ".join(filter(None, (caption, _latex(_text(part)))))
        else:
            lines += [caption] * bool(caption)
            lines += [
                f"\\par\\footnotesize {_latex(line)}" for line in _text(part).splitlines() if line.strip()
            ]
            caption = ""
    lines += [caption] * bool(caption) + ["\\end{table}"] * is_open
    return "\n".join(lines) + "\n"


def _tabular(table: FittedTable) -> list[str]:
    """Return the lines of a `tabular`, with the cells of the style `bold` in bold."""
    spec = "".join("r" if column.is_number else "l" for column in table.shown)
    rows = zip(*(column.cells for column in table.shown), strict=True)
    lines = [
        [f"\\textbf{{{_latex(cell.plain)}}}" if cell.style == "bold" else _latex(cell.plain) for cell in row]
        for row in rows
    ]
    body = map(_latex_row, lines)
    head = _latex_row(map(_latex, table.titles))
    return [
        f"\\begin{{tabular}}{{{spec}}}",
        "\\toprule",
        head,
        "\\midrule",
        *body,
        "\\bottomrule",
        "\\end{tabular}",
    ]


def _latex_row(cells: Iterable[str]) -> str:
    """Return a row of a `tabular`. LaTeX reads `[` and `*` at its beginning as arguments of the row before."""
    row = " & ".join(cells)
    return f"{'{}' * row.startswith(('[', '*'))}{row} \\\\"


def _latex(text: str) -> str:
    """Return a text in one line of LaTeX, with a minus sign before a negative number."""
    single = re.sub("-(?=-)", "-\0", visible(" ".join(text.split())))  # two hyphens would become a dash
    return MINUS.sub("$-$", "".join(LATEX.get(letter, letter) for letter in single))


def _inner(part: RenderableType) -> RenderableType:
    return part.renderable if isinstance(part, Padding) else part


def _text(part: RenderableType) -> str:
    """Return the text of a part that is no table."""
    text = part.plain if isinstance(part, RichText) else getattr(part, "markup", str(part))
    return visible(text).strip("\n")


def _blocks(columns: Sequence[TableColumn], room: int) -> list[list[TableColumn]]:
    """Return the columns of each block: the names, and as many others as fit."""
    names = [column for column in columns if column.is_name]
    blocks: list[list[TableColumn]] = [[]]
    for column in columns:
        if column.is_name:
            continue
        if blocks[-1] and _width(other.least for other in (*names, *blocks[-1], column)) > room:
            blocks.append([])
        blocks[-1].append(column)
    return [[column for column in columns if column.is_name or column in block] for block in blocks]


def _drawn(columns: Sequence[TableColumn], room: int, title: str) -> Table:
    """Return a block. Where it is too wide, rich wraps its texts, and its names if that is not enough."""
    drawn = Table(
        title=Text(title) if title else None,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    is_narrow = _width(column.natural for column in columns) > room
    wraps_names = _width(column.least for column in columns) > room
    for column in columns:
        is_whole = column.is_number or (column.is_name and not wraps_names)
        drawn.add_column(
            Text(column.name, style="dim"),
            justify="right" if column.is_number else "left",
            overflow="fold",
            width=column.least if is_narrow and is_whole else None,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        drawn.add_row(*row)
    return drawn


def _width(widths: Iterable[int]) -> int:
    """Return the width of columns beside one another."""
    return sum(width + GAP for width in widths) - GAP
