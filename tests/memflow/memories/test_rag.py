"""RAG and its variants: buffer, chunks, budget, and the order of recalls."""

from collections import Counter

import pytest
from memory_helpers import build, give, said

from memflow.errors import BadSettings
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import ROOM, Memory, Message, Tools
from memflow.memories.rag import Rag
from memflow.memories.registry import fingerprint, memory_factory
from memflow.memories.retrieval import Embedded, Hybrid, Lexical
from memflow.tokens import estimate, most

TOOLS = Tools(embedder=HashingEmbedder())


def alternating(count: int) -> list[Message]:
    return [
        Message(f"m{at}", "user" if at % 2 == 0 else "assistant", f"word{at} more", sent_at="8 May")
        for at in range(count)
    ]


async def stream(rag: Rag, messages: list[Message], batch: int = 0) -> Rag:
    """Write the messages in batches of `batch` messages, or in a single batch."""
    for start in range(0, len(messages), batch or len(messages) or 1):
        await give(rag, messages[start : start + batch] if batch else messages)
    return rag


@pytest.mark.parametrize(("freq", "ns"), [(2, 4), (2, 8), (4, 4), (8, 4), (2, 0), (3, 1), (1, 0)])
@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 7, 82])
async def test_rag_buffer_size_follows_amemgym_write_frequency(freq: int, ns: int, rounds: int) -> None:
    """In AMemGym's code, the oldest `freq` messages leave a buffer of `freq + ns` messages."""
    local, written = 0, 0
    for _ in range(rounds):
        local += 2
        while local >= freq + ns:
            local, written = local - freq, written + freq
    rag = await stream(build(Rag, freq=freq, ns=ns), alternating(2 * rounds), 2)
    kinds = Counter(item.kind for item in rag.store.live())
    assert (kinds["buffer"], kinds["message"]) == (local, written)


async def test_rag_gives_the_published_number_of_writes_on_the_published_data() -> None:
    """1,637 rounds give 1,597 writes for freq=2, ns=4 (80 messages remain) and 1,557 for ns=8 (160 remain)."""
    rounds = [82] * 17 + [81] * 3
    assert sum(rounds) == 1637
    for ns, writes, left in ((4, 1597, 80), (8, 1557, 160)):
        rags = [await stream(build(Rag, ns=ns), alternating(2 * count), 2) for count in rounds]
        writes_per_rag = [len({item.since for item in rag.store.live("message")}) for rag in rags]
        assert sum(writes_per_rag) == writes
        assert sum(len(rag.store.live("buffer")) for rag in rags) == left


async def test_rag_recall_has_notes_in_chronological_order_and_entries_best_first() -> None:
    rag = build(Rag, freq=1, ns=1, k=2)
    for number, text in enumerate(["some bread", "the weather", "fresh bread every morning", "goodbye"]):
        await give(rag, said(text, first=number, sent_at=f"{number} May"))
    recall = await rag.read("fresh bread this morning")
    assert recall.notes == "[0 May] user: some bread\n[2 May] user: fresh bread every morning"
    assert recall.sources == ("m2", "m0", "m3")
    assert [turn.content for turn in recall.messages] == ["[3 May]\ngoodbye"]


async def test_rag_chunk_keeps_an_incomplete_chunk_in_the_buffer() -> None:
    """The user's line has 4 tokens and the assistant's 5.5. Chunks have 10 tokens and an overlap of 2."""
    rag = build(Rag, chunk="tokens", size=10, overlap=2, freq=1, ns=0)
    await stream(rag, alternating(5))
    assert [(item.text, item.sources) for item in rag.store.live("tokens")] == [
        ("[8 May]\nuser: word0 more\nassistant: word1 more", ("m0", "m1")),
        ("[8 May]\nassistant: more\nuser: word2 more\nassistant: word3 ", ("m1", "m2", "m3")),
    ]
    recall = await rag.read("word4")
    assert [turn.content for turn in recall.messages] == ["[8 May]\nword3 more", "word4 more"]
    assert {"m0", "m1", "m2", "m3", "m4"} == set(recall.sources)


@pytest.mark.parametrize("batch", [1, 2, 3, 11])
@pytest.mark.parametrize(("freq", "ns"), [(1, 0), (2, 4), (3, 1)])
async def test_rag_chunks_do_not_depend_on_messages_per_write(batch: int, freq: int, ns: int) -> None:
    messages, parameters = (
        alternating(33),
        {"chunk": "tokens", "size": 12, "overlap": 5, "freq": freq, "ns": ns},
    )
    once = await stream(build(Rag, **parameters), messages)
    rag = await stream(build(Rag, **parameters), messages, batch)
    texts = [(item.text, item.sources) for item in rag.store.live("tokens")]
    want = [(item.text, item.sources) for item in once.store.live("tokens")]
    assert len(want) > 8 and abs(len(texts) - len(want)) <= 2  # freq decides when they are cut, not where
    assert texts[: len(want)] == want[: len(texts)]
    seen = {source for item in rag.store.live() for source in item.sources}
    assert seen == {message.message_id for message in messages}


async def test_retrieval_memory_ranks_all_messages_and_has_no_buffer() -> None:
    rag = memory_factory("retrieval_10", TOOLS)(EntryStore())
    assert isinstance(rag, Rag)
    await stream(rag, said(*(f"note {at}" for at in range(40))))
    recall = await rag.read("note 7")
    assert recall.messages == () and recall.injected_tokens <= 10
    assert recall.sources[0] == "m7" and len(recall.entries) == 3
    assert len((await Rag(rag.store, TOOLS, k=0, ns=0).read("note 7")).entries) == 40


def test_rag_chunk_rejects_an_overlap_equal_to_the_chunk_size() -> None:
    with pytest.raises(BadSettings, match=r"overlap of chunks \(75 tokens\) is not smaller than a chunk"):
        memory_factory("rag_chunk_75_75_5", TOOLS)(EntryStore())


def test_rag_variants_have_the_parameters_of_the_paper() -> None:
    pair, chunk = (memory_factory(name, TOOLS)(EntryStore()) for name in ("rag_pair", "rag_chunk"))
    assert (pair.chunk, pair.freq, pair.ns, pair.k) == ("pair", 1, 0, 5)
    assert (chunk.chunk, chunk.size, chunk.overlap, chunk.k) == ("tokens", 300, 75, 5)
    shared = {fingerprint(name) for name in ("rag", "rag_pair", "rag_pair_2_4_30", "rag_chunk", "retrieval")}
    assert len(shared) == 5


@pytest.mark.parametrize("memory", [Lexical, Embedded, Hybrid, Rag])
async def test_searching_memory_drops_the_worst_entries_beyond_the_window(memory: type[Memory]) -> None:
    text = "The cat sat on the mat. " * 40
    tools = Tools(embedder=HashingEmbedder(), window=2 * ROOM + most(6 * estimate(text) + 60))
    built = memory(tools=tools, k=10)
    await built.write([Message(f"m{number}", "user", f"{number}. {text}") for number in range(12)])
    recall = await built.read("Where is the cat?")
    assert 1 <= len(recall.entries) < len(recall.ranked) and recall.dropped_tokens > 0
    assert most(recall.injected_tokens) <= tools.window - 2 * ROOM
