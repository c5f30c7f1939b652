"""`lib_awe_F_N_K`: agentic write, external (AMemGym, section 4), as in the published code: a buffer before mem0ai.

When the buffer has F + N messages, the oldest F leave it and go to one call of the package's `add`. awe.py of
`memflow.memories` is the same mechanism with our own update of facts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.lib_mem0.memory import LibMem0
from memflow.memories.memory import Calls, Message, Recall, parameter
from memflow.memories.verbatim import (
    StoredMessage,
    overflow,
    retire_messages,
    store_messages,
    stored_messages,
    with_buffer,
)

BUFFER = "buffer"
LABELS = {"user": "USER INPUT: ", "assistant": "ASSISTANT RESPONSE: "}
"""The prefixes of the messages that the published agent adds, by role."""


@dataclass
class LibAwe(LibMem0):
    """A memory with a buffer of the newest messages, and facts that mem0ai extracts from older messages."""

    freq: int = parameter(2, "How many messages leave the buffer at a time.", low=1)
    ns: int = parameter(4, "Number of newest messages that stay in the buffer.")
    k: int = parameter(30, "Number of recalled memories.", low=1)

    calls: ClassVar[Calls] = Calls(chat_write=2, embed_write=3, embed_read=1, per="round")

    async def write(self, messages: Sequence[Message]) -> None:
        """Buffer the messages; add every `freq` messages that leave the buffer to the package."""
        store_messages(self.store, messages, BUFFER)
        evicted = overflow(stored_messages(self.store, BUFFER), self.freq, self.ns)
        for start in range(0, len(evicted), self.freq):
            batch = evicted[start : start + self.freq]
            sources = [source for message in batch for source in message.item.sources]
            await self.add([_label(message) for message in batch], sources, batch[-1].date)
        retire_messages(self.store, evicted, BUFFER)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the search results of the package as notes, oldest first, and the buffered messages as turns."""
        return with_buffer(await super().read(query, frozen), stored_messages(self.store, BUFFER))


def _label(message: StoredMessage) -> dict[str, str]:
    """Return a message in the format of the package, with a role label in the text and without its date."""
    role = "assistant" if message.item.role == "assistant" else "user"
    return {"role": role, "content": LABELS[role] + message.item.text.removeprefix(f"{role}: ")}
