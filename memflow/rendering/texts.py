"""Texts of results: headings, notes, intervals, durations and shortened lists."""

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding

from memflow.rendering.tables import Text

MOST_LINES = 20
"""Lines of a list that are shown."""


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
