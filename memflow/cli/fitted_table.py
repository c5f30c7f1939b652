"""Tables of the command line that fit the width of the terminal without leaving out or truncating a value.

A table that is too wide is printed as several blocks of columns. Each block repeats the columns that identify a row.
output.py builds tables from plain values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

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
LEAST_NAME, LEAST_TEXT = 12, 24
"""Characters that a name, and a column of text, have at least in each line."""
GAP = 2
"""Characters between two columns."""


@dataclass(frozen=True)
class FittedTable:
    """A table that fits the width of the terminal. Names and texts wrap; numbers are aligned on the right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Text]]
    numbers: frozenset[str]
    optional: frozenset[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table in one or more blocks of columns, and a line on values that all rows share."""
        room = options.max_width
        columns = [
            at
            for at, column in enumerate(self.columns)
            if column not in self.optional or any(row[at] for row in self.rows)
        ]
        is_wide = _sum(self._least[at] for at in columns) > room
        shared = [at for at in columns if self._is_shared(at)] if is_wide else []
        blocks = self._blocks([at for at in columns if at not in shared], room)
        for number, block in enumerate(blocks):
            if number:
                yield ""
            yield self._table(self._fit(block, room), self.title if not number else "")
        if shared:
            values = (f"{' '.join(self.columns[at].split())} {self.rows[0][at].plain}" for at in shared)
            yield Text(f"In every row: {', '.join(values)}.", style="dim")

    def _blocks(self, columns: Sequence[int], room: int) -> list[list[int]]:
        """Return the columns of each block: the names, and as many others as fit."""
        names = [at for at in columns if self._is_name(at)]
        blocks: list[list[int]] = [[]]
        for at in columns:
            if at in names:
                continue
            if blocks[-1] and _sum(self._least[each] for each in (*names, *blocks[-1], at)) > room:
                blocks.append([])
            blocks[-1].append(at)
        return [sorted([*names, *block]) for block in blocks]

    def _fit(self, columns: Sequence[int], room: int) -> dict[int, int]:
        """Return the width of each column. Texts shrink first, then names and texts, at last also within words."""
        widths = {at: self._natural[at] for at in columns}
        names = {at: LEAST_NAME if self._is_name(at) else self._least[at] for at in columns}
        for least in (self._least, names, {at: min(names[at], LEAST_TEXT) for at in columns}):
            while _sum(widths.values()) > room:
                shrinkable = [at for at in columns if widths[at] > least[at]]
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
            name = self.columns[at]
            drawn.add_column(
                Text(name),
                justify="right" if name in self.numbers else "left",
                overflow="fold",
                min_width=width,
                max_width=width,
            )
        for row in self.rows:
            drawn.add_row(*(row[at] for at in widths))
        return drawn

    def _plain(self, at: int) -> list[str]:
        return [self.columns[at], *(row[at].plain for row in self.rows)]

    @cached_property
    def _natural(self) -> list[int]:
        """The width of the longest line of each column."""
        every = range(len(self.columns))
        return [max(cell_len(line) for text in self._plain(at) for line in text.split("\n")) for at in every]

    @cached_property
    def _least(self) -> list[int]:
        """The width below which a column goes into another block: that of a name, a number, or LEAST_TEXT."""
        found = []
        for at, natural in enumerate(self._natural):
            if self._is_name(at):
                found.append(natural)
            elif self.columns[at] in self.numbers:
                head, *cells = self._plain(at)
                found.append(max(map(cell_len, (*head.split(), *cells)), default=0))
            else:
                found.append(min(natural, LEAST_TEXT))
        return found

    def _is_name(self, at: int) -> bool:
        return at == 0 or self.columns[at] in NAMES

    def _is_shared(self, at: int) -> bool:
        values = {row[at].plain for row in self.rows}
        return (
            self.columns[at] in self.optional
            and not self._is_name(at)
            and len(self.rows) > 1
            and len(values) == 1
        )


def _sum(widths: Iterable[int]) -> int:
    """Return the width of columns beside one another."""
    return sum(width + GAP for width in widths) - GAP
