"""Tables of the command line that fit the width of the terminal without leaving out or truncating a value.

A table that is too wide is printed as several blocks of columns. Each block repeats the columns that identify a row.
output.py builds tables from plain values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

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


class TableColumn:
    """A column, its `natural` width, and its `least` width, below which it goes into another block."""

    def __init__(self, name: str, cells: Sequence[Text], *, is_name: bool, is_number: bool) -> None:
        texts = [name, *(cell.plain for cell in cells)]
        self.name, self.cells = name, cells
        self.is_name, self.is_number = is_name, is_number
        self.natural = max(cell_len(line) for text in texts for line in text.split("\n"))
        self.least = self.natural if is_name else min(self.natural, LEAST_TEXT)
        if is_number and not is_name:  # its name may wrap between words
            self.least = max(map(cell_len, (*name.split(), *texts[1:])), default=0)


@dataclass(frozen=True)
class FittedTable:
    """A table that fits the width of the terminal. Texts wrap; numbers are aligned on the right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Text]]
    numbers: frozenset[str]
    optional: frozenset[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table in one or more blocks of columns, and a line on values that all rows share."""
        room = options.max_width
        columns = [
            TableColumn(name, cells, is_name=at == 0 or name in NAMES, is_number=name in self.numbers)
            for at, name in enumerate(self.columns)
            if any(cells := [row[at] for row in self.rows]) or name not in self.optional
        ]
        shared = []
        if _width(column.least for column in columns) > room and len(self.rows) > 1:
            others = [column for column in columns if column.name in self.optional and not column.is_name]
            shared = [column for column in others if len({cell.plain for cell in column.cells}) == 1]
        columns = [column for column in columns if column not in shared]
        for number, block in enumerate(_blocks(columns, room)):
            if number:
                yield ""
            yield _drawn(block, room, self.title if not number else "")
        if shared:
            values = (f"{' '.join(column.name.split())} {column.cells[0].plain}" for column in shared)
            yield Text(f"In every row: {', '.join(values)}.", style="dim")


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
    drawn = Table(title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False)
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
