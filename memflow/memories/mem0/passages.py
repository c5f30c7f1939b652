"""Passages: messages that are read together, and how a prompt shows them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.memories.verbatim import StoredMessage

NONE = "(none)"


def number_lines(lines: Iterable[str]) -> str:
    """The lines with their numbers, from 1; what a line holds beyond its first one is set in, so that no number
    in it can be taken for one of ours."""
    return "\n".join(f"{number}. " + "\n   ".join(line.splitlines()) for number, line in enumerate(lines, 1))


@dataclass(frozen=True, slots=True)
class Passage:
    """New messages that are read together, and what the model may know beside them to understand them."""

    said: Sequence[StoredMessage]
    recent: Sequence[StoredMessage] = ()
    summary: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the new messages."""
        return tuple(source for message in self.said for source in message.item.sources)

    def fields(self) -> dict[str, str]:
        """The fields that every prompt about a passage has; the new messages are numbered."""
        return {
            "summary": self.summary or NONE,
            "recent": "\n".join(message.note() for message in self.recent) or NONE,
            "messages": number_lines(message.note() for message in self.said),
        }

    def cited(self, numbers: Iterable[int]) -> tuple[tuple[str, ...], str | None]:
        """The ids of the messages of these numbers, as they were said, and the date of the last one."""
        messages = [self.said[number - 1] for number in sorted(set(numbers))]
        return tuple(source for message in messages for source in message.item.sources), messages[-1].date

    def misses(self, numbers: Iterable[int]) -> str | None:
        """What is wrong with the numbers of messages that an answer cites, or None."""
        for number in numbers:
            if number > len(self.said):
                return f"there is no new message {number}; the last is {len(self.said)}"
        return None
