"""Segments: a stream of messages split at topic boundaries or when a buffer is full."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memflow.memories.verbatim import StoredMessage


@dataclass
class Segments:
    """Unsegmented messages (`open`) and completed segments (`closed`), oldest first.

    A segment has `shortest` to `longest` messages; an earlier boundary is ignored.
    """

    shortest: int
    longest: int
    open: list[StoredMessage]
    closed: list[list[StoredMessage]] = field(default_factory=list)

    def undecided(self, new: int) -> range:
        """Return the numbers (from 1) of messages that may start a new topic, with `new` further messages."""
        held = len(self.open)
        return range(max(held, self.shortest) + 1, held + new + 1)

    def take(self, new: Sequence[StoredMessage], confidences: Mapping[int, float], above: float) -> None:
        """Add messages with the confidence, by number, that each starts a new topic."""
        for number, message in enumerate(new, len(self.open) + 1):
            if confidences.get(number, 0.0) > above and len(self.open) >= self.shortest:
                self._close()
            self.open.append(message)
            if len(self.open) >= self.longest:
                self._close()

    def _close(self) -> None:
        self.closed.append(self.open)
        self.open = []


def number_messages(messages: Sequence[StoredMessage], first: int = 1) -> str:
    """Return the messages as dated lines, numbered from `first`."""
    return "\n".join(f"{number}. {message.note()}" for number, message in enumerate(messages, first))
