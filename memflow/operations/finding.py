"""The finding of a check of `memflow doctor`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memflow.errors import MemflowError

PATIENCE = 10.0
"""Seconds to wait for the answer of a server."""
Fault = Literal["missing", "absent", "damaged"]


@dataclass(frozen=True)
class Finding:
    """The result of checking one item, such as a package or a folder, and how to fix the item.

    State `missing`: every run needs the item. State `absent`: only the feature that `fix` names needs the item. State
    `damaged`: stored results differ from what memflow wrote, or cannot be read.
    """

    what: str
    state: Literal["ok", "missing", "absent", "damaged"]
    found: str
    fix: str = ""


def checked(what: str, look: Callable[[], str], fix: str, fault: Fault = "missing") -> Finding:
    """Return the finding of a check that returns what it found. The text of its MemflowError is the fault."""
    try:
        return Finding(what, "ok", look())
    except MemflowError as error:
        return Finding(what, fault, str(error), fix)
