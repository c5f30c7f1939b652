"""Lists and leaderboards of large runs, shortened to what a person reads; the JSON output is never shortened."""

from collections.abc import Sequence

from rich.console import RenderableType

from memflow.cli.output import Text, note
from memflow.records import Score
from memflow.scoring.primary import ranked_assistants

MOST_ASSISTANTS = 20
"""How many assistants of a domain are shown. The demo has 11."""
MOST_LINES = 20
"""How many lines of a list are shown."""


def first_lines(lines: Sequence[str], style: str = "") -> list[Text]:
    """Return the first lines of a list, indented, and a line with the number of the others."""
    shown = [Text(f"  {line}", style=style) for line in lines[:MOST_LINES]]
    if (others := len(lines) - MOST_LINES) > 0:
        shown.append(Text(f"  and {others:,} others; `--format json` lists all.", style="dim"))
    return shown


def first_names(names: Sequence[str]) -> str:
    """Return the first names, separated by commas, and the number of the others."""
    others = len(names) - MOST_LINES
    return ", ".join(names[:MOST_LINES]) + (f" and {others:,} others" if others > 0 else "")


def best_assistants(domain: str, primary: Sequence[Score]) -> tuple[set[str], list[RenderableType]]:
    """Return the best assistants of a domain by its primary scores, and a note if there are others."""
    ranked = [assistant for assistant, _ in ranked_assistants(primary)]
    shown: list[RenderableType] = []
    if len(ranked) > MOST_ASSISTANTS:
        command = f"memflow show leaderboard --domain {domain} --limit 0"
        shown.append(
            note(
                f"The best {MOST_ASSISTANTS} of {len(ranked):,} assistants are shown. `{command}` shows all."
            )
        )
    return {*ranked[:MOST_ASSISTANTS]}, shown
