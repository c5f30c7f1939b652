"""Stored messages as chat turns, with dates, within a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.memories.baselines import Full, Recent
from memflow.memories.entries import EntryStore
from memflow.memories.memory import ROOM, Message, Tools
from memflow.memories.verbatim import (
    DATE,
    as_turns,
    newest_within,
    retire_messages,
    store_messages,
    stored_messages,
)
from memflow.tokens import estimate, most


def said(number: int, text: str, **more: str) -> Message:
    return Message(f"m{number}", "user" if number % 2 == 0 else "assistant", text, **more)


def contents(store: EntryStore) -> list[str]:
    return [turn.content for turn in as_turns(stored_messages(store, "message"))]


CURRENT = "[Current Time: 2020-10-05]\nHello"
TEXTS = ["user: hello", "assistant: no, you", "[x] y", "", "  spaced\n"]


@pytest.mark.parametrize(
    ("arrivals", "turns"),
    [
        ([[said(number, text) for number, text in enumerate(TEXTS)]], TEXTS),
        (
            [[said(0, "Hey!", speaker="Caroline"), said(1, "Hi!", speaker="Mel")]],
            ["Caroline: Hey!", "Mel: Hi!"],
        ),
        (  # a date appears where it changes
            [
                [said(0, "a", sent_at="8 May"), said(1, "b", sent_at="8 May")],
                [said(2, "c", sent_at="8 May"), said(3, "d", sent_at="9 May")],
                [said(4, "e")],
            ],
            ["[8 May]\na", "b", "c", "[9 May]\nd", "e"],
        ),
        (  # a date in the text is not repeated
            [[said(0, CURRENT, sent_at="2020-10-05"), said(1, "Hi", sent_at="2020-10-05")]],
            [CURRENT, "Hi"],
        ),
    ],
)
def test_chat_turn_contains_the_date_only_if_the_date_is_new(arrivals, turns) -> None:
    store = EntryStore()
    for messages in arrivals:
        store_messages(store, messages, "message")
    assert contents(store) == turns


def test_retiring_messages_keeps_the_dates_of_the_remaining_messages() -> None:
    store = EntryStore()
    store_messages(
        store, [said(number, str(number), sent_at=f"{number // 2} May") for number in range(6)], "message"
    )
    retire_messages(store, stored_messages(store, "message")[:3], "message")
    assert contents(store) == ["[1 May]\n3", "[2 May]\n4", "5"]
    assert [item.text for item in store.live(DATE)] == ["1 May", "2 May"]
    retire_messages(store, stored_messages(store, "message"), "message")
    assert [item.text for item in store.live(DATE)] == ["2 May"]


@given(
    texts=st.lists(st.text("ab 北", max_size=30), max_size=12),
    dates=st.lists(st.sampled_from(["8 May", "a much longer date than that"]), min_size=12, max_size=12),
    budget=st.integers(1, 60),
)
def test_newest_within_returns_newest_messages_in_budget_and_counts_dropped_tokens(
    texts: list[str], dates: list[str], budget: int
) -> None:
    store = EntryStore()
    store_messages(store, [said(at, text, sent_at=dates[at]) for at, text in enumerate(texts)], "message")
    held = stored_messages(store, "message")
    recall = newest_within(held, budget)
    sizes = [estimate(turn.content) for turn in as_turns(held)]
    shown = len(recall.messages)
    assert recall.messages == as_turns(held[len(held) - shown :])
    assert recall.entries == tuple(message.item for message in held[len(held) - shown :])
    assert recall.injected_tokens == sum(estimate(turn.content) for turn in recall.messages) <= budget
    assert recall.dropped_tokens == sum(sizes[: len(sizes) - shown])
    if shown < len(held):
        longer = as_turns(held[len(held) - shown - 1 :])
        assert sum(estimate(turn.content) for turn in longer) > budget


@pytest.mark.parametrize(("query", "shown"), [(4, 6), (4 * ROOM, 6), (4 * ROOM + 1, 5)])
async def test_full_memory_drops_the_oldest_messages_that_do_not_fit_the_window(
    query: int, shown: int
) -> None:
    """The window has room for six messages of a ROOM of tokens, the prompt around the query, and a query of a ROOM."""
    memory = Full(tools=Tools(window=2 * ROOM + most(6 * ROOM, messages=6)))
    await memory.write([said(number, f"{number:04}" * ROOM) for number in range(10)])
    recall = await memory.read("?" * query)
    assert recall.sources == tuple(f"m{number}" for number in range(10 - shown, 10))
    assert (recall.dropped_messages, recall.dropped_tokens) == (10 - shown, (10 - shown) * ROOM)
    assert await memory.read("?" * query) is recall


@pytest.mark.parametrize("parameters", [{"budget": 25}, {"overflow": "fail"}])
async def test_full_memory_with_a_budget_or_failing_overflow_ignores_the_window(parameters) -> None:
    memory = Full(tools=Tools(window=1), **parameters)
    await memory.write([said(0, "a" * 40), said(1, "b" * 40)])
    assert (await memory.read("?")).dropped_messages == 0


async def test_full_memory_drops_a_message_beyond_the_budget_as_a_whole() -> None:
    """A hundred letters are 25 tokens and the budget is 20: this message and all earlier messages are dropped."""
    memory = Full(budget=20)
    await memory.write([said(0, "a" * 8), said(1, "b" * 100), said(2, "c" * 40)])
    recall = await memory.read("?")
    assert [turn.content for turn in recall.messages] == ["c" * 40]
    assert (recall.injected_tokens, recall.dropped_tokens) == (10, 25 + 2)
    await memory.write([said(3, "d" * 100)])
    recall = await memory.read("?")
    assert (recall.messages, recall.entries) == ((), ())
    assert (recall.injected_tokens, recall.dropped_tokens) == (0, 25 + 10 + 25 + 2)


async def test_recent_memory_keeps_only_the_last_messages() -> None:
    memory = Recent(messages=3)
    for number in range(0, 10, 2):
        memory.store.advance(2)
        await memory.write([said(number, "q", sent_at="8 May"), said(number + 1, "a", sent_at="8 May")])
    recall = await memory.read("anything")
    assert recall.sources == ("m7", "m8", "m9")
    assert recall.messages[0].content == "[8 May]\na"
    assert sum(item.until is not None for item in memory.store) == 7
