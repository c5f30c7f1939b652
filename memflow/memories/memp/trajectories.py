"""Trajectories: messages that arrived together, or a chunk of them, and the user's next words."""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.memories.chunks import MessagePart, fill_chunks, merge_parts
from memflow.memories.verbatim import StoredMessage


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Text, source messages and last date; `after` is the user's next line, if any.

    `feedback` is true if a user spoke after an assistant.
    """

    text: str
    sources: tuple[str, ...]
    date: str | None
    after: str | None
    feedback: bool


def split_trajectories(said: Sequence[StoredMessage], size: int, after: str | None) -> list[Trajectory]:
    """Split messages into trajectories of at most `size` tokens; `after` is the user's line after them."""
    found = []
    for parts in reversed(fill_chunks(said, size)):
        found.append(_trajectory(parts, after))
        after = next((part.line() for part in parts if part.message.item.role == "user"), after)
    return found[::-1]


def _trajectory(parts: Sequence[MessagePart], after: str | None) -> Trajectory:
    made = merge_parts(parts)
    roles = [part.message.item.role for part in parts]
    answered = roles.index("assistant") if "assistant" in roles else len(roles)
    reacted = answered < len(roles) and (after is not None or "user" in roles[answered:])
    return Trajectory(made.text, made.sources, parts[-1].message.date, after, reacted)
