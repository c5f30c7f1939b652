"""Messages about unknown names: the given name, similar names, and the command that lists all names."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_SUGGESTIONS = 3
MOST_NAMES = 8
"""Names that a message lists in full where no command lists them."""


def unknown_name(kind: str, name: str, known: Iterable[str], command: str = "") -> str:
    """Return the message for an unknown name: at most three similar names, and the command that lists all.

    Example:
        there is no domain 'amemgim_demo'. Did you mean amemgym_demo? `memflow domains` lists all
    """
    among = sorted(known)
    similar = get_close_matches(name, among, MOST_SUGGESTIONS)
    parts = [f"there is no {kind} {name!r}"]
    if similar:
        *others, last = similar
        parts.append(f"Did you mean {', '.join(others)}{' or ' if others else ''}{last}?")
    elif len(among) <= MOST_NAMES:
        parts.append(f"Use one of: {', '.join(among)}" if among else f"The list of {kind} names is empty")
    if command:
        parts.append(f"`{command}` lists all")
    return ". ".join(parts).replace("?. ", "? ")
