"""`full`: everything that was said, word for word, before the question.

AMemGym's native LLM (section 4) and MemoryBench's vanilla (section 5.1): no memory but the context.
MemoryBench keeps the first sessions that fit; here the oldest are dropped, since the newest hold what is true
now. No message is cut: one that does not fit is left out with all before it, and the recall says how many
tokens that were. So a last message longer than the whole budget leaves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.verbatim import keep, kept, within

MESSAGE = "message"


@dataclass
class Full(Memory):
    """Recalls every message as a turn, the newest that fit into `budget` tokens."""

    budget: int = parameter(100_000, "Tokens of messages that go before the question (estimated).", low=1)

    ranks: ClassVar[bool] = False

    _recall: tuple[int, Recall] | None = field(default=None, init=False, repr=False, compare=False)

    async def write(self, messages: Sequence[Message]) -> None:
        """Keep them."""
        keep(self.store, messages, MESSAGE)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """The conversation so far; the query does not matter, so a checkpoint's probes share one."""
        if self._recall is None or self._recall[0] != self.store.version:
            self._recall = (self.store.version, within(kept(self.store, MESSAGE), self.budget))
        return self._recall[1]
