"""How many episodes a sign-flip test needs: the power that it then has."""

import numpy as np
import pytest

from memflow.metrics.paired import MINIMUM, mean_differences
from memflow.metrics.power import MOST_EPISODES, POWER, episodes_needed


def power(totals: np.ndarray, episodes: int, studies: int = 300) -> float:
    """Return the share of studies of drawn episodes whose sign-flip test is significant."""
    drawn = np.random.default_rng(9).choice(totals[:, 0], (episodes, studies))
    return float((mean_differences(drawn, np.ones_like(drawn)).p <= 0.05).mean())


@pytest.mark.parametrize(("effect", "spread"), [(1.4, 1), (0.9, 1), (0.5, 1)])
def test_number_of_episodes_reaches_the_stated_power_of_the_sign_flip_test(
    effect: float, spread: float
) -> None:
    totals = np.random.default_rng(3).normal(effect, spread, (20, 1))
    found = episodes_needed(totals)[0]
    assert found is not None and found.low <= found.value <= found.high
    assert power(totals, found.value) > POWER - 0.08
    assert found.value == MINIMUM or power(totals, found.value * 2 // 3) < POWER


def test_six_episodes_suffice_for_equal_differences_only() -> None:
    assert episodes_needed(np.ones((4, 1))) == [(MINIMUM,) * 3]
    found = episodes_needed(np.array([[1.0], [2.0], [3.0], [-0.5]]))[0]
    assert found is not None and found.value > MINIMUM


def test_range_of_a_small_difference_is_wide_and_its_end_is_capped() -> None:
    found = episodes_needed(np.random.default_rng(1).normal(0.02, 1, (100, 1)))[0]
    assert found is not None
    assert found.high > 20 * found.low and found.high <= MOST_EPISODES


@pytest.mark.parametrize("totals", [np.zeros((5, 1)), np.ones((2, 1)), np.full((5, 1), 1e-16)])
def test_no_number_without_a_difference_or_with_two_episodes(totals: np.ndarray) -> None:
    assert episodes_needed(totals) == [None]
