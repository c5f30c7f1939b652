"""Ranking of search results: every memory ranks best first, including results that the budget drops."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from memory_helpers import case, give

from memflow.chat.scripted import ScriptedChat
from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import InputType, Memory, Message, Tools
from memflow.memories.registry import find, handlers
from memflow.memories.systems import SYSTEMS

TOOLS = Tools(chat=ScriptedChat(handlers()), embedder=HashingEmbedder(64))
UNRANKED = {"none", "oracle", "previous", "vanilla", "full", "last_lines", "recent"} | {
    name for name in SYSTEMS if name.startswith("awi")
}
BY_COSINE_ALONE = {
    "generative_agent": {"recency": 0.0, "importance": 0.0},
    "sc_memory": {"decay": 1.0},
    "a_mem": {"linked": 0},
}
"""Parameters with which the score of these systems is the cosine alone."""
OTHERWISE = {"mem_gpt", "hybrid"}
"""The model of one writes the queries; the other fuses rankings, and its results are ordered by fused scores."""
ASKING = {"generative_agent"}
"""Systems whose writes search with questions of their own."""
TOPICS = ("cat", "bread", "tea", "garden", "bicycle", "piano", "river", "winter")
QUERIES = ("Where is the cat now?", "bread and tea in the morning", "the piano by the river")

SEARCHED = [
    case(system, name)
    for name, system in SYSTEMS.items()
    if system.memory.ranks_entries and system.needs_embedder and name not in OTHERWISE
]


async def filled(name: str, tools: Tools = TOOLS) -> Memory:
    """Return a memory with 30 rounds on eight topics."""
    config = find(name)
    values = {**config.values, **BY_COSINE_ALONE.get(config.system.name, {})}
    memory = config.system.memory(EntryStore(), tools, **values)
    chance = random.Random(7)
    for number in range(30):
        one, other = chance.sample(TOPICS, 2)
        user = Message(f"u{number}", "user", f"My {one} is near the {other}. My {other} is fine.")
        reply = f"I see, the {other} and day {number} of the {one}."
        await give(memory, [user, Message(f"a{number}", "assistant", reply)])
    return memory


def searched(memory: Memory, item: Item) -> Vector | None:
    """Return the vector that search uses for an entry: its own, or that of the message it summarizes."""
    message = memory.store.get(item.meta["of"]) if "of" in item.meta else item
    return None if message is None else message.vector


@pytest.mark.parametrize("name", SEARCHED)
async def test_recalled_entries_are_ranked_by_cosine_similarity(name: str) -> None:
    memory, seen = await filled(name), 0
    for query in QUERIES:
        [vector] = await memory.embed([query], "query")
        recall = await memory.read(query)
        vectors = [searched(memory, item) for item in recall.ranked]
        scores = [float(each @ vector) for each in vectors if each is not None]
        assert all(first >= second - 1e-6 for first, second in pairwise(scores))
        # Entries recalled for every query, such as a buffer, follow all search results.
        found = [each is not None for each in vectors]
        assert found == sorted(found, reverse=True)
        seen += len(set(np.round(scores, 4)))
    assert seen > len(QUERIES), "nothing was ranked"


class TypedEmbedder(HashingEmbedder):
    """The hashing embedder; `types` has the input type of each embedded text."""

    def __init__(self) -> None:
        super().__init__()
        self.types: list[tuple[str, str | None]] = []

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        self.types += [(text, input_type) for text in texts]
        return await super().embed(texts)


@pytest.mark.parametrize("name", SEARCHED)
async def test_questions_are_embedded_as_queries_and_what_is_stored_as_passages(name: str) -> None:
    embedder = TypedEmbedder()
    memory = await filled(name, replace(TOOLS, embedder=embedder))
    stored = {input_type for _, input_type in embedder.types}
    # Procedures are found by the queries that led to them, and reflections ask questions.
    assert stored <= (
        {"query"} if "memp" in name else {"passage", "query"} if name in ASKING else {"passage"}
    )
    del embedder.types[:]
    for query in QUERIES:
        await memory.read(query)
    assert {input_type for _, input_type in embedder.types} == {"query"}


def test_only_the_listed_memory_systems_return_unranked_entries() -> None:
    assert {name for name, system in SYSTEMS.items() if not system.memory.ranks_entries} == UNRANKED


@pytest.mark.parametrize(
    ("name", "budget"),
    [("retrieval_40", 60), ("generative_agent", 60), ("memory_bank", 60), ("sc_memory", 48)],
)
async def test_token_budget_does_not_change_the_ranking_of_recalled_entries(name: str, budget: int) -> None:
    memory, free = await filled(name), await filled(name)
    memory.budget, free.budget = budget, 100_000  # type: ignore[attr-defined]
    cut = 0
    for query in QUERIES:
        tight, wide = await memory.read(query), await free.read(query)
        found = tuple(item for item in wide.ranked if searched(free, item) is not None)
        assert tight.ranked[: len(found)] == found
        kept = [item for item in tight.entries if item in found]
        assert kept == [*found[: len(kept)]]
        cut += len(kept) < len(found)
    assert cut, "the budget left nothing out"
