"""`bm25_message`, `bm25_session`: notes found by BM25 (MemoryBench, section 5.1).

MemoryBench's published code indexes a dialogue by its first user message alone; the paper says the whole, and
so here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.notes import Grain, pieces, recalled
from memflow.memories.search import Bm25


@dataclass
class Lexical(Memory):
    """Keeps every message, or every session whole, and recalls the `k` that match the query's words best."""

    k: int = parameter(5, "How many entries are recalled.", low=1)
    grain: Grain = "message"

    def __post_init__(self) -> None:
        self.index = Bm25(self.store, self.grain)

    async def write(self, messages: Sequence[Message]) -> None:
        """Keep them."""
        for piece in pieces(messages, self.grain):
            self.store.add(self.grain, piece.text, sources=piece.sources, role=piece.role)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """The entries that share words with the query."""
        return recalled(self.index.search(query, self.k))
