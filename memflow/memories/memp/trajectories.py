"""What Memp learns from: messages that arrived together, or a chunk of them, and what the user said next."""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.memories.chunks import MessagePart, fill_chunks, merge_parts
from memflow.memories.verbatim import StoredMessage


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What was said, the messages it came from, and its last date. `after` is the user's next line, if there is one.

    `feedback` tells whether a user spoke after an assistant had: only then can it show how that came out.
    """

    text: str
    sources: tuple[str, ...]
    date: str | None
    after: str | None
    feedback: bool


def split_trajectories(said: Sequence[StoredMessage], size: int, after: str | None) -> list[Trajectory]:
    """What was said, in trajectories of at most `size` tokens. `after` is what the user said after all of it."""
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
