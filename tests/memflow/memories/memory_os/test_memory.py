"""MemoryOS: pages, segments, heat, promotion and eviction."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from memory_helpers import build, give, requests, sources

from memflow.chat.requests import ChatRequest
from memflow.errors import RecallFailed
from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.memory import FAILURE, Message
from memflow.memories.memory_os.answers import (
    Attribute,
    Fact,
    Facts,
    Keywords,
    Link,
    Topic,
    Trait,
    Traits,
)
from memflow.memories.memory_os.long import ASSISTANT, PROFILE, USER
from memflow.memories.memory_os.memory import MemoryOs
from memflow.memories.memory_os.mid import CHAIN, HEAT, PAGE, SEGMENT, MidTerm, SegmentHeat, first_version_id
from memflow.memories.memory_os.short import SHORT

TOPICS = ("tea", "cars", "birds")


class Axes:
    """An embedder with one axis per topic. A text without a topic is on the last axis."""

    fingerprint = "axes"
    dimensions = len(TOPICS) + 1

    async def embed(self, texts: Sequence[str], input_type: str | None = None) -> Vector:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row, next((at for at, topic in enumerate(TOPICS) if topic in text), -1)] = 1
        return vectors


def topic(text: str) -> str:
    return next((topic for topic in TOPICS if topic in text), "nothing")


def memory_os(answers=None, **parameters) -> MemoryOs:
    """Return a memory whose model finds the topic of each page, no chain, no trait and no fact, unless in `answers`."""

    def link(request: ChatRequest) -> Link:
        return Link(continues=False, chain="one page", keywords=[topic(request.fields["page"])])

    def segment(request: ChatRequest) -> Topic:
        name = topic(request.fields["page"])
        return Topic(summary=f"all about {name}", keywords=[name])

    def keywords(request: ChatRequest) -> Keywords:
        return Keywords(keywords=[topic(request.fields["query"])])

    nothing = {"profile": Traits(attributes=[], traits=[]), "knowledge": Facts(user=[], assistant=[])}
    usual = {"link": link, "segment": segment, "keywords": keywords, **nothing}
    return build(MemoryOs, {**usual, **(answers or {})}, Axes(), **parameters)


def talk(number: int, text: str) -> list[Message]:
    """Round `number`, of the messages m<2 number> and m<2 number + 1>."""
    ids = (f"m{2 * number}", f"m{2 * number + 1}")
    return [Message(ids[0], "user", text), Message(ids[1], "assistant", f"Noted {number}.")]


async def converse(memory: MemoryOs, *texts: str, first: int = 0) -> None:
    for number, text in enumerate(texts, first):
        await give(memory, talk(number, text))


def segment(memory: MemoryOs, name: str) -> Item:
    [found] = [item for item in memory.store.live(SEGMENT) if name in item.text]
    return found


def heat(memory: MemoryOs, name: str) -> tuple[int, int, int]:
    """Return visits, length and time of last use of the segment about `name`."""
    items = memory.store.live(HEAT)
    [meta] = [item.meta for item in items if item.meta["segment"] == first_version_id(segment(memory, name))]
    return meta["visits"], meta["length"], meta["last"]


async def test_oldest_page_of_full_short_term_memory_moves_to_mid_term_memory() -> None:
    memory = memory_os()
    await converse(memory, *["About tea."] * 7)
    assert len(memory.store.live(SHORT)) == 7 and len(memory.store.live()) == 7
    await converse(memory, "About cars.", first=7)
    [page] = memory.store.live(PAGE)
    assert (page.text, page.sources) == ("user: About tea.\nassistant: Noted 0.", ("m0", "m1"))
    short = memory.store.live(SHORT)
    assert len(short) == 7 and short[0].sources == ("m2", "m3")
    recall = await memory.read("tea")
    assert [turn.content for turn in recall.messages[-2:]] == ["About cars.", "Noted 7."]
    assert len(recall.messages) == 14 and page.text in recall.notes
    assert recall.entries == (page, *memory.store.live(CHAIN), *short)


async def test_page_contains_a_user_message_and_its_reply() -> None:
    memory = memory_os()
    roles = ["assistant", "user", "user", "assistant", "assistant"]
    await give(memory, [Message(f"m{at}", role, f"{at}") for at, role in enumerate(roles)])
    await give(memory, [Message("m5", "user", "5", sent_at="8 May 2023")])
    assert sources(memory, SHORT) == [("m0",), ("m1",), ("m2", "m3"), ("m4",), ("m5",)]
    turns = (await memory.read("")).messages
    assert [turn.role for turn in turns] == [*roles, "user"]
    assert [turn.content for turn in turns] == ["0", "1", "2", "3", "4", "[8 May 2023]\n5"]


@pytest.mark.parametrize(
    ("keywords", "joins"), [(["tea", "pot"], True), (["tea", "pot", "milk"], False), ([], False)]
)
def test_page_joins_a_segment_only_above_similarity_threshold_theta(keywords: list[str], joins: bool) -> None:
    """A similarity of 0.28 + 1/3 = 0.613 exceeds theta = 0.6; 0.28 + 1/4 = 0.53 and 0.28 + 0 do not."""
    mid = MidTerm(EntryStore(), SegmentHeat(EntryStore(), 1, 1, 1, 300), theta=0.6, capacity=9)
    vectors = np.array([[1, 0], [0.28, 0.96]], np.float32)
    held = mid.segment(None, "tea", ["tea", "cup"], vectors[0], ["m0"])
    assert mid.topic(vectors[1], keywords) == (held if joins else None)


async def test_page_with_a_new_topic_creates_a_segment() -> None:
    seen: list[str] = []

    def summarise(asked: ChatRequest) -> Topic:
        seen.append(asked.fields["summary"])
        return Topic(summary=f"{len(seen)}: {topic(asked.fields['page'])}", keywords=["k", "K "])

    memory = memory_os({"segment": summarise}, short=1)
    await converse(memory, "tea", "cars", "more tea", "the end")
    tea, cars = segment(memory, "tea"), segment(memory, "cars")
    assert (tea.text, tea.sources, tea.meta["keywords"]) == ("3: tea", ("m0", "m1", "m4", "m5"), ["k"])
    assert (cars.text, cars.sources) == ("2: cars", ("m2", "m3"))
    assert seen == ["(nothing yet)", "(nothing yet)", "1: tea"]
    links = [memory.store.latest(page.meta["segment"]) for page in memory.store.live(PAGE)]
    assert links == [tea, cars, tea]


async def test_dialogue_chain_ends_at_a_page_that_does_not_continue_it() -> None:
    def link(asked: ChatRequest) -> Link:
        goes_on = "more" in asked.fields["page"]
        return Link(continues=goes_on, chain=f"{asked.fields['chain']} +", keywords=["k"])

    memory = memory_os({"link": link}, short=1)
    await converse(memory, "more tea", "more cars", "birds", "the end")
    first, second = memory.store.live(CHAIN)
    # The first page has nothing to continue, whatever the model says.
    assert (first.text, first.sources) == ("(nothing yet) + +", ("m0", "m1", "m2", "m3"))
    assert (second.text, second.sources) == ("(nothing yet) + + +", ("m4", "m5"))
    pages = memory.store.live(PAGE)
    assert [memory.store.latest(page.meta["chain"]) for page in pages] == [first, first, second]
    recall = await memory.read("tea")
    assert recall.notes.splitlines() == [
        "Earlier in the conversation:",
        f"({first.text})",
        *pages[0].text.splitlines(),
        *pages[1].text.splitlines(),
        f"({second.text})",
        *pages[2].text.splitlines(),
    ]
    assert first in recall.entries and second in recall.entries


def test_segment_heat_matches_hand_computed_values() -> None:
    """Two visits and three pages 50 messages ago, with mu = 100, give 2 + 3 + exp(-1/2)."""
    store = EntryStore()
    heats = SegmentHeat(store, alpha=1, beta=1, gamma=1, mu=100)
    for _ in range(3):
        heats.join("segment-0")
    heats.visit(["segment-0"])
    store.advance(10)
    heats.visit(["segment-0"])
    assert heats.all() == {"segment-0": 6}
    store.advance(50)
    assert heats.all()["segment-0"] == pytest.approx(2 + 3 + math.exp(-0.5))
    heats.reset("segment-0", visits=False)
    assert heats.all()["segment-0"] == pytest.approx(2 + math.exp(-0.5))
    assert SegmentHeat(store, alpha=10, beta=0, gamma=0, mu=1).all() == {"segment-0": 20}


def trait(dimension: str, reason: str, page: int = 1) -> Trait:
    return Trait(dimension=dimension, level="high", reason=reason, page=page)


TEA = Traits(attributes=[], traits=[trait("Gourmet food", "drinks tea", 2)])
FACTS = Facts(user=[Fact(text="Has a cup.", page=1)], assistant=[Fact(text="Takes notes.", page=2)])


async def test_segment_hotter_than_tau_is_promoted_to_the_profile_and_reset() -> None:
    """The heat is 0 + 1 + 1 after one page, 0 + 2 + 1 > 2.5 after two pages, and again 0 + 1 + 1 after three."""
    memory = memory_os({"profile": TEA, "knowledge": FACTS}, short=1, tau=2.5)
    await converse(memory, "tea one", "tea two")
    assert memory.store.live(PROFILE) == [] and heat(memory, "tea") == (0, 1, 4)
    await converse(memory, "tea three", first=2)
    first, second = memory.store.live(PAGE)
    [request] = requests(memory, "profile")
    assert request.fields["pages"] == f"Page 1\n{first.text}\n\nPage 2\n{second.text}"
    [trait], [user], [assistant] = (memory.store.live(kind) for kind in (PROFILE, USER, ASSISTANT))
    assert (trait.text, trait.sources) == ("- gourmet food: high (drinks tea)", ("m2", "m3"))
    assert (user.text, user.sources) == ("- Has a cup.", ("m0", "m1"))
    assert (assistant.text, assistant.sources) == ("- Takes notes.", ("m2", "m3"))
    assert heat(memory, "tea") == (0, 0, 6)
    assert memory.store.live(PAGE) == [first, second]  # promotion takes nothing away
    await converse(memory, "the end", first=3)
    assert len(requests(memory, "profile")) == 1 and heat(memory, "tea") == (0, 1, 8)
    notes = (await memory.read("tea")).notes.splitlines()
    user = [
        "Profile of the user:",
        "- gourmet food: high (drinks tea)",
        "",
        "Knowledge of the user:",
        "- Has a cup.",
        "",
    ]
    assert notes[:8] == [*user, "Knowledge of the assistant:", "- Takes notes."]


@pytest.mark.parametrize(("reset", "visits"), [("length", 3), ("length_and_visits", 0)])
async def test_promotion_resets_visit_count_only_if_configured(reset: str, visits: int) -> None:
    memory = memory_os(short=1, tau=4.5, reset=reset)
    await converse(memory, "tea one", "tea two")
    for _ in range(3):
        await memory.read("tea", frozen=False)
    assert heat(memory, "tea") == (3, 1, 4)
    await converse(memory, "cars", first=2)
    assert heat(memory, "tea") == (visits, 0, 6)


async def test_promotion_selects_the_hottest_segment_with_new_pages() -> None:
    memory = memory_os(short=1, tau=2.5)

    def promoted() -> list[str]:
        return [topic(request.fields["pages"]) for request in requests(memory, "profile")]

    await converse(memory, "tea", "cars", "birds")
    assert promoted() == []
    for query in ("cars", "tea", "tea"):
        await memory.read(query, frozen=False)
    # Each read finds a page in either segment, so both are as hot; the older is promoted first.
    await converse(memory, "birds", first=3)
    assert promoted() == ["tea"]
    await converse(memory, "birds", "birds", first=4)
    assert promoted() == ["tea", "cars", "birds"]


async def test_profile_has_one_line_per_dimension_and_knowledge_drops_the_oldest_facts() -> None:
    count = iter(range(100))

    def profile(asked: ChatRequest) -> Traits:
        at = next(count)
        return Traits(attributes=[], traits=[trait(["Travel", " travel", "music", "travel"][at], f"{at}")])

    def knowledge(asked: ChatRequest) -> Facts:
        page = asked.fields["pages"].splitlines()[1]
        return Facts(user=[Fact(text=page[-1], page=1), Fact(text="same", page=1)], assistant=[])

    memory = memory_os({"profile": profile, "knowledge": knowledge}, short=1, tau=1.5, knowledge=2)
    await converse(memory, "tea 0", "tea 1", "tea 2")
    [travel] = memory.store.live(PROFILE)
    assert (travel.text, travel.sources) == ("- travel: high (1)", ("m2", "m3"))
    one, same = memory.store.live(USER)
    assert (one.text, one.sources) == ("- 1", ("m2", "m3"))
    assert (same.text, same.sources) == ("- same", ("m0", "m1", "m2", "m3"))
    await converse(memory, "tea 3", "the end", first=3)
    texts = [item.text for item in memory.store.live(PROFILE)]
    assert texts == ["- music: high (2)", "- travel: high (3)"]


async def test_trait_of_an_unknown_dimension_is_dropped_and_other_profile_lines_are_kept() -> None:
    name = Attribute(attribute="name", value="Mei", page=1)
    found = Traits(attributes=[name], traits=[trait("astrology", "reads stars"), trait("music", "sings")])
    memory = memory_os({"profile": found}, short=1, tau=1.5)
    await converse(memory, "tea", "the end")
    assert [item.text for item in memory.store.live(PROFILE)] == ["- name: Mei", "- music: high (sings)"]
    [lost] = memory.store.live(FAILURE)
    assert "there is no dimension 'astrology'" in lost.text


async def test_every_recall_contains_the_configured_agent_profile() -> None:
    memory = memory_os(agent_profile="A patient tutor.")
    recall = await memory.read("tea")
    assert recall.notes == "Profile of the assistant:\nA patient tutor." and recall.injected_tokens > 0
    assert (await memory_os().read("tea")).notes == ""


@pytest.mark.parametrize(("segment_score", "found"), [("cosine_keywords", "cars"), ("cosine", "tea")])
async def test_segments_are_ranked_by_cosine_and_query_keywords_by_default(
    segment_score: str, found: str
) -> None:
    """The query is equally near to both segments, and has the keywords of the one about cars."""
    answer = Keywords(keywords=["Cars "])
    memory = memory_os({"keywords": answer}, short=1, segments=1, segment_score=segment_score)
    # The query is on the last axis: equally far from both segments, of which the one about tea is the older.
    await converse(memory, "tea", "cars", "the end")
    recall = await memory.read("Which one?")
    assert [found in item.text for item in recall.entries[:1]] == [True]
    assert [request.fields["query"] for request in requests(memory, "keywords")] == (
        ["Which one?"] if segment_score == "cosine_keywords" else []
    )


async def test_read_fails_if_the_keyword_request_fails() -> None:
    memory = memory_os({"keywords": "no JSON"}, short=1)
    await converse(memory, "tea", "the end")
    with pytest.raises(RecallFailed, match="memory_os/keywords"):
        await memory.read("tea")


async def test_full_mid_term_memory_evicts_the_coldest_segment_with_its_pages() -> None:
    memory = memory_os(short=1, capacity=2, segments=1)
    await converse(memory, "tea", "cars", "the end")
    await memory.read("tea", frozen=False)  # tea: 1 + 1 + R; cars: 0 + 1 + R
    await converse(memory, "birds", "the end", first=3)
    # The first end pushed out the cars, and the birds the end: a new segment is never the one that goes.
    assert [item.text for item in memory.store.live(SEGMENT)] == ["all about tea", "all about birds"]
    assert sources(memory, PAGE) == [("m0", "m1"), ("m6", "m7")]
    assert len(memory.store.live(HEAT)) == len(memory.store.live(CHAIN)) == 2
    assert "m2" not in {source for item in memory.store.live() for source in item.sources}


def test_search_returns_the_nearest_pages_of_the_nearest_segments() -> None:
    store = EntryStore()
    mid = MidTerm(store, SegmentHeat(store, 1, 1, 1, 300), theta=0.6, capacity=9)
    axes = np.eye(3, dtype=np.float32)
    near = np.array([0.8, 0.6, 0], np.float32)
    held = {
        name: mid.segment(None, name, [name], vector, [])
        for name, vector in (("a", near), ("b", axes[1]), ("c", axes[2]))
    }
    for name, vector in (("a", axes[1]), ("a", near), ("b", axes[1]), ("c", axes[0])):
        page = store.add(SHORT, f"in {name}", sources=["m"])
        mid.add_page(page, f"{name} {vector[0]:.1f}", vector, None, held[name], None)

    def found(segments: int, k: int) -> list[str]:
        return [one.item.text for one in mid.search(axes[0], [], segments, k)]

    # The page in c is the query itself, but its segment is the last.
    assert found(1, 9) == ["a 0.8", "a 0.0"]
    assert found(1, 1) == ["a 0.8"]
    assert found(2, 9) == ["a 0.8", "a 0.0", "b 0.0"]
    assert found(3, 2) == ["c 1.0", "a 0.8"]
    # With its keyword the segment c scores 0 + 1 and precedes a, which scores 0.8 + 0.
    assert [one.item.text for one in mid.search(axes[0], ["c"], 1, 9)] == ["c 1.0"]


async def test_page_is_stored_verbatim_if_link_and_segment_requests_fail() -> None:
    memory = memory_os({"link": "no", "segment": "no"}, short=1)
    await converse(memory, "tea", "more tea", "the end")
    failures = memory.store.live(FAILURE)
    assert sources(memory, FAILURE) == [("m0", "m1")] * 2 + [("m2", "m3")] * 2
    assert "memory_os/link" in failures[0].text and "memory_os/segment" in failures[1].text
    [held] = memory.store.live(SEGMENT)  # the cosine alone: 1 > 0.6
    first, second = memory.store.live(PAGE)
    assert (held.text, held.sources, held.meta["keywords"]) == (first.text, ("m0", "m1"), [])
    assert first.meta["segment"] == second.meta["segment"] == held.entry_id
    assert memory.store.live(CHAIN) == []
    assert (await memory.read("tea")).entries[:2] == (first, second)
