"""Intervals and tests of paired differences. scipy computes the same where it has the method."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from memflow.metrics.intervals import student_t
from memflow.metrics.paired import (
    aggregate_difference,
    can_be_significant,
    cannot_be_significant,
    mean_differences,
    smallest_p,
)

Array = npt.NDArray[np.float64]


def sums(episodes: int, seed: int = 0, effect: float = 0.3) -> tuple[Array, Array]:
    """Return the sums of binary paired differences and the number of pairs per episode, which varies."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(3, 20, episodes)
    shift = rng.normal(effect, 0.3, episodes)
    totals = [
        (rng.random(n) < 0.4 + s).sum() - (rng.random(n) < 0.4).sum()
        for n, s in zip(counts, shift, strict=True)
    ]
    return np.array(totals, dtype=float)[:, None], counts.astype(float)[:, None]


@pytest.mark.parametrize("episodes", [2, 6, 10, 13])
def test_sign_flip_equals_the_exact_permutation_test_of_scipy(episodes: int) -> None:
    totals, counts = sums(episodes)
    exact = stats.permutation_test(
        (totals[:, 0],), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert mean_differences(totals, counts).p[0] == pytest.approx(exact.pvalue)


def test_p_value_below_the_resolution_of_random_patterns_is_an_upper_bound() -> None:
    totals, counts = np.ones((30, 1)), np.ones((30, 1))
    p = mean_differences(totals, counts).p[0]
    assert 2 / 2**30 < p < 1e-6


@pytest.mark.parametrize("episodes", [12, 40])
def test_interval_is_the_percentile_interval_of_scipy_at_the_expanded_level(episodes: int) -> None:
    totals, counts = sums(episodes)
    share = stats.norm.cdf(-student_t(episodes - 1) * math.sqrt(episodes / (episodes - 1)))
    expected = stats.bootstrap(
        (totals[:, 0], counts[:, 0]),
        lambda t, n, axis: t.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        method="percentile",
        confidence_level=1 - 2 * share,
        n_resamples=20_000,
        rng=1,
    )
    found = mean_differences(totals, counts)
    width = expected.confidence_interval.high - expected.confidence_interval.low
    assert found.low[0] == pytest.approx(expected.confidence_interval.low, abs=0.05 * width)
    assert found.high[0] == pytest.approx(expected.confidence_interval.high, abs=0.05 * width)
    assert found.error[0] == pytest.approx(
        expected.standard_error * math.sqrt(episodes / (episodes - 1)), rel=0.06
    )


def test_interval_of_few_equal_episodes_is_that_of_the_paired_t_test() -> None:
    values = np.array([0.1, 0.5, -0.2, 0.3])
    found = mean_differences(values[:, None] * 10, np.full((4, 1), 10.0))
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(expected), abs=1e-3)


def test_single_episode_has_a_difference_but_no_interval() -> None:
    found = mean_differences(np.array([[3.0]]), np.array([[4.0]]))
    assert found.value[0] == 0.75
    assert all(math.isnan(array[0]) for array in (found.low, found.high, found.error, found.p))


def test_columns_do_not_depend_on_each_other() -> None:
    totals, counts = sums(20, 1)
    others, other_counts = sums(20, 2)
    other_counts[3] = others[3] = 0
    both = mean_differences(np.hstack([totals, others]), np.hstack([counts, other_counts]))
    for column, alone in enumerate(
        (mean_differences(totals, counts), mean_differences(others, other_counts))
    ):
        assert [array[column] for array in both] == pytest.approx([array[0] for array in alone])


@pytest.mark.parametrize("episodes", [5, 12, 30])
def test_aggregate_difference_of_a_mean_equals_the_mean_difference(episodes: int) -> None:
    totals, counts = sums(episodes, effect=0.1)
    a, b = np.hstack([totals + 2, counts]), np.hstack([np.full_like(totals, 2), counts])
    found = aggregate_difference(a, b, lambda each: each[:, 0] / each[:, 1])
    for left, right in zip(found, mean_differences(totals, counts), strict=True):
        assert left == pytest.approx(right, abs=1e-9)


def test_aggregate_difference_excludes_draws_in_which_the_score_is_not_defined() -> None:
    a = np.array([[1.0, 1.0], [0.0, 1.0], *[[0.0, 0.0]] * 8])
    b = np.array([[0.0, 1.0], [0.0, 1.0], *[[0.0, 0.0]] * 8])
    found = aggregate_difference(a, b, lambda each: each[:, 0] / each[:, 1])
    assert (found.value[0], found.low[0], found.high[0]) == (0.5, 0, 1)


@pytest.mark.parametrize("episodes", [5, 10])
@pytest.mark.parametrize("value", [0.0, 0.3])
def test_differences_without_variation_have_no_interval(episodes: int, value: float) -> None:
    found = mean_differences(np.full((episodes, 1), value), np.ones((episodes, 1)))
    assert np.isnan([found.low[0], found.high[0]]).all() and found.p[0] == (
        2.0 ** (1 - episodes) if value else 1
    )


@pytest.mark.parametrize(
    ("episodes", "comparisons", "possible"),
    [
        (0, 1, False),
        (1, 1, False),
        (5, 1, False),
        (6, 1, True),
        (6, 2, False),
        (9, 20, False),
        (10, 20, True),
    ],
)
def test_significance_is_possible_from_the_number_of_episodes_that_holm_leaves(
    episodes: int, comparisons: int, possible: bool
) -> None:
    assert can_be_significant(episodes, comparisons) == possible
    statement = cannot_be_significant(episodes, comparisons)
    assert (statement is None) == possible
    if statement:
        assert f"{episodes} episode" in statement and f"{comparisons} comparison" in statement


@pytest.mark.parametrize("episodes", [2, 6, 13, 14, 15, 16, 30, 60])
def test_smallest_p_is_that_of_equal_differences(episodes: int) -> None:
    found = mean_differences(np.ones((episodes, 1)), np.ones((episodes, 1)))
    if 14 < episodes < 18:  # a random pattern may be the observed one
        assert found.p[0] >= smallest_p(episodes)
    else:
        assert found.p[0] == pytest.approx(smallest_p(episodes), rel=1e-9)


def test_sign_flip_with_random_patterns_agrees_with_scipy() -> None:
    totals, counts = sums(40, effect=0.08)
    expected = stats.permutation_test(
        (totals[:, 0],),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        n_resamples=99_999,
        rng=1,
    )
    found = mean_differences(totals, counts).p[0]
    assert found == pytest.approx(expected.pvalue, abs=4 * math.sqrt(expected.pvalue / 9_999))
