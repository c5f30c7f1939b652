import pytest

from memflow.errors import BadInput
from memflow.metrics.choice import accuracy, random_accuracy


def test_accuracy_is_1_for_gold_option_only():
    assert [accuracy(answer, "2", 3) for answer in ("1", "2", "3")] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("answer", ["0", "4", "-1", "two", "", "2.0", "²"])
def test_invalid_option_is_rejected(answer):
    with pytest.raises(BadInput, match="Pass a number from 1 to 3"):
        accuracy(answer, "2", 3)


def test_random_accuracy_is_mean_of_reciprocals():
    assert random_accuracy([2, 4]) == pytest.approx(0.375)


def test_random_accuracy_needs_questions():
    with pytest.raises(BadInput, match="`options` is empty"):
        random_accuracy([])
