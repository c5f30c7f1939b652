"""What every memory has to keep: its whole state is its store, so any moment can be read again."""

import asyncio
import string
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from remembering import case

from memflow.chat.scripted import ScriptedChat
from memflow.memories.entries import EntryStore, Item
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Memory, Message, Recall, Tools
from memflow.memories.registry import handlers, remember
from memflow.memories.systems import SYSTEMS

PLAIN = [
    "none",
    "oracle",
    "full",
    "full_40",
    "recent",
    "recent_3",
    "bm25_message_3",
    "bm25_session",
    "embed_message_3",
    "embed_session",
    "rag_2_4_3",
    "rag_2_0_2",
    "rag_3_1_30",
    "rag_pair",
    "rag_pair_3_1_2",
    "rag_chunk",
    "rag_chunk_6_2_2",
    "retrieval",
    "retrieval_9",
]
OVERLAPS = [name for name in PLAIN if name.startswith("rag_chunk")]
KEEPS_ALL = [name for name in PLAIN if name not in (*OVERLAPS, "none", "oracle", "recent", "recent_3")]
WRITTEN = [case(system, name) for name, system in SYSTEMS.items() if system.needs_chat]
"""Systems that a model writes: here the scripted chat, so that they write the same again."""
CROWDED = ["mem_gpt_30"]
"""Some of them so small that streams of these lengths overflow them."""
NAMES = [*PLAIN, *WRITTEN, *CROWDED]
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
    """The stream with ids m0, m1, ... in order."""
    named, count = [], start
    for batch in stream:
        named.append([replace(message, message_id=f"m{count + at}") for at, message in enumerate(batch)])
        count += len(batch)
    return named


def new(name: str, store: EntryStore | None = None) -> Memory:
    return remember(name, TOOLS)(EntryStore() if store is None else store)


async def live(memory: Memory, batch: Sequence[Message]) -> None:
    """As the player does: an exchange is read for its first message, and then written."""
    if batch[0].role == "user":
        memory.store.advance(1)
        await memory.read(batch[0].text, frozen=False)
        memory.store.advance(len(batch) - 1)
    else:
        memory.store.advance(len(batch))
    await memory.write(batch)


async def reads(memory: Memory) -> list[Recall]:
    """What probes get: they come all at once, and none of them may change anything."""
    before = memory.store.version
    found = list(await asyncio.gather(*(memory.read(query) for query in QUERIES)))
    assert memory.store.version == before
    return found


def from_rows(store: EntryStore) -> list[Item]:
    """The store's entries as they come back from a table: vectors as lists of numbers, in no order."""
    items = []
    for item in store:
        vector = None if item.vector is None else np.asarray(item.vector.tolist(), np.float32)
        items.append(replace(item, vector=vector))
    return sorted(items, key=lambda item: item.entry_id)


@pytest.mark.parametrize("name", NAMES)
@examples(20)
@given(stream=streams)
def test_a_restored_memory_reads_what_the_living_one_read(name: str, stream: list[list[Message]]) -> None:
    async def scenario() -> None:
        memory, moments = new(name), []
        for batch in numbered(stream):
            await live(memory, batch)
            moments.append((memory.store.sequence, await reads(memory)))
        for sequence, then in moments:
            again = new(name, EntryStore.restored(from_rows(memory.store), sequence))
            assert await reads(again) == then

    asyncio.run(scenario())


@pytest.mark.parametrize("name", NAMES)
@examples(10)
@given(stream=streams, more=streams, cut=st.integers(0, 10))
def test_a_memory_goes_on_from_where_it_was_restored(
    name: str, stream: list[list[Message]], more: list[list[Message]], cut: int
) -> None:
    """Restoring loses nothing that writing needs: the future is the same with and without a break."""

    async def scenario() -> None:
        whole, batches = new(name), numbered([*stream, *more])
        for batch in batches:
            await live(whole, batch)
        broken = new(name)
        for batch in batches[:cut]:
            await live(broken, batch)
        broken = new(name, EntryStore.restored(from_rows(broken.store), broken.store.sequence))
        for batch in batches[cut:]:
            await live(broken, batch)
        assert await reads(broken) == await reads(whole)

    asyncio.run(scenario())


@pytest.mark.parametrize("name", NAMES)
@examples(10)
@given(stream=streams, left=streams, right=streams)
def test_forks_never_touch_each_other(
    name: str, stream: list[list[Message]], left: list[list[Message]], right: list[list[Message]]
) -> None:
    async def scenario() -> None:
        base = new(name)
        for batch in numbered(stream):
            await live(base, batch)
        before, held = await reads(base), list(base.store)
        for branch in (left, right):
            fork, alone = new(name, base.store.fork()), new(name)
            for batch in numbered(branch, start=1000):
                await live(fork, batch)
            for batch in [*numbered(stream), *numbered(branch, start=1000)]:
                await live(alone, batch)
            assert await reads(fork) == await reads(alone)
            assert list(fork.store) == list(alone.store)
        assert (await reads(base), list(base.store)) == (before, held)

    asyncio.run(scenario())


@pytest.mark.parametrize("name", NAMES)
@examples(10)
@given(stream=streams)
def test_reading_changes_nothing_and_knows_only_the_past(name: str, stream: list[list[Message]]) -> None:
    async def scenario() -> None:
        memory, given_so_far = new(name), set()
        for batch in numbered(stream):
            await live(memory, batch)
            given_so_far |= {message.message_id for message in batch}
            held, version = list(memory.store), memory.store.version
            for recall in await reads(memory):
                assert set(recall.sources) <= given_so_far
                assert all(memory.store.get(item.entry_id) == item for item in recall.entries)
            assert (list(memory.store), memory.store.version) == (held, version)

    asyncio.run(scenario())


@pytest.mark.parametrize("name", KEEPS_ALL)
@examples(10)
@given(stream=streams)
def test_every_message_is_in_one_live_entry(name: str, stream: list[list[Message]]) -> None:
    async def scenario() -> None:
        memory = new(name)
        for batch in numbered(stream):
            await live(memory, batch)
        sources = [source for item in memory.store.live() for source in item.sources]
        said = [message.message_id for batch in numbered(stream) for message in batch]
        assert sorted(sources) == sorted(said)

    asyncio.run(scenario())
