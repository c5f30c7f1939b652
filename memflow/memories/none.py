"""`none`: remembers nothing. It bounds every scale from below; CoMem's checkpoint 0 is its score."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.memory import Memory, Message, Recall


@dataclass
class Nothing(Memory):
    """Keeps nothing and recalls nothing."""

    plays: ClassVar[bool] = False
    recalls: ClassVar[bool] = False
    ranks: ClassVar[bool] = False

    async def write(self, messages: Sequence[Message]) -> None:
        """Nothing is kept."""

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Nothing is recalled."""
        return Recall()
