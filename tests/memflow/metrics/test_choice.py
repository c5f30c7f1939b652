import pytest

from memflow.errors import BadInput
from memflow.metrics.choice import accuracy


def test_accuracy_is_1_only_for_the_gold_option():
    assert [accuracy(answer, "2", 3) for answer in ("1", "2", "3")] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("answer", ["0", "4", "-1", "two", "", "2.0", "²"])
def test_accuracy_rejects_an_option_that_does_not_exist(answer):
    with pytest.raises(BadInput, match="Pass a number from 1 to 3"):
        accuracy(answer, "2", 3)
