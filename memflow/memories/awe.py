"""`awe_F_N_K`: agentic write, external (AMemGym, section 4), built on the facts of Mem0.

When the buffer has F + N messages, the oldest F leave it and a model extracts facts from them, without a summary or
earlier messages. `similar` is 5 as in Mem0's library. Notes are in the order of writing; AMemGym's code sorts by the
wall clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.mem0.facts import FactMemory
from memflow.memories.mem0.passages import Passage
from memflow.memories.memory import Calls, Message, Recall, parameter
from memflow.memories.verbatim import overflow, retire_messages, store_messages, stored_messages, with_buffer

BUFFER = "buffer"


@dataclass
class Awe(FactMemory):
    """A memory of facts that a model extracts from older messages and updates, found by their embeddings."""

    freq: int = parameter(2, "How many messages leave the buffer at a time.", low=1)
    ns: int = parameter(4, "Number of newest messages that stay in the buffer.")
    k: int = parameter(30, "Number of recalled facts.", low=1)
    similar: int = parameter(5, "Number of similar stored facts that a new fact is compared with.", low=1)

    calls: ClassVar[Calls] = Calls(chat_write=2, embed_write=2, embed_read=1, per="round")

    async def write(self, messages: Sequence[Message]) -> None:
        """Buffer the messages; extract facts from the messages that leave the buffer and apply them in order."""
        store_messages(self.store, messages, BUFFER)
        evicted = overflow(stored_messages(self.store, BUFFER), self.freq, self.ns)
        starts = range(0, len(evicted), self.freq)
        passages = [Passage(evicted[start : start + self.freq]) for start in starts]
        answers = await self.ask_all([self.extraction(passage) for passage in passages])
        retire_messages(self.store, evicted, BUFFER)
        facts = [self.new_facts(passage, answer) for passage, answer in zip(passages, answers, strict=True)]
        await self.update_facts(facts)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the nearest facts (best first in `entries`, oldest first as text), then the buffered messages."""
        return with_buffer(await self.recall_facts(query), stored_messages(self.store, BUFFER))
