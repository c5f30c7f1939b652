"""Nemori: topic boundaries, episodes, and statements of unpredicted content."""

import pytest
from memory_helpers import build, give, requests, said, sources

from memflow.memories.memory import FAILURE
from memflow.memories.nemori.answers import (
    Boundaries,
    Boundary,
    MergeChoice,
    Narration,
    Statements,
)
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


CATS_AGAIN = said("My cat is Tom.", "Tom is calm today.", first=2, sent_at="9 May 2023")
CATS_MERGED = Narration(title="Tom", narrative="Tom is a calm cat.")
NOTHING_NEW = Statements(statements=[])


def merging(episode: int = 1, combine=CATS_MERGED, **parameters) -> Nemori:
    """Return a memory with episodes of two messages whose model merges a new episode with this candidate."""
    answers = {"merge": MergeChoice(episode=episode), "combine": combine, "calibrate": NOTHING_NEW}
    return build(Nemori, answers, longest=2, **parameters)


async def test_episode_that_continues_a_similar_episode_is_merged_with_it() -> None:
    memory = merging()
    await give(memory, said("My cat is Tom.", "Tom is calm.", sent_at="8 May 2023"))
    [old] = memory.store.live(EPISODE)
    await give(memory, CATS_AGAIN)
    [request] = requests(memory, "merge")
    assert request.fields == {
        "candidates": f"## Episode 1\n{old.text}",
        "new": "[9 May 2023] cat\nMy cat is Tom. Tom is calm today.",
    }
    [combine] = requests(memory, "combine")
    assert combine.fields == {"old": old.text, "new": request.fields["new"]}
    [episode] = memory.store.live(EPISODE)
    assert (episode.text, episode.previous) == ("[8 May 2023] Tom\nTom is a calm cat.", old.entry_id)
    assert episode.sources == ("m0", "m1", "m2", "m3")
    [vector] = await memory.embed([episode.text], "passage")
    assert episode.vector is not None and list(episode.vector) == list(vector)
    quoted = [line for line in (await memory.read("Tom")).notes.splitlines() if line.startswith("> ")]
    assert quoted == [
        "> [8 May 2023] user: My cat is Tom.",
        "> [8 May 2023] user: Tom is calm.",
        "> [9 May 2023] user: My cat is Tom.",
        "> [9 May 2023] user: Tom is calm today.",
    ]


@pytest.mark.parametrize(
    ("parameters", "asked"),
    [
        ({}, 0),  # the cosine of the two episodes is below 0.85
        ({"merging": "nearest"}, 1),
        ({"merge_similarity": -1.0}, 1),
        ({"merging": "none", "merge_similarity": -1.0}, 0),
    ],
)
async def test_only_similar_episodes_are_offered_for_merging_by_default(parameters, asked: int) -> None:
    memory = merging(episode=0, **parameters)
    await give(memory, CATS)
    await give(memory, said("Paris has bread.", "Bread is good.", first=2))
    assert len(requests(memory, "merge")) == asked
    assert sources(memory, EPISODE) == [("m0", "m1"), ("m2", "m3")]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [({"episode": 2}, "there is no episode 2"), ({"combine": "no JSON"}, "nemori/combine")],
)
async def test_episode_stays_separate_if_a_merge_request_fails(answers, reason: str) -> None:
    memory = merging(**answers, merging="nearest")
    await give(memory, CATS)
    await give(memory, CATS_AGAIN)
    [lost] = memory.store.live(FAILURE)
    assert reason in lost.text and set(lost.sources) >= {"m2", "m3"}
    assert sources(memory, EPISODE) == [("m0", "m1"), ("m2", "m3")]
    assert len(requests(memory, "calibrate")) == 2
