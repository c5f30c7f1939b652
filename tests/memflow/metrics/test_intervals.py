import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.metrics.intervals import bootstrap, mean_interval


def test_mean_interval_pools_totals_and_counts_over_episodes():
    value, low, high = mean_interval([1, 9], [1, 18])
    assert value == pytest.approx(10 / 19)
    assert low == pytest.approx(0.5) and high == pytest.approx(1.0)


def test_mean_interval_contains_the_true_mean_in_about_95_percent_of_trials():
    random = np.random.default_rng(1)
    covered = 0
    for trial in range(200):
        totals = random.binomial(20, 0.3, size=30)
        _, low, high = mean_interval(list(totals), [20] * 30, seed=trial, draws=400)
        covered += low <= 0.3 <= high
    assert 0.88 <= covered / 200 <= 0.99


def test_mean_interval_is_equal_for_equal_seeds_and_differs_for_other_seeds():
    totals, counts = list(range(12)), [12] * 12
    assert mean_interval(totals, counts, seed=3) == mean_interval(totals, counts, seed=3)
    assert mean_interval(totals, counts, seed=3) != mean_interval(totals, counts, seed=4)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=120))
def test_bootstrap_interval_bounds_equal_numpy_quantiles_exactly(drawn):
    # The first call has weights of 1 and returns the value itself.
    statistic = iter([np.zeros(1), np.array(drawn)])
    _, *bounds = bootstrap(lambda weights: next(statistic), 2)
    assert bounds == np.quantile(drawn, [0.025, 0.975]).tolist()


@pytest.mark.parametrize(
    ("totals", "counts", "interval"),
    [
        ([], [], (None, None, None)),
        ([0.0, 0.0], [0, 0], (None, None, None)),
        ([3], [4], (0.75, None, None)),  # a single episode
        ([0, 1], [0, 2], (0.5, 0.5, 0.5)),  # draws without counts are left out
    ],
)
def test_mean_interval_has_no_bounds_with_fewer_than_two_episodes(totals, counts, interval):
    assert mean_interval(totals, counts) == interval


def test_bootstrap_accepts_a_ratio_of_weighted_means():
    above, below = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])
    assert bootstrap(lambda weights: (weights @ above) / (weights @ below), 3) == (0.5, 0.5, 0.5)


def test_mean_interval_rejects_totals_and_counts_of_different_lengths():
    with pytest.raises(BadInput, match="`totals` has 3 values, but `counts` has 2"):
        mean_interval([1, 2, 3], [1, 2])


def test_bootstrap_has_no_bounds_without_finite_draws():
    found = bootstrap(lambda weights: np.where(weights.min(axis=1) == 1, 0.5, np.nan), 40, draws=3)
    assert found == (0.5, None, None)
