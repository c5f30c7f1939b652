"""Nemori: topic boundaries, episodes, and statements of unpredicted content."""

from memory_helpers import give, said

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.memories.entries import EntryStore
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import FAILURE, Tools
from memflow.memories.nemori.answers import Boundaries, Boundary
from memflow.memories.nemori.memory import BUFFER, EPISODE, ORIGINAL, STATEMENT, Nemori


def nemori(handlers: dict[str, Handler] | None = None, **parameters: object) -> Nemori:
    chat = ScriptedChat({**Nemori.handlers(), **(handlers or {})})
    return Nemori(EntryStore(), Tools(chat, HashingEmbedder(128)), **parameters)  # type: ignore[arg-type]


def boundaries(*found: tuple[int, int]) -> Handler:
    """A model that finds these: the number of a message, and how sure it is in percent."""
    return lambda request: Boundaries(
        boundaries=[Boundary(line=line, confidence=confidence) for line, confidence in found]
    )


def held(memory: Nemori, kind: str) -> list[tuple[str, ...]]:
    return [item.sources for item in memory.store.live(kind)]


async def test_topic_change_closes_episode() -> None:
    memory = nemori()
    await give(memory, said("My cat is old.", "My cat sleeps a lot.", sent_at="8 May 2023"))
    assert held(memory, EPISODE) == []
    await give(memory, said("Paris has good bread.", first=2))
    [episode] = memory.store.live(EPISODE)
    assert (episode.sources, episode.since) == (("m0", "m1"), 3)
    assert episode.text == "[8 May 2023] cat\nMy cat is old. My cat sleeps a lot."
    assert (episode.meta["title"], episode.meta["time"]) == ("cat", "8 May 2023")
    assert held(memory, ORIGINAL) == [("m0",), ("m1",)]
    recall = await memory.read("bread")
    assert [turn.content for turn in recall.messages] == ["[8 May 2023]\nParis has good bread."]


async def test_full_buffer_closes_episode() -> None:
    memory = nemori({"nemori/boundaries": boundaries()}, longest=3)
    await give(memory, said(*(f"My number is {number}." for number in range(7))))
    assert held(memory, EPISODE) == [("m0", "m1", "m2"), ("m3", "m4", "m5")]
    assert held(memory, BUFFER) == [("m6",)]
    await give(memory, said("My number is 7.", "My number is 8.", first=7))
    assert held(memory, EPISODE)[2:] == [("m6", "m7", "m8")] and held(memory, BUFFER) == []


async def test_session_needs_one_boundary_request() -> None:
    seen: list[ChatRequest] = []

    def judge(request: ChatRequest) -> Boundaries:
        seen.append(request)
        return Boundaries(boundaries=[Boundary(line=4, confidence=90), Boundary(line=5, confidence=90)])

    memory = nemori({"nemori/boundaries": judge})
    await give(memory, said("a"))
    assert seen == []  # neither this message nor the next could end an episode of two
    await give(memory, said("b", "c", "d", "e", first=1))
    [request] = seen
    assert request.fields["before"] == "1. user: a\n2. user: b"
    assert request.fields["new"] == "3. user: c\n4. user: d\n5. user: e"
    # The boundary at 5 would leave an episode of one message: that stays with what follows.
    assert held(memory, EPISODE) == [("m0", "m1", "m2")] and held(memory, BUFFER) == [("m3",), ("m4",)]


async def test_boundary_needs_confidence_above_threshold() -> None:
    for percent, episodes in ((70, []), (71, [("m0", "m1")])):
        memory = nemori({"nemori/boundaries": boundaries((3, percent))}, confidence=0.7)
        await give(memory, said("a", "b", "c"))
        assert held(memory, EPISODE) == episodes


async def test_predicted_content_is_not_added() -> None:
    seen: list[ChatRequest] = []

    def predict(request: ChatRequest) -> str:
        seen.append(request)
        return '{"prediction": "My cat is Tom."}'

    memory = nemori({"nemori/predict": predict}, longest=2)
    await give(memory, said("My cat is Tom.", "Tom is calm."))
    assert seen == []  # nothing was known that an expectation could rest on
    first = memory.store.live(STATEMENT)
    assert [(item.text, item.sources) for item in first] == [
        ("- My cat is Tom.", ("m0",)),
        ("- Tom is calm.", ("m1",)),
    ]
    await give(memory, said("My cat is Tom.", "My dog is Rex.", first=2))
    assert seen[0].fields == {"known": "- My cat is Tom.\n- Tom is calm.", "title": "cat"}  # nearest first
    [*before, news] = memory.store.live(STATEMENT)
    assert before == first
    assert (news.text, news.sources) == ("- My dog is Rex.", ("m3",))


async def test_equal_statements_are_added_once() -> None:
    memory = nemori({"nemori/predict": lambda request: "no JSON"}, longest=2)
    await give(memory, said("My cat is Tom.", "Tom is calm."))
    await give(memory, said("My cat is Tom.", "My dog is Rex.", first=2))
    assert held(memory, FAILURE) == [("m2", "m3")]
    assert held(memory, STATEMENT) == [("m0",), ("m1",), ("m3",)]


async def test_recall_has_statements_episodes_and_original_messages() -> None:
    memory = nemori(longest=2, k=2, ratio=1, originals=1)
    for first, texts in enumerate(
        [("My cat is old.", "My cat sleeps."), ("Paris has bread.", "Bread is good.")]
    ):
        await give(memory, said(*texts, first=2 * first))
    await give(memory, said("Rome is far.", first=4))
    recall = await memory.read("My cat is old.")
    statements, cat, paris = recall.notes.split("\n\n")
    assert "- My cat is old." in statements.splitlines() and len(statements.splitlines()) == 2
    assert cat.splitlines() == [
        "cat",
        "My cat is old. My cat sleeps.",
        "> user: My cat is old.",
        "> user: My cat sleeps.",
    ]
    assert paris.splitlines() == ["paris bread", "Paris has bread. Bread is good."]
    assert recall.entries[0].text == "- My cat is old."  # the same words as the query: the nearest of all
    kinds = [item.kind for item in recall.entries]
    assert sorted(kinds) == sorted([STATEMENT] * 2 + [EPISODE] * 2 + [ORIGINAL] * 2 + [BUFFER])
    # What was found stands before what comes along with it.
    assert kinds[4:] == [ORIGINAL, ORIGINAL, BUFFER]
    assert [turn.content for turn in recall.messages] == ["Rome is far."]


async def test_failed_segmentation_loses_no_message() -> None:
    memory = nemori({"nemori/boundaries": boundaries((7, 90))}, longest=4)
    await give(memory, said("a", "b", "c"))
    [lost] = memory.store.live(FAILURE)
    assert lost.sources == ("m2",) and "7 is not one of 3 to 3" in lost.text
    assert [turn.content for turn in (await memory.read("a")).messages] == ["a", "b", "c"]
    await give(memory, said("d", first=3))
    assert held(memory, EPISODE) == [("m0", "m1", "m2", "m3")]


async def test_failed_narrative_keeps_messages_as_episode() -> None:
    memory = nemori({"nemori/narrate": lambda request: "no JSON"}, longest=2)
    await give(memory, said("My cat is Tom.", "Tom is calm."))
    assert held(memory, FAILURE) == [("m0", "m1")] and held(memory, BUFFER) == []
    assert held(memory, STATEMENT) == [("m0",), ("m1",)]
    recall = await memory.read("cat")
    assert recall.notes.endswith("\n\nuser: My cat is Tom.\nuser: Tom is calm.")


async def test_statement_with_unknown_message_is_rejected() -> None:
    answer = '{"statements": [{"statement": "The cat is Tom.", "lines": [3]}]}'
    memory = nemori({"nemori/calibrate": lambda request: answer}, longest=2)
    await give(memory, said("My cat is Tom.", "Tom is calm."))
    [lost] = memory.store.live(FAILURE)
    assert "there is no message 3; the last is 2" in lost.text
    assert held(memory, STATEMENT) == [] and held(memory, EPISODE) == [("m0", "m1")]
