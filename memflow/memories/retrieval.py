"""Memories of messages or whole sessions that one search finds: by words, by embeddings, or by both.

`bm25_message`, `bm25_session`, `embed_message` and `embed_session` are those of MemoryBench, section 5.1. Its published
code indexes a dialogue by its first user message only; the paper and this module index the whole dialogue. Its FAISS
search by L2 distance ranks unit vectors as cosine does.

`hybrid` fuses the rankings by BM25 and by cosine similarity by reciprocal rank (Cormack, Clarke and Buettcher, SIGIR
2009), which needs no weights and compares no scores. Optionally, the score of an entry decays with its age in messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.entries import Item
from memflow.memories.forgetting import FORMS
from memflow.memories.memory import Calls, Memory, Message, Recall, parameter
from memflow.memories.notes import EMBEDDED, PARTS, Grain, recalled, split_messages
from memflow.memories.search import Bm25, Dense, fuse, fusion_depth


@dataclass
class Lexical(Memory):
    """A memory of messages or whole sessions, found by BM25."""

    k: int = parameter(5, "Number of recalled entries.", low=1)
    grain: Grain = "message"

    uses_window: ClassVar[bool] = True
    forgets: ClassVar[frozenset[str]] = FORMS

    def __post_init__(self) -> None:
        self.index = Bm25(self.store, self.grain)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store each message as an entry, or all messages as one session."""
        for draft in split_messages(messages, self.grain):
            self.store.add(self.grain, draft.text, sources=draft.sources, role=draft.role)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the `k` entries with the highest BM25 scores for the query."""
        return recalled(self.index.search(query, self.k), self.prompt_budget(query))


@dataclass
class Embedded(Memory):
    """A memory of messages or whole sessions, found by their embeddings."""

    k: int = parameter(5, "Number of recalled entries.", low=1)
    embedded: tuple[str, ...] = parameter(PARTS, EMBEDDED, choices=PARTS)
    grain: Grain = "message"

    uses_window: ClassVar[bool] = True
    forgets: ClassVar[frozenset[str]] = FORMS
    calls: ClassVar[Calls] = Calls(embed_write=1, embed_read=1)

    def __post_init__(self) -> None:
        self.vectors = Dense(self.store, self.grain)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store each message as an entry, or all messages as one session, with vectors from one embedding call."""
        drafts = split_messages(messages, self.grain, self.embedded)
        vectors = await self.embed([draft.embedded or draft.text for draft in drafts], "passage")
        for draft, vector in zip(drafts, vectors, strict=True):
            self.store.add(self.grain, draft.text, sources=draft.sources, role=draft.role, vector=vector)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the `k` entries nearest to the query."""
        if not self.store.live(self.grain):
            return Recall()
        [vector] = await self.embed([query], "query")
        return recalled(self.vectors.search(vector, self.k), self.prompt_budget(query))


@dataclass
class Hybrid(Embedded):
    """Messages found by their words and by their embeddings; both rankings are fused."""

    half_life: int = parameter(
        0, "Messages after which the score of an entry is halved; 0 is no decay with age."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.words = Bm25(self.store, self.grain)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the `k` entries with the highest fused scores; equal scores are ordered by age, oldest first."""
        if not self.store.live(self.grain):
            return Recall()
        [vector] = await self.embed([query], "query")
        depth = fusion_depth(self.k)
        rankings = [self.words.search(query, depth), self.vectors.search(vector, depth)]
        items = {item.order: item for ranking in rankings for item in ranking}
        fused_scores = fuse([item.order for item in ranking] for ranking in rankings)

        def best_first(item: Item) -> tuple[float, int]:
            age = self.store.sequence - item.since
            decay = 0.5 ** (age / self.half_life) if self.half_life else 1.0
            return -fused_scores[item.order] * decay, item.order

        return recalled(sorted(items.values(), key=best_first)[: self.k], self.prompt_budget(query))
