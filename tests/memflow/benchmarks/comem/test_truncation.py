"""Visible messages per checkpoint: hand-computed values and properties."""

from collections.abc import Callable

from hypothesis import strategies as st

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import (
    Context,
    ContextQuestion,
    KnownAnswer,
    truncation_indices,
    visible_counts,
)

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
