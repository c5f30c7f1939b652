"""`oracle`: told the gold evidence or states, and remembers nothing. It bounds every scale from above.

AMemGym's upper bound is its score (paper, section on utilization). The gold itself never passes through the
Memory protocol: answer.py hands it to the prompt for this class alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.memory import Memory, Message, Recall


@dataclass
class Oracle(Memory):
    """Recalls nothing: what it is told stands in the probe's prompt."""

    plays: ClassVar[bool] = False
    recalls: ClassVar[bool] = False
    ranks: ClassVar[bool] = False

    async def write(self, messages: Sequence[Message]) -> None:
        """Nothing is kept."""

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Nothing is recalled."""
        return Recall()
