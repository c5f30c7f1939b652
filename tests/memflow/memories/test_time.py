"""Properties of every memory: the store contains the whole state, so any earlier state can be restored."""

import asyncio
import string
from collections.abc import Sequence
from dataclasses import replace
from functools import wraps

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_helpers import case
from profiles import examples

from memflow.chat.scripted import ScriptedChat
from memflow.memories.bounds import BOUNDS
from memflow.memories.entries import EntryStore, Item
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Memory, Message, Recall, Tools
from memflow.memories.registry import handlers, memory_factory
from memflow.memories.systems import SYSTEMS
from memflow.memories.user_memories import UserMemory

PLAIN = [
    *BOUNDS, "vanilla", "vanilla_40", "full", "full_40", "recent", "recent_3",
    "bm25_message_3", "bm25_session", "embed_message_3", "embed_session", "hybrid_3",
    "rag_2_4_3", "rag_2_0_2", "rag_3_1_30", "rag_pair", "rag_pair_3_1_2", "rag_chunk",
    "rag_chunk_6_2_2", "retrieval", "retrieval_9",
]  # fmt: skip
OVERLAPS = [name for name in PLAIN if name.startswith("rag_chunk")]
LEAVE_OUT = ("vanilla", "vanilla_40", "recent", "recent_3")
KEEPS_ALL = [name for name in PLAIN if name not in (*OVERLAPS, *BOUNDS, *LEAVE_OUT)]
WRITTEN = [case(system, name) for name, system in SYSTEMS.items() if system.needs_chat]
"""Systems that use a chat model, here the scripted one."""
CROWDED = ["mem_gpt_30"]
"""Names with budgets that the streams exceed."""
SIZES = {"short": 1, "capacity": 3, "tau": 2.5, "knowledge": 3, "k": 2, "segments": 2}
SMALL = {
    "small_memory_os": UserMemory(system="memory_os", parameters=SIZES),
    "small_generative_agent": UserMemory(system="generative_agent", parameters={"threshold": 8}),
}
"""Systems with capacities so small that short streams promote, evict and reflect."""
NAMES = [*PLAIN, *WRITTEN, *CROWDED, *SMALL]
TOOLS = Tools(chat=ScriptedChat(handlers()), embedder=HashingEmbedder(32))
QUERIES = ["Where does the cat live?", "tea and bread in Paris", "北京的天气", ""]

# Few words, so that equal scores and equal texts are common.
WORDS = ["cat", "dog", "tea", "bread", "Paris", "lives", "the", "in", "likes", "天气", "北京大学", "苹果"]

texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join) | st.text(string.printable, max_size=20)
messages = st.builds(
    Message,
    message_id=st.just(""),
    role=st.sampled_from(["user", "assistant"]),
    text=texts,
    speaker=st.sampled_from([None, "Mel", "user"]),
    sent_at=st.sampled_from([None, "8 May 2023", "9 May 2023"]),
)
streams = st.lists(st.lists(messages, min_size=1, max_size=5), min_size=1, max_size=10)


def numbered(stream: Sequence[Sequence[Message]], start: int = 0) -> list[list[Message]]:
    """Return the stream with message ids m0, m1, ..."""
    named, count = [], start
    for batch in stream:
        named.append([replace(message, message_id=f"m{count + at}") for at, message in enumerate(batch)])
        count += len(batch)
    return named


def new(name: str, store: EntryStore | None = None) -> Memory:
    return memory_factory(name, TOOLS, SMALL)(EntryStore() if store is None else store)


async def process(memory: Memory, batch: Sequence[Message]) -> None:
    """Read and write an exchange as the player does."""
    if batch[0].role == "user":
        memory.store.advance(1)
        await memory.read(batch[0].text, frozen=False)
        memory.store.advance(len(batch) - 1)
    else:
        memory.store.advance(len(batch))
    await memory.write(batch)


async def play(memory: Memory, batches: Sequence[Sequence[Message]]) -> Memory:
    for batch in batches:
        await process(memory, batch)
    return memory


async def reads(memory: Memory) -> list[Recall]:
    """Return concurrent frozen reads, which must not change the store."""
    before = memory.store.version
    found = list(await asyncio.gather(*(memory.read(query) for query in QUERIES)))
    assert memory.store.version == before
    return found


def from_rows(store: EntryStore) -> list[Item]:
    """Return the store's entries as a table returns them: in another order."""
    items = []
    for item in store:
        vector = None if item.vector is None else np.asarray(item.vector.tolist(), np.float32)
        items.append(replace(item, vector=vector))
    return sorted(items, key=lambda item: item.entry_id)


def run_async(test):
    """Run a coroutine test in an event loop of its own, since hypothesis calls functions."""

    @wraps(test)
    def run(**given) -> None:
        asyncio.run(test(**given))

    return run


@pytest.mark.parametrize("name", NAMES)
@examples(8)
@given(stream=streams)
@run_async
async def test_frozen_reads_change_nothing_and_are_equal_in_a_restored_memory(name: str, stream) -> None:
    memory, moments, given_so_far = new(name), [], set()
    for batch in numbered(stream):
        await process(memory, batch)
        given_so_far |= {message.message_id for message in batch}
        entries = list(memory.store)
        recalls = await reads(memory)
        moments.append((memory.store.sequence, recalls))
        for recall in recalls:
            assert set(recall.sources) <= given_so_far
            assert all(memory.store.get(item.entry_id) == item for item in recall.entries)
        assert list(memory.store) == entries
    for sequence, then in moments:
        again = new(name, EntryStore.restored(from_rows(memory.store), sequence))
        assert await reads(again) == then


@pytest.mark.parametrize("name", NAMES)
@examples(6)
@given(stream=streams, left=streams, right=streams)
@run_async
async def test_write_to_a_memory_fork_changes_only_this_fork(name: str, stream, left, right) -> None:
    base = await play(new(name), numbered(stream))
    before, entries = await reads(base), list(base.store)
    for branch in (left, right):
        more = numbered(branch, start=1000)
        fork = await play(new(name, base.store.fork()), more)
        alone = await play(new(name), [*numbered(stream), *more])
        assert await reads(fork) == await reads(alone)
        assert list(fork.store) == list(alone.store)
    assert (await reads(base), list(base.store)) == (before, entries)


@pytest.mark.parametrize("name", KEEPS_ALL)
@examples(6)
@given(stream=streams)
@run_async
async def test_every_written_message_is_the_source_of_exactly_one_live_entry(name: str, stream) -> None:
    memory = await play(new(name), numbered(stream))
    sources = [source for item in memory.store.live() for source in item.sources]
    assert sorted(sources) == sorted(message.message_id for batch in numbered(stream) for message in batch)
