import numpy as np
import pytest

from memflow.errors import BadInput
from memflow.metrics.intervals import bootstrap, mean_interval


def test_the_mean_is_pooled_over_episodes_and_not_a_mean_of_means():
    value, low, high = mean_interval([1, 9], [1, 18])
    assert value == pytest.approx(10 / 19)
    assert low == pytest.approx(0.5) and high == pytest.approx(1.0)


def test_the_interval_covers_the_mean_as_often_as_it_says():
    random = np.random.default_rng(1)
    covered = 0
    for trial in range(200):
        totals = random.binomial(20, 0.3, size=30)
        _, low, high = mean_interval(list(totals), [20] * 30, seed=trial, draws=400)
        covered += low <= 0.3 <= high
    assert 0.88 <= covered / 200 <= 0.99


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    totals, counts = list(range(12)), [12] * 12
    assert mean_interval(totals, counts, seed=3) == mean_interval(totals, counts, seed=3)
    assert mean_interval(totals, counts, seed=3) != mean_interval(totals, counts, seed=4)


def test_nothing_counted_has_no_value_and_one_episode_no_interval():
    assert mean_interval([], []) == (None, None, None)
    assert mean_interval([0.0, 0.0], [0, 0]) == (None, None, None)
    assert mean_interval([3], [4]) == (0.75, None, None)


def test_an_episode_without_counts_may_be_drawn_alone():
    value, low, high = mean_interval([0, 1], [0, 2])
    assert (value, low, high) == (0.5, 0.5, 0.5)


def test_a_ratio_of_two_means_has_an_interval():
    above, below = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])
    assert bootstrap(lambda weights: (weights @ above) / (weights @ below), 3) == (0.5, 0.5, 0.5)


def test_totals_and_counts_go_together():
    with pytest.raises(BadInput, match="3 totals but 2 counts"):
        mean_interval([1, 2, 3], [1, 2])


def test_where_no_draw_has_a_figure_there_are_no_ends():
    found = bootstrap(lambda weights: np.where(weights.min(axis=1) == 1, 0.5, np.nan), 40, draws=3)
    assert found == (0.5, None, None)
