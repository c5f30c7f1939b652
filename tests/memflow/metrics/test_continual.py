"""Forgetting, transfer and stability: hand-computed values, the accuracy identity, and the paper's definitions."""

import numpy as np
import pytest
from checkpoint_scores import expected_accuracy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memflow.errors import BadInput
from memflow.metrics.continual import best_constant, complete_rows, summary

WORKED = [
    # 0  1  2  3  4
    [0, 1, 1, 1, 1],  # learnt at 1, kept
    [1, 0, 0, 1, 0],  # guessed, lost, found again, lost
    [0, 0, 0, 1, 0],  # learnt at 3, forgotten at 4
    [0, 0, 0, 0, 0],  # never
    [1, 1, 0, 1, 1],  # guessed; lost at 2 alone
]


def test_continual_summary_of_binary_answers_matches_hand_computed_values():
    found = summary(WORKED)
    assert found.n == 5
    assert found.accuracy == pytest.approx((0.4, 0.4, 0.2, 0.8, 0.4))
    # At 1 question 2 is lost, at 2 questions 2 and 5, at 3 none, at 4 questions 2 and 3.
    assert found.forgetting == pytest.approx((0, 0.2, 0.4, 0, 0.4))
    # At 1 question 1 is learnt, at 3 question 3.
    assert found.forward_transfer == pytest.approx((0, 0.2, 0, 0.2, 0))
    assert found.backward_transfer == pytest.approx((0, 0, 0.2, -0.4, 0))
    assert (found.all_correct, found.all_wrong) == pytest.approx((0.2, 0.2))
    # Of three steps each: 0, 2, 2, 0 and 2 flips.
    assert found.flip_rate == pytest.approx((0 + 2 + 2 + 0 + 2) / 15)
    assert found.accuracy == pytest.approx(expected_accuracy(found))


def test_continual_summary_of_graded_answers_matches_hand_computed_values():
    # The best so far: 0.2, 0.6, 0.6 and 0.9; 0.5, 0.5, 0.5 and 0.5.
    found = summary([[0.2, 0.6, 0.3, 0.9], [0.5, 0.5, 0.1, 0.4]])
    assert found.accuracy == pytest.approx((0.35, 0.55, 0.2, 0.65))
    assert found.forgetting == pytest.approx((0, 0, (0.3 + 0.4) / 2, 0.1 / 2))
    assert found.forward_transfer == pytest.approx((0, 0.4 / 2, 0, 0.3 / 2))
    assert found.all_correct == pytest.approx((0.3 + 0.1) / 2)
    assert found.all_wrong == pytest.approx((0.1 + 0.5) / 2)
    assert found.flip_rate == pytest.approx((0.3 + 0.6 + 0.4 + 0.3) / 4)


SHAPES = st.tuples(st.integers(1, 30), st.integers(2, 8))
BINARY = SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=st.sampled_from((0.0, 1.0))))
GRADED = SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1)))
answers = BINARY | GRADED


@given(answers)
def test_accuracy_equals_no_context_accuracy_plus_transfer_minus_forgetting(correct):
    found = summary(correct)
    assert found.accuracy == pytest.approx(expected_accuracy(found), abs=1e-12)


def test_summary_excludes_questions_without_answers_at_every_checkpoint():
    gapped = [*WORKED, [0, 1, np.nan, 1, 1]]
    assert complete_rows(gapped).tolist() == [True] * 5 + [False]
    assert summary(gapped) == summary(WORKED)


@pytest.mark.parametrize(
    ("correct", "said"),
    [
        ([[1], [0]], "instead of \\(questions"),
        ([1, 0, 1], "instead of \\(questions"),
        ([[0, 2]], "question 0 of `correct` has a missing value or a value outside 0 to 1"),
        ([[0, -0.1]], "question 0 of `correct` has a missing value or a value outside 0 to 1"),
        (np.zeros((0, 5)), "no question has an answer"),
        ([[np.nan, 1]], "no question has an answer"),
    ],
)
def test_summary_rejects_invalid_answer_arrays(correct, said):
    with pytest.raises(BadInput, match=said):
        summary(correct)


def test_summary_of_a_single_checkpoint_has_no_flip_rate():
    found = summary([[0, 1], [1, 1]])
    assert found.flip_rate is None
    assert found.forward_transfer == (0, 0.5)


def test_best_constant_returns_the_most_frequent_label():
    with pytest.raises(BadInput, match="`keys` is empty"):
        best_constant([])
    assert best_constant(["a", "e", "b", "e"]) == "e"
    assert best_constant(["2", "10", "10", "2"]) == "10"
