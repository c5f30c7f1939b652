"""`hybrid_K`: messages found by their words and by their embeddings, as search engines combine the two.

The rankings by BM25 and by cosine similarity are fused by reciprocal rank (Cormack, Clarke and Buettcher, SIGIR 2009),
which needs no weights and compares no scores. Optionally, the score of an entry decays with its age in messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.entries import Item
from memflow.memories.forgetting import FORMS
from memflow.memories.memory import Calls, Memory, Message, Recall, parameter
from memflow.memories.notes import EMBEDDED, PARTS, recalled, split_messages
from memflow.memories.search import Bm25, Dense, fuse, fusion_depth

ENTRY = "message"


@dataclass
class Hybrid(Memory):
    """Messages found by their words and by their embeddings; both rankings are fused."""

    k: int = parameter(5, "How many entries are recalled.", low=1)
    half_life: int = parameter(
        0, "Messages after which the score of an entry is halved; 0 is no decay with age."
    )
    embedded: tuple[str, ...] = parameter(PARTS, EMBEDDED, choices=PARTS)

    calls: ClassVar[Calls] = Calls(embed_write=1, embed_read=1)
    uses_window: ClassVar[bool] = True
    forgets: ClassVar[frozenset[str]] = FORMS

    def __post_init__(self) -> None:
        self.words = Bm25(self.store, ENTRY)
        self.vectors = Dense(self.store, ENTRY)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store each message as an entry, with vectors from one embedding call."""
        drafts = split_messages(messages, "message", self.embedded)
        vectors = await self.embed([draft.embedded or draft.text for draft in drafts], "passage")
        for draft, vector in zip(drafts, vectors, strict=True):
            self.store.add(ENTRY, draft.text, sources=draft.sources, role=draft.role, vector=vector)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the `k` entries with the highest fused scores; equal scores are ordered by age, oldest first."""
        if not self.store.live(ENTRY):
            return Recall()
        [vector] = await self.embed([query], "query")
        depth = fusion_depth(self.k)
        rankings = [self.words.search(query, depth), self.vectors.search(vector, depth)]
        items = {item.order: item for ranking in rankings for item in ranking}
        fused_scores = fuse([item.order for item in ranking] for ranking in rankings)

        def best_first(item: Item) -> tuple[float, int]:
            return -fused_scores[item.order] * self._weight(item), item.order

        return recalled(sorted(items.values(), key=best_first)[: self.k], self.prompt_budget(query))

    def _weight(self, item: Item) -> float:
        """Return the factor by which an entry's score has decayed with its age."""
        if not self.half_life:
            return 1.0
        return float(0.5 ** ((self.store.sequence - item.since) / self.half_life))
