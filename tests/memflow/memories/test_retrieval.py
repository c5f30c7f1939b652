"""The memory `hybrid`: messages found by words and by embeddings, and the decay of their scores with age."""

from collections.abc import Sequence

import numpy as np
import pytest
from memory_helpers import build, give, said

from memflow.memories.entries import EntryStore, Vector
from memflow.memories.memory import Tools
from memflow.memories.retrieval import Hybrid
from memflow.memories.search import fuse, fusion_depth


class TopicEmbedder:
    """An embedder of two topics: texts with `drink` words, and all others."""

    fingerprint, dimensions = "topics", 2

    async def embed(self, texts: Sequence[str], input_type: str | None = None) -> Vector:
        drinks = [any(word in text.lower() for word in ("tea", "coffee", "beverage")) for text in texts]
        return np.asarray([[1.0, 0.0] if drink else [0.0, 1.0] for drink in drinks], np.float32)


TEXTS = ("Mel likes green tea", "Mel lives in Paris", "Ann drinks coffee", "Which beverage is hot")


async def written(**parameters: int) -> Hybrid:
    memory = build(Hybrid, embedder=TopicEmbedder(), **parameters)
    for message in said(*TEXTS):
        await give(memory, [message])
    return memory


async def test_hybrid_recalls_what_words_or_embeddings_find_and_both_first() -> None:
    memory = await written(k=3)
    recall = await memory.read("Which tea does Mel like")
    assert "green tea" in recall.entries[0].text  # found by both
    assert len(recall.entries) == 3


async def test_score_of_an_entry_is_halved_by_its_half_life() -> None:
    lasting, decaying = await written(k=1), await written(k=1, half_life=1)
    query = "Which tea"
    assert "green tea" in (await lasting.read(query)).notes
    assert "beverage" in (await decaying.read(query)).notes


async def test_hybrid_without_entries_recalls_nothing_and_asks_no_embedder() -> None:
    assert (await Hybrid(EntryStore(), Tools()).read("anything")).entries == ()


async def test_store_of_one_entry_is_recalled_for_any_query() -> None:
    memory = build(Hybrid, embedder=TopicEmbedder(), k=5)
    await give(memory, said("Mel likes green tea"))
    assert len((await memory.read("Where is the station")).entries) == 1


def test_reciprocal_rank_fusion_adds_the_reciprocals_of_the_ranks() -> None:
    assert fuse([["a", "b"], ["b", "c"]]) == pytest.approx({"a": 1 / 61, "b": 1 / 61 + 1 / 62, "c": 1 / 62})
    assert fuse([]) == {}
    assert (fusion_depth(5), fusion_depth(200)) == (100, 400)
