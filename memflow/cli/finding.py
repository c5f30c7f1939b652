"""The result of a check of `memflow doctor`."""

from dataclasses import dataclass
from typing import Any, Literal


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

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as a dictionary for JSON output."""
        return {
            "what": self.what,
            "ok": self.state == "ok",
            "state": self.state,
            "found": self.found,
            "fix": self.fix,
        }
