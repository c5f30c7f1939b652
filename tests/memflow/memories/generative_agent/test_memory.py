"""Generative agents: ranking, access and reflections."""

import pytest
from memory_helpers import build, give, said

from memflow.chat.requests import ChatRequest
from memflow.memories.access import ACCESS
from memflow.memories.entries import Item
from memflow.memories.generative_agent.answers import Insight, Insights, Questions, Rating
from memflow.memories.generative_agent.memory import (
    OBSERVATION,
    REFLECTION,
    GenerativeAgent,
)
from memflow.memories.memory import FAILURE
from memflow.memories.search import SearchHit


def agent(answers=None, **parameters) -> GenerativeAgent:
    """Return an agent whose model rates everything 5 and asks one question, unless `answers` differ."""
    questions, insights = Questions(questions=["What is there?"]), Insights(insights=[])
    usual = {"importance": Rating(importance=5), "questions": questions, "insights": insights}
    return build(GenerativeAgent, {**usual, **(answers or {})}, **parameters)


def candidate(name: str, cosine: float, importance: int | None, order: int) -> SearchHit:
    meta = {} if importance is None else {"importance": importance}
    return SearchHit(Item(name, OBSERVATION, name, ("m0",), 0, order=order, meta=meta), cosine)


def weighted(**parameters: object) -> GenerativeAgent:
    return build(GenerativeAgent, decay=0.5, **{"normalise": "none", **parameters})


def scores(ranked: list[SearchHit]) -> dict[str, float]:
    return {found.item.entry_id: round(found.score, 6) for found in ranked}


def test_ranking_score_is_the_weighted_sum_with_and_without_normalization() -> None:
    old, new = candidate("old", 0.8, 6, 0), candidate("new", 0.5, 5, 1)
    plain = weighted().rank([old, new], [1, 0])
    assert [*scores(plain).items()] == [("new", 2.0), ("old", 1.9)]  # 1 + 0.5 + 0.5; 0.5 + 0.6 + 0.8
    stretched = weighted(normalise="min_max").rank([old, new], [1, 0])
    assert [*scores(stretched).items()] == [("old", 0 + 1 + 1), ("new", 1 + 0 + 0)]
    middle = candidate("middle", 0.65, 5, 2)
    stretching = weighted(normalise="min_max", relevance=3.0)
    three = scores(stretching.rank([old, new, middle], [2, 0, 1]))
    assert three == {"old": 4.0, "middle": round(1 / 3 + 0 + 3 * 0.5, 6), "new": 1.0}
    assert scores(weighted().rank([candidate("unrated", 0.5, None, 3)], [0])) == {"unrated": 1.5}


@pytest.mark.parametrize("frozen", [True, False])
async def test_read_refreshes_recency_of_recalled_entries_unless_frozen(frozen: bool) -> None:
    memory = agent(k=1, decay=0.5, normalise="none")
    await give(memory, said("cat"))
    await give(memory, said("dog", first=1))
    assert (await memory.read("bread")).sources == ("m1",)
    memory.store.advance(1)
    version = memory.store.version
    assert (await memory.read("cat", frozen=frozen)).sources == ("m0",)
    assert (await memory.read("bread")).sources == (("m1",) if frozen else ("m0",))
    assert memory.store.version == version + (0 if frozen else 1)
    if not frozen:
        [access] = memory.store.live(ACCESS)
        [cat, _] = memory.store.live(OBSERVATION)
        assert access.sources == () and access.meta == {"at": 3, "entries": [cat.entry_id]}


async def test_reflection_starts_at_the_threshold_and_cites_its_statements() -> None:
    shown: list[str] = []

    def insights(request: ChatRequest) -> Insights:
        lines = request.fields["statements"].splitlines()
        shown.append(request.fields["statements"])
        conclusion = "It is warm." if len(shown) == 1 else "Summer is here."
        wanted = ("tea", "bread") if len(shown) == 1 else ("warm", "ice")
        numbers = [at for at, line in enumerate(lines, 1) if line.split()[-1].strip(".") in wanted]
        return Insights(insights=[Insight(insight=conclusion, because=numbers)])

    def importance(request: ChatRequest) -> Rating:
        return Rating(importance=9 if "warm" in request.fields["memory"] else 5)

    memory = agent({"insights": insights, "importance": importance}, threshold=15)
    for at, text in enumerate(["tea", "coffee", "bread"]):
        assert memory.store.live(REFLECTION) == [] and shown == []
        await give(memory, said(text, first=at))
    [first] = memory.store.live(REFLECTION)
    tea, _, bread = memory.store.live(OBSERVATION)
    assert (first.text, first.since, first.meta["importance"]) == ("It is warm.", 3, 9)
    assert set(first.sources) == {"m0", "m2"}
    assert set(first.meta["because"]) == {tea.entry_id, bread.entry_id}

    for at, text in enumerate(["snow", "ice", "rain"], 3):
        assert len(memory.store.live(REFLECTION)) == 1
        await give(memory, said(text, first=at))
    _, second = memory.store.live(REFLECTION)
    ice = memory.store.live(OBSERVATION)[4]
    assert set(second.meta["because"]) == {first.entry_id, ice.entry_id}
    assert set(second.sources) == {"m0", "m2", "m4"}
    assert "It is warm." in (await memory.read("It is warm.")).notes


async def test_reflection_with_unparsed_questions_is_recorded_as_failure() -> None:
    memory = agent({"questions": "nonsense"}, threshold=5)
    await give(memory, said("tea"))
    [lost] = memory.store.live(FAILURE)
    assert lost.sources == ("m0",)
    assert memory.store.live(REFLECTION, ACCESS) == []
    assert (await memory.read("tea")).sources == ("m0",)
