"""Messages about unknown names: the given name, similar names, and the command that lists all names."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_SUGGESTIONS = 3
MOST_NAMES = 8
"""Names that a message lists in full where no command lists them."""


def unknown_name(kind: str, name: str, known: Iterable[str], command: str = "", owner: str = "") -> str:
    """Return the message for an unknown name: at most three similar names, and the command that lists all.

    `owner` names what lacks the name, such as `the leaderboard`.

    Example:
        there is no domain 'amemgim_demo'. Did you mean amemgym_demo? `memflow domains` lists all
    """
    among = sorted(known)
    similar = get_close_matches(name, among, MOST_SUGGESTIONS)
    parts = [f"{owner} has no {kind} {name!r}" if owner else f"there is no {kind} {name!r}"]
    if not among:
        parts.append("There are none yet")
    elif similar:
        *others, last = similar
        parts.append(f"Did you mean {', '.join(others)}{' or ' if others else ''}{last}?")
    elif len(among) <= MOST_NAMES:
        parts.append(f"Use one of: {', '.join(among)}")
    elif not command:
        parts.append(f"Use one of {len(among)} names, such as {', '.join(among[:MOST_SUGGESTIONS])}")
    if command and among:
        parts.append(f"`{command}` lists all")
    return ". ".join(parts).replace("?. ", "? ")
