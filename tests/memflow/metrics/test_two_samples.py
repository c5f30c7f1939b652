"""The difference between two independent samples of episodes, against SciPy's formulas and by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from memflow.metrics.two_samples import compare_samples, smallest_division_p


def episodes(rng: np.random.Generator, mean: float, count: int, probes: int = 6) -> np.ndarray:
    """Return sums and counts of episodes whose probes are correlated: an episode has its own level."""
    levels = np.clip(rng.normal(mean, 0.15, size=count), 0, 1)
    return np.column_stack([rng.binomial(probes, levels), np.full(count, probes)]).astype(float)


def test_difference_is_that_of_the_pooled_means() -> None:
    a, b = np.array([[1.0, 2], [3, 4]]), np.array([[4.0, 4], [1, 1]])
    assert compare_samples(a, b).difference == pytest.approx(1 - 4 / 6)


def test_small_samples_have_the_exact_p_value_of_all_divisions() -> None:
    a = np.column_stack([[0.0, 1, 2], np.ones(3)])
    b = np.column_stack([[10.0, 11, 12], np.ones(3)])
    found = compare_samples(a, b)
    assert found.p == 2 / math.comb(6, 3) == smallest_division_p(3, 3), (
        "only the observed division and its mirror image are as extreme"
    )
    assert found.low is not None and found.high is not None and found.low > 0


def test_interval_of_small_samples_is_welchs() -> None:
    a, b = np.array([1.0, 2, 3, 5]), np.array([4.0, 6, 9])
    found = compare_samples(*(np.column_stack([each, np.ones(len(each))]) for each in (a, b)))
    error = math.sqrt(a.var(ddof=1) / 4 + b.var(ddof=1) / 3)
    # scipy.stats.ttest_ind(b, a, equal_var=False): 3.22 degrees of freedom; ours are rounded down.
    assert found.high == pytest.approx(b.mean() - a.mean() + stats.t.ppf(0.975, 3) * error)


@pytest.mark.parametrize("values", [([1.0, 2], [4, 5, 7]), ([1.0, 1, 1], [4, 4, 4, 4])])
def test_two_episodes_and_samples_without_variation_have_a_p_value_but_no_interval(values) -> None:
    a, b = (np.column_stack([sample, np.ones(len(sample))]) for sample in values)
    found = compare_samples(a, b)
    assert (found.low, found.high) == (None, None)
    assert found.p == smallest_division_p(len(a), len(b)) == 1 / math.comb(len(a) + len(b), len(b))


def test_large_difference_has_a_p_value_below_the_resolution_of_random_divisions() -> None:
    rng = np.random.default_rng(1)
    found = compare_samples(episodes(rng, 0.2, 40), episodes(rng, 0.9, 40))
    assert found.p is not None and found.p < 1e-6
