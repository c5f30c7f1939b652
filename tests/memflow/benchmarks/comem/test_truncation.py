"""Visible messages per checkpoint: hand-computed values and properties."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import (
    Context,
    ContextMessage,
    ContextQuestion,
    KnownAnswer,
    truncation_indices,
    visible_counts,
)
from memflow.benchmarks.comem.turns import make_turns

Made = Callable[..., Context]


def test_truncation_indices_are_quarters_of_message_count_rounded_down(context: Made):
    assert truncation_indices(context(10), CoMemConfig()) == (0, 2, 5, 7, 10)
    assert truncation_indices(context(3), CoMemConfig()) == (0, 0, 1, 2, 3)


def test_truncation_index_of_fraction_0_29_of_100_messages_is_29(context: Made):
    assert truncation_indices(context(100), CoMemConfig(checkpoints=(0.29, 0.57, 1.0))) == (0, 29, 57, 100)


def test_visible_messages_stop_at_end_of_question_only_if_configured(context: Made):
    asked = ContextQuestion("q", "?", ("a", "b"), end=6)
    assert visible_counts(context(10, [asked]), asked, CoMemConfig(ends="question")) == (0, 2, 5, 6, 6)
    assert visible_counts(context(10, [asked]), asked, CoMemConfig()) == (0, 2, 5, 7, 10)


def test_label_is_latest_answer_known_from_visible_messages():
    asked = ContextQuestion(
        "q", "?", ("a", "b", "I don't know."), known=(KnownAnswer(3, 1, (2,)), KnownAnswer(7, 2, (6,)))
    )
    assert [asked.label_at(visible) for visible in (0, 2, 3, 6, 7, 20)] == ["3", "3", "1", "1", "2", "2"]
    assert ContextQuestion("q", "?", ("a", "b"), known=(KnownAnswer(3, 1),)).label_at(2) == "unknown"


dialogues = st.lists(
    st.tuples(st.sampled_from(("user", "assistant")), st.integers(0, 3), st.integers(1, 900)),
    min_size=1,
    max_size=40,
)


@given(
    said=dialogues,
    arrivals=st.sampled_from(("message", "pair", "tokens", "session")),
    ends=st.lists(st.integers(1, 40), max_size=4),
)
def test_message_batches_are_ordered_and_do_not_cross_checkpoints(said, arrivals, ends):
    sessions = sorted(session for _, session, _ in said)
    lines = [
        ContextMessage("x" * size, role, session=at)
        for (role, _, size), at in zip(said, sessions, strict=True)
    ]
    asked = tuple(
        ContextQuestion(f"q{n}", "?", ("a", "b"), end=min(end, len(lines))) for n, end in enumerate(ends)
    )
    made, parameters = Context("c", "d", tuple(lines), asked), CoMemConfig(arrivals=arrivals)
    turns = list(make_turns("domain", made, parameters))

    assert [turn.message_id for turn in turns] == [made.message_id(place) for place in range(len(lines))]
    assert [turn.checkpoint for turn in turns] == [
        next(n for n, index in enumerate(truncation_indices(made, parameters)) if place < index)
        for place in range(len(lines))
    ]
    by_event: dict[int, list[int]] = {}
    for place, turn in enumerate(turns):
        by_event.setdefault(turn.event, []).append(place)
    assert list(by_event) == list(range(len(by_event)))
    cuts = {index for one in asked for index in visible_counts(made, one, parameters)} | set(
        truncation_indices(made, parameters)
    )
    for places in by_event.values():
        assert not cuts & set(places[1:])
        assert len({lines[place].session for place in places}) == 1
    if arrivals == "message":
        assert len(by_event) == len(lines)
