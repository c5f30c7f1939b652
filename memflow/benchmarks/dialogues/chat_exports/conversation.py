"""A conversation of an export as a tree of messages, and its current branch."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal


class InvalidConversation(ValueError):
    """A conversation that does not have the format of its export."""


@dataclass(frozen=True, slots=True)
class ChatNode:
    """A node of the tree. A node without text is no message, but connects messages."""

    parent: str | None
    role: Literal["user", "assistant"] = "user"
    text: str = ""
    time: datetime | None = None


@dataclass(frozen=True)
class Conversation:
    """A conversation: its nodes by id, in the order of the export, and the last node of the current branch.

    `omitted` counts what is no message of user or assistant, by reason.
    """

    title: str
    nodes: Mapping[str, ChatNode]
    current: str | None
    created: datetime | None = None
    omitted: Counter[str] = field(default_factory=Counter)

    def current_branch(self) -> list[str]:
        """Return the ids of the nodes from the root to the current node, or to the latest leaf.

        Raises InvalidConversation for a cycle.
        """
        last = self.current
        if last not in self.nodes:
            earliest = datetime.min.replace(tzinfo=UTC)
            parents = {node.parent for node in self.nodes.values()}
            leaves = [name for name in self.nodes if name not in parents]
            last = max(leaves, key=lambda name: self.nodes[name].time or earliest, default=None)
        found: dict[str, None] = {}
        while last is not None and last in self.nodes:
            if last in found:
                raise InvalidConversation("the parents of its messages form a cycle")
            found[last] = None
            last = self.nodes[last].parent
        return [*found][::-1]

    def messages(self, names: Sequence[str]) -> list[ChatNode]:
        """Return the messages among nodes: those with a text."""
        return [self.nodes[name] for name in names if self.nodes[name].text.strip()]


def moment(value: Any) -> datetime | None:
    """Return a Unix time or an ISO 8601 text as a time in UTC; None for anything else."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one for any other value."""
    return value if isinstance(value, dict) else {}
