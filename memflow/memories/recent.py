"""`recent_N`: the last N messages, word for word, and nothing else.

What a short context window amounts to, and what is left of `rag` without its search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.verbatim import forget, keep, kept, turns
from memflow.tokens import estimate

BUFFER = "buffer"


@dataclass
class Recent(Memory):
    """Recalls the last `messages` messages as turns.

    The default is three rounds: as much as the buffer of `rag_2_4_30` holds before two messages leave it.
    """

    messages: int = parameter(6, "How many of the newest messages are kept; a round is two.", low=1)

    ranks: ClassVar[bool] = False

    async def write(self, messages: Sequence[Message]) -> None:
        """Keep them, and forget what is older than the last `self.messages`."""
        keep(self.store, messages, BUFFER)
        held = kept(self.store, BUFFER)
        forget(self.store, held[: max(0, len(held) - self.messages)], BUFFER)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """The window, whatever the query."""
        held = kept(self.store, BUFFER)
        said = turns(held)
        tokens = sum(estimate(turn.content) for turn in said)
        return Recall(messages=said, entries=tuple(message.item for message in held), injected_tokens=tokens)
