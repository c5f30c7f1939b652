"""Passages: groups of messages from which facts are extracted together, and the prompt fields of a passage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.memories.verbatim import StoredMessage

NONE = "(none)"


def number_lines(lines: Iterable[str]) -> str:
    """Return the lines numbered from 1, with continuation lines indented so that they never start with a number."""
    return "\n".join(f"{number}. " + "\n   ".join(line.splitlines()) for number, line in enumerate(lines, 1))


@dataclass(frozen=True, slots=True)
class Passage:
    """New messages that are processed together, with the recent messages and the summary as context."""

    said: Sequence[StoredMessage]
    recent: Sequence[StoredMessage] = ()
    summary: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the new messages."""
        return tuple(source for message in self.said for source in message.item.sources)

    def fields(self) -> dict[str, str]:
        """Return the prompt fields `summary`, `recent` and `messages`: the new messages, numbered from 1."""
        return {
            "summary": self.summary or NONE,
            "recent": "\n".join(message.note() for message in self.recent) or NONE,
            "messages": number_lines(message.note() for message in self.said),
        }

    def resolve_citations(self, numbers: Iterable[int]) -> tuple[tuple[str, ...], str | None]:
        """Return the ids of the messages with these numbers (from 1), in order, and the date of the last one."""
        messages = [self.said[number - 1] for number in sorted(set(numbers))]
        return tuple(source for message in messages for source in message.item.sources), messages[-1].date

    def find_unknown(self, numbers: Iterable[int]) -> str | None:
        """Return an error message for the first number that no message of the passage has, or None."""
        for number in numbers:
            if number > len(self.said):
                return f"there is no new message {number}; the last is {len(self.said)}"
        return None
