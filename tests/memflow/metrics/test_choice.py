import pytest

from memflow.errors import BadInput
from memflow.metrics.choice import accuracy, random_accuracy


def test_only_the_right_option_counts():
    assert [accuracy(answer, "2", 3) for answer in ("1", "2", "3")] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("answer", ["0", "4", "-1", "two", "", "2.0", "²"])
def test_what_is_no_option_is_no_wrong_answer_but_none(answer):
    with pytest.raises(BadInput, match="options 1 to 3"):
        accuracy(answer, "2", 3)


def test_guessing_scores_the_mean_of_one_by_n_and_not_one_by_the_mean_of_n():
    assert random_accuracy([2, 4]) == pytest.approx(0.375)


def test_without_questions_there_is_nothing_to_guess():
    with pytest.raises(BadInput, match="no question"):
        random_accuracy([])
