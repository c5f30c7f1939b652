"""`embed_message`, `embed_session`: notes found by their embeddings (MemoryBench, section 5.1).

The published code asks FAISS for the smallest L2 distance: over unit vectors, the largest cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.memory import Calls, Memory, Message, Recall, parameter
from memflow.memories.notes import Grain, pieces, recalled
from memflow.memories.search import Dense


@dataclass
class Embedded(Memory):
    """Keeps every message, or every session whole, and recalls the `k` nearest to the query."""

    k: int = parameter(5, "How many entries are recalled.", low=1)
    grain: Grain = "message"

    calls: ClassVar[Calls] = Calls(embed_write=1, embed_read=1)

    def __post_init__(self) -> None:
        self.index = Dense(self.store, self.grain)

    async def write(self, messages: Sequence[Message]) -> None:
        """Embed them in one call, and keep them."""
        arrived = pieces(messages, self.grain)
        vectors = await self.embed([piece.text for piece in arrived])
        for piece, vector in zip(arrived, vectors, strict=True):
            self.store.add(self.grain, piece.text, sources=piece.sources, role=piece.role, vector=vector)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """The entries nearest to the query."""
        if not self.store.live(self.grain):
            return Recall()
        vectors = await self.embed([query])
        return recalled(self.index.search(vectors[0], self.k))
