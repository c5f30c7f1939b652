import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.metrics.multiple_tests import holm


def test_holm_multiplies_by_the_number_of_remaining_tests() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_of_no_tests_is_empty() -> None:
    assert holm([]) == []


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_holm_rejects_values_outside_0_to_1(wrong: float) -> None:
    with pytest.raises(BadInput, match="is no p value"):
        holm([0.5, wrong])


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(0, 99))
def test_holm_keeps_the_order_of_p_values_and_ignores_the_order_of_tests(ps: list[float], seed: int) -> None:
    adjusted = holm(ps)
    assert all(p <= each <= 1 for p, each in zip(ps, adjusted, strict=True))
    pairs = sorted(zip(ps, adjusted, strict=True))
    assert [each for _, each in pairs] == sorted(adjusted)
    shuffled = list(ps)
    random.Random(seed).shuffle(shuffled)
    assert sorted(holm(shuffled)) == pytest.approx(sorted(adjusted))
