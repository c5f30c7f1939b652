"""Segments: a stream of messages cut where the topic changes or a buffer is full.

Which messages may begin another topic at all, and which do, is kept apart from who judges it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memflow.memories.verbatim import StoredMessage


@dataclass
class Segments:
    """The messages not yet cut off (`open`) and the segments that were (`closed`), oldest first.

    A segment has `shortest` to `longest` messages: a boundary after fewer is none, and what came before it
    stays with what follows.
    """

    shortest: int
    longest: int
    open: list[StoredMessage]
    closed: list[list[StoredMessage]] = field(default_factory=list)

    def undecided(self, new: int) -> range:
        """Numbers, from 1, of the open messages and `new` further ones that may begin another topic."""
        held = len(self.open)
        return range(max(held, self.shortest) + 1, held + new + 1)

    def take(self, new: Sequence[StoredMessage], confidences: Mapping[int, float], above: float) -> None:
        """Take in messages, given how surely each begins another topic (by its number in `undecided`)."""
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
    """The messages as dated lines, numbered from `first`."""
    return "\n".join(f"{number}. {message.note()}" for number, message in enumerate(messages, first))
