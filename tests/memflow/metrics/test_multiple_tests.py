import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.metrics.multiple_tests import holm, max_t


def test_holm_multiplies_by_the_number_of_remaining_tests() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


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


def sums(episodes: int, columns: int, effect: float, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(effect, 1.0, (episodes, columns))


def test_max_t_equals_the_step_down_procedure_over_all_sign_patterns() -> None:
    totals = sums(8, 4, 0.5)
    norms = np.sqrt((totals**2).sum(axis=0))
    observed = np.abs(totals.sum(axis=0)) / norms
    patterns = np.array(list(itertools.product((1.0, -1.0), repeat=8)))
    flipped = np.abs(patterns @ totals) / norms
    expected, highest = np.empty(4), 0.0
    for rank, column in enumerate(np.argsort(-observed)):
        remaining = np.argsort(-observed)[rank:]
        highest = max(highest, float((flipped[:, remaining].max(axis=1) >= observed[column] - 1e-9).mean()))
        expected[column] = highest
    assert max_t(totals) == pytest.approx(expected)


def test_max_t_of_a_column_without_differences_or_of_one_episode_is_1() -> None:
    totals = sums(10, 2, 1.0)
    totals[:, 1] = 0
    assert max_t(totals)[1] == 1
    assert max_t(totals)[0] < 0.05
    assert max_t(totals[:1]).tolist() == [1, 1]
    assert max_t(np.zeros((10, 0))).size == 0
