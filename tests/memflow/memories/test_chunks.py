"""Splitting of buffered messages: complete, in order, with correct sources, in English and Chinese."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.memories.chunks import MessagePart, fill_chunks, merge_parts, pair_messages
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Message
from memflow.memories.verbatim import StoredMessage, store_messages, stored_messages
from memflow.tokens import quarters

WORDS = [
    "tea",
    "bread,",
    "a",
    "Paris.",
    "天气",
    "北京大学。",
    "antidisestablishmentarianism",
    "\n",
    "  ",
    "é",
]
lines = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text("ab 北京。é\n:", max_size=40)
messages = st.builds(
    Message,
    message_id=st.just(""),
    role=st.sampled_from(["user", "assistant"]),
    text=lines,
    speaker=st.sampled_from([None, "Phoebe Buffay"]),
    sent_at=st.sampled_from([None, "8 May", "9 May"]),
)
sizes = st.tuples(st.integers(1, 30), st.integers(0, 29)).filter(lambda pair: pair[1] < pair[0])


def held(said: Sequence[Message], together: bool = True) -> list[StoredMessage]:
    store = EntryStore()
    for at, message in enumerate(said):
        store.advance(0 if together else 1)
        named = Message(f"m{at}", message.role, message.text, message.speaker, message.sent_at)
        store_messages(store, [named], "buffer")
    return stored_messages(store, "buffer")


def roles(letters: str, dates: str = "", together: bool = True) -> list[StoredMessage]:
    named = {"u": "user", "a": "assistant"}
    said = [
        Message("", named[letter], "x", sent_at=dates[at] if dates else None)
        for at, letter in enumerate(letters)
    ]
    return held(said, together)


def spans(chunk: Sequence[MessagePart]) -> list[tuple[str, int, int]]:
    return [(part.message.item.sources[0], part.start, part.end) for part in chunk]


@given(said=st.lists(messages, max_size=8), cut=sizes)
def test_chunks_without_overlap_cover_the_text_once(said: list[Message], cut: tuple[int, int]) -> None:
    buffer = held(said)
    chunks = fill_chunks(buffer, cut[0])
    for message in buffer:
        parts = [part for chunk in chunks for part in chunk if part.message is message]
        assert "".join(message.item.text[part.start : part.end] for part in parts) == message.item.text
    order = [(int(part.message.item.sources[0][1:]), part.start) for chunk in chunks for part in chunk]
    assert order == sorted(order)


@given(said=st.lists(messages, min_size=1, max_size=8), cut=sizes)
def test_chunks_respect_the_maximum_size_and_overlap(said: list[Message], cut: tuple[int, int]) -> None:
    size, overlap = cut
    buffer = held(said)
    places = [(message.item.entry_id, at) for message in buffer for at in range(len(message.item.text))]
    texts = {message.item.entry_id: message.item.text for message in buffer}

    def covered(chunk: Sequence[MessagePart]) -> tuple[int, int]:
        first, last = chunk[0], chunk[-1]
        begin = places.index((first.message.item.entry_id, first.start))
        return begin, places.index((last.message.item.entry_id, last.end - 1)) + 1

    def weight(begin: int, end: int) -> int:
        return quarters("".join(texts[entry][at] for entry, at in places[begin:end]))

    ranges = [covered(chunk) for chunk in fill_chunks(buffer, size, overlap)]
    assert ranges[0][0] == 0 and ranges[-1][1] == len(places)
    for begin, end in ranges:
        assert weight(begin, end) <= 4 * size
    for (begin, end), (next_begin, next_end) in pairwise(ranges):
        assert begin < next_begin <= end < next_end
        assert weight(next_begin, end) <= 4 * overlap


@given(said=st.lists(messages, max_size=8), cut=sizes)
def test_chunk_sources_are_the_messages_in_the_chunk(said: list[Message], cut: tuple[int, int]) -> None:
    for chunk in fill_chunks(held(said), *cut):
        made = merge_parts(chunk)
        assert made.sources == tuple(source for source, *_ in spans(chunk))
        assert len(set(made.sources)) == len(made.sources)
        for part in chunk:
            assert part.message.item.text[part.start : part.end] in made.text


def test_chunks_end_between_words_and_repeat_the_speaker() -> None:
    english = held([Message("", "user", "alpha beta gamma delta", "Ann", "8 May")])
    assert [merge_parts(chunk).text for chunk in fill_chunks(english, 4)] == [
        "[8 May]\nAnn: alpha beta ",
        "[8 May]\nAnn: gamma delta",
    ]
    chinese = held([Message("", "user", "我昨天去了北京。很好", "安")])
    assert [merge_parts(chunk).text for chunk in fill_chunks(chinese, 6, 2)] == [
        "安: 我昨天去",
        "安: 天去了北京。",
        "安: 京。很好",
    ]


def cuts(buffer: list[StoredMessage], leaving: int | None = None) -> list[str]:
    groups = pair_messages(buffer, len(buffer) if leaving is None else leaving)
    return ["".join(message.item.sources[0][1:] for message in group) for group in groups]


@pytest.mark.parametrize(
    ("letters", "leaving", "groups"),
    [
        ("uaua", None, ["01", "23"]),
        ("uuaaua", None, ["0", "12", "3", "45"]),
        ("auau", None, ["0", "12"]),
        # A user message waits for its answer.
        ("u", None, []),
        ("uauau", 3, ["01"]),
        ("uauu", 3, ["01", "2"]),
        ("uaa", 1, []),
    ],
)
def test_user_message_is_paired_with_its_answer(letters: str, leaving: int | None, groups: list[str]) -> None:
    assert cuts(roles(letters), leaving) == groups


def test_message_of_a_later_day_is_not_paired_as_the_answer() -> None:
    assert cuts(roles("ua", dates="89", together=False)) == ["0", "1"]
    assert cuts(roles("ua", dates="89")) == ["01"]  # one arrival whose messages have times of their own
    assert cuts(roles("ua", together=False)) == ["01"]


@given(said=st.lists(messages, max_size=10), leaving=st.integers(0, 10))
def test_message_pairs_cover_each_message_once_except_the_last(said: list[Message], leaving: int) -> None:
    buffer = held(said)
    leaving = min(leaving, len(buffer))
    flat = [message for group in pair_messages(buffer, leaving) for message in group]
    assert flat == buffer[: len(flat)] and leaving - len(flat) in (0, 1)
