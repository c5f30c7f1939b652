"""Messages to people on standard error, without control characters (memflow/control_characters.py)."""

import os
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from memflow.control_characters import visible

WIDE = 160
"""Columns of a table that goes into a file or a pipe, where COLUMNS does not say."""


class TerminalConsole(Console):
    """A console that sends no control character of a text to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable, with control characters in their texts as symbols."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def message(text: str) -> None:
    """Print a message on standard error."""
    terminal_console(stderr=True).print(text, markup=False, soft_wrap=True)


def terminal_console(stderr: bool = False) -> Console:
    """Return a console on standard output or standard error; a file, a pipe or a notebook has WIDE columns."""
    # The kernel of a notebook claims a terminal, but moves no cursor.
    is_terminal = False if "ipykernel" in sys.modules else None
    console = TerminalConsole(stderr=stderr, highlight=False, force_jupyter=False, force_terminal=is_terminal)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console
