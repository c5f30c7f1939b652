"""Segments: consecutive messages on one topic, which become episodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memflow.memories.verbatim import StoredMessage


@dataclass
class Segments:
    """Messages of the current segment (`open`) and completed segments (`closed`), oldest first.

    A segment has `shortest` to `longest` messages; a topic boundary before `shortest` messages is ignored.
    """

    shortest: int
    longest: int
    open: list[StoredMessage]
    closed: list[list[StoredMessage]] = field(default_factory=list)

    def possible_starts(self, new_count: int) -> range:
        """Return the numbers of the `new_count` next messages that may start a segment; `open` begins with 1."""
        open_count = len(self.open)
        return range(max(open_count, self.shortest) + 1, open_count + new_count + 1)

    def add(self, messages: Sequence[StoredMessage], confidences: Mapping[int, float], above: float) -> None:
        """Add messages, and complete the segment before each message whose topic-change confidence exceeds `above`."""
        for number, message in enumerate(messages, len(self.open) + 1):
            if confidences.get(number, 0.0) > above and len(self.open) >= self.shortest:
                self._complete()
            self.open.append(message)
            if len(self.open) >= self.longest:
                self._complete()

    def _complete(self) -> None:
        self.closed.append(self.open)
        self.open = []


def number_messages(messages: Sequence[StoredMessage], first: int = 1) -> str:
    """Return the messages as dated lines, numbered from `first`."""
    return "\n".join(f"{number}. {message.note()}" for number, message in enumerate(messages, first))
