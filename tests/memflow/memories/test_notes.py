"""BM25 and embedding memories: their entries and search results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_helpers import build, give

from memflow.errors import BadInput
from memflow.memories.entries import EntryStore, Vector
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Message
from memflow.memories.notes import PARTS, recalled, split_messages
from memflow.memories.retrieval import Embedded
from memflow.tokens import estimate

SESSION = [
    Message("m0", "user", "I adopted a puppy", "Caroline", "8 May 2023"),
    Message("m1", "assistant", "What is its name?", "Mel", "8 May 2023"),
    Message("m2", "user", "Biscuit!", "Caroline"),
]


def test_entry_text_of_a_message_contains_date_and_speaker() -> None:
    assert [(piece.text, piece.sources, piece.role) for piece in split_messages(SESSION, "message")] == [
        ("[8 May 2023] Caroline: I adopted a puppy", ("m0",), "user"),
        ("[8 May 2023] Mel: What is its name?", ("m1",), "assistant"),
        ("[8 May 2023] Caroline: Biscuit!", ("m2",), "user"),
    ]


PHOTO = " [shares an image: a dog]"
SHARED = Message("m3", "user", f"Look!{PHOTO}", "Caroline", "9 May 2023", PHOTO)


@pytest.mark.parametrize(
    ("parts", "embedded"),
    [
        (PARTS, f"[9 May 2023] Caroline: Look!{PHOTO}"),
        (("date", "speaker"), "[9 May 2023] Caroline: Look!"),
        (("caption",), f"Look!{PHOTO}"),
        ((), "Look!"),
    ],
)
async def test_embedded_text_has_the_chosen_parts_and_the_stored_text_has_all(
    parts: tuple[str, ...], embedded: str
) -> None:
    memory = build(Embedded, embedded=parts)
    await give(memory, [SHARED])
    assert memory.tools.embedder.batches == [[embedded]]
    assert [item.text for item in memory.store.live()] == [f"[9 May 2023] Caroline: Look!{PHOTO}"]
    session = build(Embedded, grain="session", embedded=parts)
    await give(session, [*SESSION, SHARED])
    [[text]] = session.tools.embedder.batches
    assert (PHOTO in text, "Caroline: " in text, "2023" in text) == tuple(
        part in parts for part in ("caption", "speaker", "date")
    )


def test_message_of_a_caption_alone_is_embedded_with_it() -> None:
    only = Message("m0", "user", PHOTO, "Mel", None, PHOTO)
    assert [draft.embedded for draft in split_messages([only], "message", ())] == [PHOTO]


@pytest.mark.parametrize(("grain", "texts"), [("message", 3), ("session", 1)])
async def test_embedding_memory_makes_one_embedding_call_per_write_and_read(grain: str, texts: int) -> None:
    memory = build(Embedded, grain=grain)
    assert (await memory.read("before anything was said")).entries == ()
    await memory.write([])
    assert memory.tools.embedder.batches == []
    await memory.write(SESSION)
    await memory.read("What is the puppy called?")
    assert [len(batch) for batch in memory.tools.embedder.batches] == [texts, 1]


async def test_write_raises_bad_input_if_the_embedder_returns_too_few_vectors() -> None:
    class Losing(HashingEmbedder):
        async def embed(self, texts, input_type=None) -> Vector:
            return (await super().embed(texts))[1:]

    memory = build(Embedded, embedder=Losing())
    with pytest.raises(BadInput, match="2 vectors for 3 texts"):
        await memory.write(SESSION)
    assert memory.store.live() == []


@given(
    texts=st.lists(st.text("ab 北", min_size=1, max_size=30), min_size=1, max_size=9),
    budget=st.integers(0, 40),
)
def test_recall_returns_the_best_entries_within_the_token_budget(texts: list[str], budget: int) -> None:
    store = EntryStore()
    found = [store.add("message", text, sources=()) for text in texts]
    recall = recalled(found, budget)
    assert recall.injected_tokens == estimate(recall.notes) <= budget
    shown = len(recall.entries)
    assert recall.entries == tuple(found[:shown])
    assert recall.dropped_tokens == sum(map(estimate, texts[shown:]))
    if shown < len(found):
        assert estimate("\n".join(texts[: shown + 1])) > budget
