"""Standard deviations: quantiles of the chi-square distribution, pooling and intervals."""

import math

import pytest

from memflow.metrics.chi_square import chi_square, deviation, pooled_deviation


# Abramowitz and Stegun, table 26.8.
@pytest.mark.parametrize(
    ("degrees", "low", "high"),
    [(1, 0.000982069, 5.02389), (2, 0.0506356, 7.37776), (10, 3.24697, 20.4831), (100, 74.2219, 129.561)],
)
def test_chi_square_quantiles_equal_the_published_table(degrees: int, low: float, high: float) -> None:
    assert chi_square(0.025, degrees) == pytest.approx(low, rel=5e-6)
    assert chi_square(0.975, degrees) == pytest.approx(high, rel=5e-6)


def test_pooled_deviation_is_within_groups() -> None:
    found = pooled_deviation([[1.0, 3.0], [10.0, 10.0, 10.0], [7.0]])
    assert found is not None
    assert found.value == pytest.approx(math.sqrt(2 / 3)) and found.degrees == 3
    assert found.low == pytest.approx(math.sqrt(2 / chi_square(0.975, 3)))
    assert pooled_deviation([[1.0], []]) is None


def test_deviation_without_a_degree_of_freedom_has_no_interval() -> None:
    assert deviation(4.0, 0.5) == (2.0, None, None, 0.5)


def test_equal_values_have_no_deviation_at_all() -> None:
    assert pooled_deviation([[0.7, 0.7, 0.7], [0.1, 0.1, 0.1]]) == (0.0, 0.0, 0.0, 4)
