"""Tables of the command line that fit the width of the terminal without leaving out or truncating a value.

A table that is too wide is printed as several blocks of columns. Each block repeats the columns that identify a row.
output.py builds tables from plain values.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.table import Table
from rich.text import Text

NAMES = frozenset(
    {
        *("address", "addresses", "assistant", "domain", "episode", "memory", "metric", "probe", "role"),
        *("slice", "stage", "variant"),
    }
)
"""Columns that identify a row, as the first column does."""
LEAST_NAME, LEAST_TEXT = 12, 24
"""Characters that a name, and a column of text, have at least in each line."""
GAP = 2
"""Characters between two columns."""
_INTEGER = re.compile(r"[-+−]?[\d,]+")


@dataclass(frozen=True)
class FittedTable:
    """A table that fits the width of the terminal. Names and texts wrap; numbers are aligned at the decimal point."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Text]]
    numbers: frozenset[str]
    optional: frozenset[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table in one or more blocks of columns, and a line on values that all rows share."""
        room = options.max_width
        shared: list[int] = []
        if self._sum(self._least, self._shown) > room:
            shared = [at for at in self._shown if self._is_shared(at)]
        columns = [at for at in self._shown if at not in shared]
        for number, widths in enumerate(self._blocks(columns, room)):
            if number:
                yield ""
            yield self._table(widths, self.title if not number else "")
        if shared:
            values = ", ".join(
                f"{' '.join(self.columns[at].split())} {self.rows[0][at].plain}" for at in shared
            )
            yield Text(f"In every row: {values}.", style="dim")

    @cached_property
    def _shown(self) -> list[int]:
        """The numbers of the columns, without optional columns that have no value."""
        return [
            at
            for at, column in enumerate(self.columns)
            if column not in self.optional or any(row[at] for row in self.rows)
        ]

    @cached_property
    def _cells(self) -> Sequence[Sequence[Text]]:
        """The cells by column, in which numbers are padded so that their decimal points are aligned."""
        columns = []
        for at, column in enumerate(self.columns):
            cells = [row[at] for row in self.rows]
            columns.append(_aligned(cells) if column in self.numbers else cells)
        return columns

    def _blocks(self, columns: Sequence[int], room: int) -> list[dict[int, int]]:
        """Return the width of each column of each block."""
        if self._sum(self._least, columns) <= room:
            return [self._fit(columns, room)]
        names = [at for at in columns if self._is_name(at)]
        blocks: list[list[int]] = [[]]
        for at in columns:
            if at in names:
                continue
            block = [*names, *blocks[-1], at]
            if blocks[-1] and self._sum(self._least, block) > room:
                blocks.append([])
            blocks[-1].append(at)
        return [self._fit([at for at in columns if at in names or at in block], room) for block in blocks]

    def _fit(self, columns: Sequence[int], room: int) -> dict[int, int]:
        """Return the width of each column. Texts shrink first, then names between words, within words, then numbers."""
        widths = {at: self._natural(at) for at in columns}
        for least in (self._least, self._least_words, self._least_characters):
            while self._sum(widths.__getitem__, columns) > room:
                shrinkable = [at for at in columns if widths[at] > least(at)]
                if not shrinkable:
                    break
                widths[max(shrinkable, key=widths.__getitem__)] -= 1
        return widths

    def _table(self, widths: Mapping[int, int], title: str) -> Table:
        drawn = Table(
            title=title or None,
            title_justify="left",
            title_style="bold",
            box=None,
            pad_edge=False,
            header_style="dim",
        )
        for at, width in widths.items():
            column = self.columns[at]
            justify: JustifyMethod = "right" if column in self.numbers else "left"
            drawn.add_column(Text(column), justify=justify, overflow="fold", min_width=width, max_width=width)
        for row in range(len(self.rows)):
            drawn.add_row(*(self._cell(at, row, width) for at, width in widths.items()))
        return drawn

    def _cell(self, at: int, row: int, width: int) -> Text:
        """Return a cell. A number is padded on the left, because rich ignores padding on the right."""
        text = self._cells[at][row].copy()
        if self.columns[at] in self.numbers and "\n" not in text.plain:
            text.pad_left(max(0, width - text.cell_len))
            text.justify = "left"
        return text

    def _sum(self, width: Callable[[int], int], columns: Sequence[int]) -> int:
        return sum(width(at) + GAP for at in columns) - GAP

    @cached_property
    def _widths(self) -> list[int]:
        """The width of the longest line of each column."""
        found = []
        for column, cells in zip(self.columns, self._cells, strict=True):
            lines = [line for text in (column, *(cell.plain for cell in cells)) for line in text.splitlines()]
            found.append(max(map(cell_len, lines), default=0))
        return found

    def _natural(self, at: int) -> int:
        return self._widths[at]

    def _least(self, at: int) -> int:
        natural = self._natural(at)
        if self._is_name(at):
            return natural
        if self.columns[at] in self.numbers:
            return max(map(cell_len, (*self.columns[at].split(), *self._plain(at))), default=0)
        return min(natural, LEAST_TEXT)

    def _least_words(self, at: int) -> int:
        if not self._is_name(at):
            return self._least(at)
        words = (word for cell in (self.columns[at], *self._plain(at)) for word in cell.split())
        return max(map(cell_len, words), default=0)

    def _least_characters(self, at: int) -> int:
        return LEAST_NAME if self._is_name(at) else min(self._least(at), LEAST_TEXT)

    def _plain(self, at: int) -> list[str]:
        return [cell.plain for cell in self._cells[at]]

    def _is_name(self, at: int) -> bool:
        return at == 0 or self.columns[at] in NAMES

    def _is_shared(self, at: int) -> bool:
        values = {row[at].plain for row in self.rows}
        is_optional = self.columns[at] in self.optional and not self._is_name(at)
        return is_optional and len(self.rows) > 1 and len(values) == 1


def _aligned(cells: Sequence[Text]) -> list[Text]:
    """Return the cells, padded on the right so that the integer parts of their first numbers end in one column."""
    tails = [_tail(cell.plain) for cell in cells]
    longest = max((tail for tail in tails if tail is not None), default=0)
    found = []
    for text, tail in zip(cells, tails, strict=True):
        padded = text.copy()
        if tail is not None:
            padded.pad_right(longest - tail)
        found.append(padded)
    return found


def _tail(text: str) -> int | None:
    """Return the width of what follows the integer part of a cell; None if the cell has no number or several lines."""
    found = _INTEGER.match(text)
    return cell_len(text[found.end() :]) if found and "\n" not in text else None
