"""Nemori: topic boundaries, episodes, and statements of unpredicted content."""

import pytest
from memory_helpers import build, give, requests, said, sources

from memflow.memories.memory import FAILURE
from memflow.memories.nemori.answers import Boundaries, Boundary
from memflow.memories.nemori.memory import BUFFER, EPISODE, ORIGINAL, STATEMENT, Nemori

CATS = said("My cat is Tom.", "Tom is calm.")


def boundaries(*found: tuple[int, int]) -> Boundaries:
    """Return an answer with these boundaries, each a message number and a confidence in percent."""
    return Boundaries(boundaries=[Boundary(line=line, confidence=confidence) for line, confidence in found])


async def test_topic_change_closes_the_current_episode() -> None:
    memory = build(Nemori)
    await give(memory, said("My cat is old.", "My cat sleeps a lot.", sent_at="8 May 2023"))
    assert sources(memory, EPISODE) == []
    await give(memory, said("Paris has good bread.", first=2))
    [episode] = memory.store.live(EPISODE)
    assert (episode.sources, episode.since) == (("m0", "m1"), 3)
    assert episode.text == "[8 May 2023] cat\nMy cat is old. My cat sleeps a lot."
    assert (episode.meta["title"], episode.meta["time"]) == ("cat", "8 May 2023")
    assert sources(memory, ORIGINAL) == [("m0",), ("m1",)]
    recall = await memory.read("bread")
    assert [turn.content for turn in recall.messages] == ["[8 May 2023]\nParis has good bread."]


async def test_full_message_buffer_closes_the_current_episode() -> None:
    memory = build(Nemori, {"boundaries": boundaries()}, longest=3)
    await give(memory, said(*(f"My number is {number}." for number in range(7))))
    assert sources(memory, EPISODE) == [("m0", "m1", "m2"), ("m3", "m4", "m5")]
    assert sources(memory, BUFFER) == [("m6",)]
    await give(memory, said("My number is 7.", "My number is 8.", first=7))
    assert sources(memory, EPISODE)[2:] == [("m6", "m7", "m8")] and sources(memory, BUFFER) == []


async def test_write_of_several_messages_sends_one_boundary_request() -> None:
    memory = build(Nemori, {"boundaries": boundaries((4, 90), (5, 90))})
    await give(memory, said("a"))
    assert requests(memory) == []  # neither this message nor the next could end an episode of two
    await give(memory, said("b", "c", "d", "e", first=1))
    [request] = requests(memory, "boundaries")
    assert request.fields["before"] == "1. user: a\n2. user: b"
    assert request.fields["new"] == "3. user: c\n4. user: d\n5. user: e"
    # The boundary at 5 would leave an episode of one message: that stays with what follows.
    assert sources(memory, EPISODE) == [("m0", "m1", "m2")] and sources(memory, BUFFER) == [("m3",), ("m4",)]


@pytest.mark.parametrize(("percent", "episodes"), [(70, []), (71, [("m0", "m1")])])
async def test_boundary_closes_an_episode_only_above_the_confidence_threshold(percent, episodes) -> None:
    memory = build(Nemori, {"boundaries": boundaries((3, percent))}, confidence=0.7)
    await give(memory, said("a", "b", "c"))
    assert sources(memory, EPISODE) == episodes


async def test_statement_that_the_model_predicted_is_not_added() -> None:
    memory = build(Nemori, {"predict": '{"prediction": "My cat is Tom."}'}, longest=2)
    await give(memory, CATS)
    assert requests(memory, "predict") == []  # nothing was known that an expectation could rest on
    first = memory.store.live(STATEMENT)
    assert [item.text for item in first] == ["- My cat is Tom.", "- Tom is calm."]
    assert sources(memory, STATEMENT) == [("m0",), ("m1",)]
    await give(memory, said("My cat is Tom.", "My dog is Rex.", first=2))
    [request] = requests(memory, "predict")
    assert request.fields == {"known": "- My cat is Tom.\n- Tom is calm.", "title": "cat"}  # nearest first
    [*before, news] = memory.store.live(STATEMENT)
    assert before == first
    assert (news.text, news.sources) == ("- My dog is Rex.", ("m3",))


async def test_statement_equal_to_a_stored_statement_is_not_added() -> None:
    memory = build(Nemori, {"predict": "no JSON"}, longest=2)
    await give(memory, CATS)
    await give(memory, said("My cat is Tom.", "My dog is Rex.", first=2))
    assert sources(memory, FAILURE) == [("m2", "m3")]
    assert sources(memory, STATEMENT) == [("m0",), ("m1",), ("m3",)]


async def test_read_returns_statements_episodes_and_original_messages() -> None:
    memory = build(Nemori, longest=2, k=2, ratio=1, originals=1)
    await give(memory, said("My cat is old.", "My cat sleeps."))
    await give(memory, said("Paris has bread.", "Bread is good.", first=2))
    await give(memory, said("Rome is far.", first=4))
    recall = await memory.read("My cat is old.")
    statements, cat, paris = recall.notes.split("\n\n")
    assert "- My cat is old." in statements.splitlines() and len(statements.splitlines()) == 2
    assert cat == "cat\nMy cat is old. My cat sleeps.\n> user: My cat is old.\n> user: My cat sleeps."
    assert paris.splitlines() == ["paris bread", "Paris has bread. Bread is good."]
    assert recall.entries[0].text == "- My cat is old."  # the same words as the query: the nearest of all
    kinds = [item.kind for item in recall.entries]
    assert sorted(kinds) == sorted([STATEMENT] * 2 + [EPISODE] * 2 + [ORIGINAL] * 2 + [BUFFER])
    # Search results precede the messages that belong to them.
    assert kinds[4:] == [ORIGINAL, ORIGINAL, BUFFER]
    assert [turn.content for turn in recall.messages] == ["Rome is far."]


async def test_messages_of_a_failed_boundary_request_stay_in_the_buffer() -> None:
    memory = build(Nemori, {"boundaries": boundaries((7, 90))}, longest=4)
    await give(memory, said("a", "b", "c"))
    [lost] = memory.store.live(FAILURE)
    assert lost.sources == ("m2",) and "7 is not one of 3 to 3" in lost.text
    assert [turn.content for turn in (await memory.read("a")).messages] == ["a", "b", "c"]
    await give(memory, said("d", first=3))
    assert sources(memory, EPISODE) == [("m0", "m1", "m2", "m3")]


async def test_failed_narrative_request_stores_the_messages_as_episode() -> None:
    memory = build(Nemori, {"narrate": "no JSON"}, longest=2)
    await give(memory, CATS)
    assert sources(memory, FAILURE) == [("m0", "m1")] and sources(memory, BUFFER) == []
    assert sources(memory, STATEMENT) == [("m0",), ("m1",)]
    recall = await memory.read("cat")
    assert recall.notes.endswith("\n\nuser: My cat is Tom.\nuser: Tom is calm.")


async def test_statement_that_cites_an_unknown_message_is_recorded_as_failure() -> None:
    answer = '{"statements": [{"statement": "The cat is Tom.", "lines": [3]}]}'
    memory = build(Nemori, {"calibrate": answer}, longest=2)
    await give(memory, CATS)
    [lost] = memory.store.live(FAILURE)
    assert "there is no message 3; the last is 2" in lost.text
    assert sources(memory, STATEMENT) == [] and sources(memory, EPISODE) == [("m0", "m1")]
