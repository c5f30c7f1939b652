"""AMemGym's RAG: the law of its buffer, and the order of what it recalls."""

from collections import Counter

import pytest

from memflow.hashing import HashingEmbedder
from memflow.memories.memory import Message, Tools
from memflow.memories.rag import Rag

TOOLS = Tools(embedder=HashingEmbedder())


async def lived(rag: Rag, rounds: int) -> Rag:
    for number in range(rounds):
        rag.store.advance(2)
        await rag.write(
            [
                Message(f"u{number}", "user", f"question {number}"),
                Message(f"a{number}", "assistant", f"reply {number}"),
            ]
        )
    return rag


@pytest.mark.parametrize(("freq", "ns"), [(2, 4), (2, 8), (4, 4), (8, 4), (2, 0), (3, 1), (1, 0)])
@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 7, 82])
async def test_the_buffer_law(freq: int, ns: int, rounds: int) -> None:
    """As AMemGym's code has it: while freq + ns are local, the oldest freq leave."""
    local, written = 0, 0
    for _ in range(rounds):
        local += 2
        while local >= freq + ns:
            local, written = local - freq, written + freq
    rag = await lived(Rag(tools=TOOLS, freq=freq, ns=ns), rounds)
    kinds = Counter(item.kind for item in rag.store.live())
    assert (kinds["buffer"], kinds["message"]) == (local, written)


async def test_the_published_streams_give_the_published_number_of_writes() -> None:
    """v1.base: 1,637 rounds over 20 users; (2, 4) writes 1,597 times and leaves 80 messages, (2, 8) 1,557."""
    rounds = [82] * 17 + [81] * 3
    assert sum(rounds) == 1637
    for ns, writes, left in ((4, 1597, 80), (8, 1557, 160)):
        rags = [await lived(Rag(tools=TOOLS, ns=ns), count) for count in rounds]
        ticks = [len({item.since for item in rag.store.live("message")}) for rag in rags]
        assert sum(ticks) == writes
        assert sum(len(rag.store.live("buffer")) for rag in rags) == left


async def test_notes_are_in_the_order_of_time_and_entries_best_first() -> None:
    rag = Rag(tools=TOOLS, freq=1, ns=1, k=2)
    for number, text in enumerate(["some bread", "the weather", "fresh bread every morning", "goodbye"]):
        rag.store.advance(1)
        await rag.write([Message(f"m{number}", "user", text, sent_at=f"{number} May")])
    recall = await rag.read("fresh bread this morning")
    assert recall.notes == "[0 May] user: some bread\n[2 May] user: fresh bread every morning"
    assert recall.sources == ("m2", "m0", "m3")
    assert [turn.content for turn in recall.messages] == ["[3 May]\ngoodbye"]


async def test_what_leaves_takes_its_own_date_along() -> None:
    rag = Rag(tools=TOOLS, freq=2, ns=0)
    session = [Message(f"m{number}", "user", f"{number}", "Mel", f"{number // 3} May") for number in range(4)]
    await rag.write(session)
    assert [item.text for item in rag.store.live("message")] == [
        "[0 May] Mel: 0",
        "[0 May] Mel: 1",
        "[0 May] Mel: 2",
        "[1 May] Mel: 3",
    ]
    assert rag.store.live("buffer") == []
