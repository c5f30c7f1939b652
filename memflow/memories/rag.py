"""`rag_F_N_K`: the newest messages word for word, older ones by search (AMemGym, section 4: freq, ns, top-k).

Once the buffer holds F + N messages, the oldest F leave it and are written, each raw message an entry with
its vector. So N to N + F - 1 messages are only in the buffer, and (2, 0) writes every round. What is recalled
is shown in the order in which it was said: AMemGym's code sorts by the wall clock of the run, which only
coincides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.memory import Calls, Memory, Message, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.search import Dense
from memflow.memories.verbatim import beside, forget, keep, kept, surplus

BUFFER, MESSAGE = "buffer", "message"


@dataclass
class Rag(Memory):
    """Recalls the `k` older messages nearest to the query as notes, and the buffer as turns."""

    freq: int = parameter(2, "How many messages leave the buffer at a time.", low=1)
    ns: int = parameter(4, "How many of the newest messages always stay in the buffer.")
    k: int = parameter(30, "How many older messages are recalled.", low=1)

    calls: ClassVar[Calls] = Calls(embed_write=1, embed_read=1)

    def __post_init__(self) -> None:
        self.index = Dense(self.store, MESSAGE)

    async def write(self, messages: Sequence[Message]) -> None:
        """Take them into the buffer, and write what leaves it: embedded in one call, however many leave."""
        keep(self.store, messages, BUFFER)
        leaving = surplus(kept(self.store, BUFFER), self.freq, self.ns)
        notes = [message.note() for message in leaving]
        vectors = await self.embed(notes)
        forget(self.store, leaving, BUFFER)
        for message, note, vector in zip(leaving, notes, vectors, strict=True):
            item = message.item
            self.store.add(MESSAGE, note, sources=item.sources, role=item.role, vector=vector)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Notes oldest first, then the buffer; entries best first, then the buffer's."""
        found = []
        if self.store.live(MESSAGE):
            vectors = await self.embed([query])
            found = self.index.search(vectors[0], self.k)
        return beside(recalled(found), kept(self.store, BUFFER))
