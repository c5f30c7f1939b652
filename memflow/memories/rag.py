"""`rag_F_N_K`: the newest messages as turns, older ones by search (AMemGym, section 4: freq, ns, top-k).

When the buffer has F + N messages, the oldest F leave it and become entries with vectors. Variants: `rag_pair` and
`rag_chunk` (CoMem, section 4), and `retrieval` (MemBench's RetrievalMemory), which has no buffer and a budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.errors import BadSettings
from memflow.memories.chunks import UNITS, cut_messages
from memflow.memories.forgetting import FORMS
from memflow.memories.memory import Calls, Memory, Message, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.search import Dense
from memflow.memories.verbatim import overflow, retire_messages, store_messages, stored_messages, with_buffer

BUFFER = "buffer"


@dataclass
class Rag(Memory):
    """A memory that recalls the newest messages as chat turns, and older messages found by their embeddings.

    Entries have the kind `chunk`. Notes are in the order of the messages; AMemGym's code sorts them by the wall clock
    of the run.
    """

    freq: int = parameter(2, "How many messages leave the buffer at a time.", low=1)
    ns: int = parameter(4, "Number of newest messages that stay in the buffer.")
    k: int = parameter(30, "Number of recalled older entries; 0 for all.")
    chunk: str = parameter("message", "The unit of messages that becomes an entry.", choices=UNITS)
    size: int = parameter(300, "Tokens of a chunk (chunk = tokens).", low=1)
    overlap: int = parameter(0, "Tokens that a chunk shares with the previous one (chunk = tokens).")
    budget: int = parameter(0, "Tokens of notes, the best entries first; 0 is no limit.")

    calls: ClassVar[Calls] = Calls(embed_write=1, embed_read=1)
    uses_window: ClassVar[bool] = True
    forgets: ClassVar[frozenset[str]] = FORMS

    def __post_init__(self) -> None:
        if self.overlap >= self.size:
            raise BadSettings(
                f"the overlap of chunks ({self.overlap} tokens) is not smaller than a chunk ({self.size} tokens). "
                "Set `overlap` below `size`."
            )
        self.index = Dense(self.store, self.chunk)

    async def write(self, messages: Sequence[Message]) -> None:
        """Buffer the messages; store the messages that leave the buffer, with one embedding request."""
        store_messages(self.store, messages, BUFFER)
        buffer = stored_messages(self.store, BUFFER)
        leaving_count = len(overflow(buffer, self.freq, self.ns))
        cut_result = cut_messages(buffer, leaving_count, self.chunk, self.size, self.overlap, self._start())
        vectors = await self.embed([piece.text for piece in cut_result.pieces], "passage")
        retire_messages(self.store, buffer[: cut_result.gone], BUFFER)
        for piece, start, vector in zip(cut_result.pieces, cut_result.starts, vectors, strict=True):
            meta = {"start": start} if self.chunk == "tokens" else None
            self.store.add(
                self.chunk, piece.text, sources=piece.sources, role=piece.role, vector=vector, meta=meta
            )

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return search results (best first in `entries`, oldest first as text), then the buffered messages."""
        results = []
        entry_count = len(self.store.live(self.chunk))
        if entry_count:
            [vector] = await self.embed([query], "query")
            results = self.index.search(vector, self.k or entry_count)
        buffer = stored_messages(self.store, BUFFER)
        buffer_tokens = with_buffer(Recall(), buffer).injected_tokens
        available = max(0, self.prompt_budget(query) - buffer_tokens)
        budget = min(self.budget, available) if self.budget else available
        return with_buffer(recalled(results, budget), buffer)

    def _start(self) -> int:
        """Return the character of the buffer's first message where the next chunk of tokens starts.

        It is 0 if the chunk before it, or the message in which that chunk ends, was forgotten.
        """
        chunk, buffer = self.store.newest(self.chunk), self.store.live(BUFFER)
        if chunk is None or not buffer or not {*buffer[0].sources} <= {*chunk.sources}:
            return 0
        return int(chunk.meta.get("start", 0))
