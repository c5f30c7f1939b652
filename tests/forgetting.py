"""Memories that are built to forget, to ignore what is new, and to do neither: what CoMem's measures have to show.

Each keeps lines as they were said, and gives all that it holds as notes, whatever it is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.notes import recalled

LINE = "line"


@dataclass
class Perfect(Memory):
    """Keeps every line."""

    async def write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.store.add(LINE, message.line(), sources=[message.message_id])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        return recalled(self.store.live(LINE))


@dataclass
class Overwriting(Perfect):
    """Has a few places: each new line takes that of the oldest."""

    places: int = parameter(2, "How many lines it holds.", low=1)

    async def write(self, messages: Sequence[Message]) -> None:
        await super().write(messages)
        for item in self.store.live(LINE)[: -self.places]:
            self.store.retire(item.entry_id)


@dataclass
class Ignoring(Perfect):
    """Takes in the first lines of its life, and nothing after."""

    lines: int = parameter(2, "How many lines it takes in.", low=1)

    async def write(self, messages: Sequence[Message]) -> None:
        room = max(0, self.lines - len(self.store.live(LINE)))
        await super().write(messages[:room])
