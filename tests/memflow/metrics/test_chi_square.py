"""Standard deviations: quantiles of the chi-square distribution, pooling and intervals."""

import pytest

from memflow.metrics.chi_square import chi_square


# Abramowitz and Stegun, table 26.8.
@pytest.mark.parametrize(
    ("degrees", "low", "high"),
    [(1, 0.000982069, 5.02389), (2, 0.0506356, 7.37776), (10, 3.24697, 20.4831), (100, 74.2219, 129.561)],
)
def test_chi_square_quantiles_equal_the_published_table(degrees: int, low: float, high: float) -> None:
    assert chi_square(0.025, degrees) == pytest.approx(low, rel=5e-6)
    assert chi_square(0.975, degrees) == pytest.approx(high, rel=5e-6)
