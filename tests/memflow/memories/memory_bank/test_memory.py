"""MemoryBank: daily summaries, forgetting and access."""

import math
import re
from dataclasses import replace

import pytest
from memory_helpers import build, give, said, sources

from memflow.chat.requests import ChatRequest
from memflow.memories.access import ACCESS
from memflow.memories.entries import EntryStore
from memflow.memories.memory import FAILURE
from memflow.memories.memory_bank.answers import Portrait, Summary, Traits
from memflow.memories.memory_bank.memory import (
    DAY,
    EVENTS,
    MESSAGE,
    PORTRAIT,
    SUMMARY,
    TRAITS,
    Forgetting,
    MemoryBank,
    day_of,
    retention,
)


def bank(answers=None, **parameters) -> MemoryBank:
    """Return a bank whose model repeats its input on one line without dates, unless `answers` differ."""

    def shown(request: ChatRequest) -> str:
        return " ".join(re.sub(r"\[.*?\] ", "", next(iter(request.fields.values()))).split())[:400]

    usual = {
        "day": lambda request: Summary(text=f"Day of {shown(request)}"),
        "traits": lambda request: Traits(text=f"Traits in {shown(request)}"),
        "history": lambda request: Summary(text=f"All: {shown(request)}"),
        "portrait": lambda request: Portrait(text=f"Who: {shown(request)}"),
    }
    return build(MemoryBank, {**usual, **(answers or {})}, **parameters)


async def test_message_with_a_new_date_triggers_the_summary_of_the_previous_day() -> None:
    memory = bank(forgetting="none")
    await give(memory, said("cat", sent_at="1:56 pm on 8 May, 2023"))
    await give(memory, said("dog", first=1, sent_at="9:10 pm on 8 May, 2023"))
    await give(memory, said("tea", first=2))  # without a date: the same day
    assert memory.store.live(EVENTS, TRAITS, SUMMARY, PORTRAIT, DAY) == []
    await give(memory, said("bread", first=3, sent_at="9 May, 2023"))
    [events], [traits] = memory.store.live(EVENTS), memory.store.live(TRAITS)
    [summary], [portrait] = memory.store.live(SUMMARY), memory.store.live(PORTRAIT)
    for item in (events, traits, summary, portrait):
        assert item.sources == ("m0", "m1", "m2")
    assert events.text == "[8 May, 2023] Day of user: cat user: dog user: tea"
    assert summary.text == "All: Day of user: cat user: dog user: tea"
    assert portrait.text == "Who: Traits in user: cat user: dog user: tea"
    assert traits.text == "[8 May, 2023] Traits in user: cat user: dog user: tea"

    await give(memory, said("rice", first=4, sent_at="10 May, 2023"))
    [revised] = memory.store.live(SUMMARY)
    assert (revised.previous, revised.sources) == (summary.entry_id, ("m0", "m1", "m2", "m3"))
    assert sources(memory, EVENTS) == [("m0", "m1", "m2"), ("m3",)]
    assert [item.text for item in memory.store.live(DAY)] == ["8 May, 2023", "9 May, 2023"]


async def test_message_count_ends_a_day_if_messages_have_no_dates() -> None:
    memory = bank(day=4, portrait="no")
    await give(memory, said("a", "b", "c"))
    await give(memory, said("d", "e", first=3))
    assert sources(memory, EVENTS) == [("m0", "m1", "m2")]
    await give(memory, said("f", "g", first=5))
    assert sources(memory, EVENTS) == [("m0", "m1", "m2"), ("m3", "m4", "m5", "m6")]
    assert memory.store.live(TRAITS, PORTRAIT) == []


async def test_write_with_several_days_summarizes_each_completed_day() -> None:
    memory = bank()
    messages = said("a", "b", "c", "d")
    dates = ["8 May", "8 May", "9 May", "10 May"]
    await give(memory, [replace(one, sent_at=date) for one, date in zip(messages, dates, strict=True)])
    assert sources(memory, EVENTS) == [("m0", "m1"), ("m2",)]
    [summary] = memory.store.live(SUMMARY)
    assert summary.sources == ("m0", "m1", "m2") and summary.previous is None
    assert [item.meta["day"] for item in memory.store.live(MESSAGE)] == [0, 0, 1, 2]


async def test_day_that_exceeds_the_prompt_limit_is_summarized_in_parts() -> None:
    memory = bank(portrait="no")
    for at in range(3):
        await give(memory, said("long " * 2000, first=at, sent_at="8 May"))  # 2,500 tokens each
    assert sources(memory, EVENTS) == [("m0",), ("m1",)]


async def test_recall_puts_summary_and_portrait_first_and_counts_them_in_the_budget() -> None:
    texts = {"history": "History.", "portrait": "Portrait.", "day": "They spoke."}
    memory = bank({stem: Summary(text=text) for stem, text in texts.items()}, k=2, forgetting="none")
    await give(memory, said("cat", "dog", "cat food", sent_at="8 May"))
    await give(memory, said("bread", first=3, sent_at="9 May"))
    recall = await memory.read("cat")
    assert recall.notes == "History.\nPortrait.\n\n[8 May] user: cat\n[8 May] user: cat food"
    assert [item.kind for item in recall.entries] == [MESSAGE, MESSAGE, SUMMARY, PORTRAIT]
    # Two tokens and three in front, five for the nearest, six for the next.
    memory.budget = 11
    recall = await memory.read("cat")
    assert recall.notes == "History.\nPortrait.\n\n[8 May] user: cat"
    assert recall.dropped_tokens == 6
    assert (await memory.read("They spoke.")).entries[0].kind == EVENTS


@pytest.mark.parametrize(
    ("forgetting", "days", "strength", "held"),
    [
        ("curve", 0, 1, 1.0),
        ("curve", 5, 1, math.exp(-1)),
        ("curve", 5, 2, math.exp(-0.5)),
        ("published_code", 5, 1, math.exp(-1)),
        ("published_code", 5, 2, math.exp(-2)),
        ("none", 500, 1, 1.0),
    ],
)
def test_retention_matches_hand_computed_values(
    forgetting: Forgetting, days: int, strength: int, held: float
) -> None:
    assert retention(days, strength, 5.0, forgetting) == pytest.approx(held)


@pytest.mark.parametrize(
    ("forgetting", "recalled", "other"),
    [
        ("curve", math.exp(-3 / (5 * 2)), math.exp(-5 / 5)),
        ("published_code", math.exp(-3 / 5 * 2), math.exp(-5 / 5)),
    ],
)
async def test_recall_strengthens_a_memory_except_in_the_published_variant(
    forgetting: Forgetting, recalled: float, other: float
) -> None:
    memory = bank(day=1, k=1, portrait="no", forgetting=forgetting)
    await give(memory, said("cat", "dog"))  # day 0
    await give(memory, said("bread", first=2))  # day 1
    cat, dog, _ = memory.store.live(MESSAGE)
    memory.forgetting = "none"
    await memory.read("user: cat", frozen=True)
    assert memory.store.live(ACCESS) == []
    assert (await memory.read("user: cat", frozen=False)).entries[0] == cat  # on day 2
    memory.forgetting = forgetting
    assert memory.retention(cat) == 1 and memory.retention(dog) == pytest.approx(math.exp(-2 / 5))
    for at in (3, 4, 5):
        await give(memory, said("tea", first=at))
    assert memory.retention(cat) == pytest.approx(recalled)
    assert memory.retention(dog) == pytest.approx(other)


async def test_share_of_recalled_entries_follows_the_forgetting_curve() -> None:
    memory = bank(day=1, k=9, portrait="no", coefficient=1.0)
    for at, text in enumerate(["cat", "dog", "bread"]):
        await give(memory, said(text, first=at))
    held = {item.entry_id: 0 for item in memory.store.live(MESSAGE)}
    for _ in range(1000):
        memory.store.advance(1)
        store = EntryStore.restored(list(memory.store), memory.store.sequence)
        again = MemoryBank(store, memory.tools, k=9, portrait="no", coefficient=1.0)
        recall = await memory.read("cat")
        assert await again.read("cat") == recall
        for item in recall.entries:
            if item.kind == MESSAGE:
                held[item.entry_id] += 1
    # Three days have ended since the first was written, two since the second, one since the third.
    shares = [count / 1000 for count in held.values()]
    assert shares == pytest.approx([math.exp(-3), math.exp(-2), math.exp(-1)], abs=0.04)


async def test_unparsed_summary_is_recorded_as_failure_and_messages_stay_searchable() -> None:
    answers = iter(["nonsense"] * 3)

    def day(request: ChatRequest) -> Summary | str:
        return next(answers, None) or Summary(text="A day.")

    memory = bank({"day": day}, day=1, portrait="no", forgetting="none")
    await give(memory, said("cat"))
    [lost] = memory.store.live(FAILURE)
    assert lost.sources == ("m0",) and memory.store.live(EVENTS, SUMMARY) == []
    assert (await memory.read("cat")).sources == ("m0",)
    await give(memory, said("dog", first=1))
    assert sources(memory, EVENTS, SUMMARY) == [("m1",), ("m1",)]


@pytest.mark.parametrize(
    ("sent_at", "day"),
    [
        (None, None),
        ("", None),
        ("08:13", None),
        ("8 May 2023", "8 May 2023"),
        ("1:56 pm on 8 May, 2023", "8 May, 2023"),
        ("8 May, 2023, 9 a.m.", "8 May, 2023"),
        ("2024-10-01 08:13", "2024-10-01"),
        ("2024-10-01T08:13:05.250+02:00", "2024-10-01"),
        ("2024-10-01T08:13:05Z", "2024-10-01"),
        ("'2024-10-01 08:13' Tuesday", "2024-10-01 Tuesday"),
        ("2024年10月1日 下午3点20分", "2024年10月1日"),
        ("Tuesday, 8 pm", "Tuesday"),
    ],
)
def test_day_of_returns_the_date_without_the_time_of_day(sent_at: str | None, day: str | None) -> None:
    assert day_of(sent_at) == day
