"""A damage of a home folder: what is damaged, and how it is repaired."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Progress = Callable[[str, int, int], None]
"""A callback with what is verified, the number of verified items, and their total number."""


class Repair(StrEnum):
    """How a damage is repaired. The values are shown to the user."""

    rerun = "rebuild from the ledger"
    search_index = "rebuild from the lake"
    database = "publish again"
    delete = "delete; it is computed again"
    ledger = "recompute, and move damaged rows aside"
    none = "none"


@dataclass(frozen=True)
class Damage:
    """A damaged or missing item: its kind, its name, why, and its repair.

    `table` and `partition` are those of an item of the lake. `path` is the file to move or delete. `advice` states what
    the user can do, or what is lost.
    """

    kind: str
    what: str
    reason: str
    repair: Repair
    table: str = ""
    partition: str = ""
    path: str = ""
    advice: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the damage as a dictionary for JSON output."""
        return {
            "kind": self.kind,
            "what": self.what,
            "reason": self.reason,
            "repair": self.repair.value,
            "advice": self.advice,
        }
