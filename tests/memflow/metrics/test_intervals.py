"""Intervals of proportions, of bounded means, and of other scores of sums over episodes."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from bench.intervals import Cell, cells, measure
from memflow.metrics.intervals import (
    CORRELATION,
    NO_VARIATION,
    Units,
    cluster_error,
    mean_interval,
    proportion_interval,
    statistic_interval,
)

Array = npt.NDArray[np.float64]
EPISODES = [[1, 1, 0, 1], [0, 0, 1, 0, 0, 1, 1], [1] * 9, [1, 0], [1, 1, 1, 0, 1]]
"""Values of episodes of different sizes."""


def units(episodes: Sequence[Sequence[float]]) -> Units:
    return Units.of_episodes([sum(values) for values in episodes], [len(values) for values in episodes])


def survey_interval(episodes: Sequence[Sequence[float]], floor: float = 0.0) -> tuple[float, float]:
    """Return `svyciprop(method = "beta")` of R's survey package, from linearized residuals of every value."""
    values = np.concatenate([np.asarray(each, dtype=float) for each in episodes])
    mean, n, k = values.mean(), len(values), len(episodes)
    scores = [(np.asarray(each) - mean).sum() / n for each in episodes]
    variance = k / (k - 1) * np.square(scores).sum()
    effective = mean * (1 - mean) / variance
    size = sum(len(each) ** 2 for each in episodes) / n
    effective = min(effective, n / (1 + (size - 1) * floor))
    effective *= (stats.t.ppf(0.025, n - 1) / stats.t.ppf(0.025, k - 1)) ** 2
    low = stats.beta.ppf(0.025, effective * mean, effective * (1 - mean) + 1)
    high = stats.beta.ppf(0.975, effective * mean + 1, effective * (1 - mean))
    return float(low), float(high)


def test_proportion_is_that_of_the_survey_package() -> None:
    found = proportion_interval(units(EPISODES))
    assert (found.low, found.high) == pytest.approx(survey_interval(EPISODES, CORRELATION))
    assert found.value == pytest.approx(20 / 27) and (found.reason, found.units) == (None, "episodes")
    assert survey_interval(EPISODES) == pytest.approx((found.low, found.high))  # the floor is not reached


def test_correlation_between_values_of_an_episode_is_assumed_where_none_is_seen() -> None:
    alike = [[1, 0] * 10] * 4
    found = proportion_interval(units(alike))
    effective = 80 / (1 + 19 * CORRELATION) * (stats.t.ppf(0.975, 79) / stats.t.ppf(0.975, 3)) ** 2
    low, high = stats.beta.ppf(
        [0.025, 0.975], *np.array([[0.5, 0.5], [0.5, 0.5]]) * effective + [[0, 1], [1, 0]]
    )
    assert (found.low, found.high) == pytest.approx((low, high))


def test_one_value_an_episode_gives_the_exact_binomial_interval_of_n_minus_1() -> None:
    found = proportion_interval(units([[1]] * 14 + [[0]] * 7))
    low, high = stats.beta.ppf([0.025, 0.975], [20 * 2 / 3, 20 * 2 / 3 + 1], [20 / 3 + 1, 20 / 3])
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize("value", [0, 1])
def test_proportion_of_0_or_1_has_one_open_end(value: int) -> None:
    found = proportion_interval(units([[value] * 20] * 10))
    effective = 200 / 1.95 * (stats.t.ppf(0.975, 199) / stats.t.ppf(0.975, 9)) ** 2
    inner = 0.025 ** (1 / effective)
    assert (found.low, found.high) == pytest.approx((inner, 1) if value else (0, 1 - inner))


@pytest.mark.parametrize("interval", [proportion_interval, mean_interval])
@pytest.mark.parametrize(
    ("episodes", "value", "reason"),
    [([], None, None), ([[1.0, 0.0]], 0.5, "1 episode"), ([[1.0], [0.0]], 0.5, "2 episodes")],
)
def test_fewer_than_three_episodes_have_a_reason_in_place_of_an_interval(
    interval, episodes, value, reason
) -> None:
    assert interval(units(episodes)) == (value, None, None, reason, "episodes")


def matrix_cr2(episodes: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the CR2 standard error of a mean and its degrees of freedom by matrices, as clubSandwich does."""
    y = np.concatenate([np.asarray(each, dtype=float) for each in episodes])
    cluster = np.repeat(np.arange(len(episodes)), [len(each) for each in episodes])
    design = np.ones((len(y), 1))
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    rest = np.eye(len(y)) - hat
    residuals = rest @ y
    variance, columns = 0.0, []
    for number in range(len(episodes)):
        rows = cluster == number
        eigenvalues, vectors = np.linalg.eigh(rest[np.ix_(rows, rows)])
        adjusted = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        weights = adjusted @ design[rows] / len(y)
        variance += float(((weights.T @ residuals[rows]) ** 2).sum())
        columns.append((rest[rows].T @ weights)[:, 0])
    crossed = np.array(columns) @ np.array(columns).T
    return math.sqrt(variance), float(np.trace(crossed) ** 2 / (crossed**2).sum())


@pytest.mark.parametrize("k", [3, 5, 12])
def test_mean_is_that_of_cr2_by_matrices(k: int) -> None:
    rng = np.random.default_rng(k)
    episodes = [rng.beta(2, 3, rng.integers(1, 15)).tolist() for _ in range(k)]
    error, degrees = matrix_cr2(episodes)
    mean = float(np.concatenate(episodes).mean())
    assert cluster_error(units(episodes), mean) == pytest.approx((error, degrees))
    found = mean_interval(units(episodes), 0.0, 1.0)
    reach = stats.t.ppf(0.975, degrees) * error
    assert (found.low, found.high) == pytest.approx((max(0, mean - reach), min(1, mean + reach)))


def test_mean_is_cut_off_at_the_range_of_the_metric() -> None:
    episodes = [[9.0], [10.0], [4.0]]
    assert mean_interval(units(episodes), 1.0, 10.0)[1:3] == (1.0, 10.0)
    assert mean_interval(units(episodes)).high > 10


def test_mean_without_variation_has_a_reason_in_place_of_an_interval() -> None:
    assert mean_interval(units([[0.3] * 4, [0.3] * 7, [0.3]])) == (
        pytest.approx(0.3), None, None, NO_VARIATION, "episodes"
    )  # fmt: skip


@pytest.mark.parametrize("interval", [proportion_interval, mean_interval])
def test_cases_in_one_group_equal_cases_one_by_one(interval) -> None:
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    apart = interval(units([[value] for value in values] + [[0.0, 1.0, 1.0]]))
    totals, counts, squares, number = (
        np.array(pair) for pair in ((4.0, 2.0), (6.0, 3.0), (4.0, 4.0), (6.0, 1.0))
    )
    found = interval(Units(totals, counts, squares, number, "episodes and cases"))
    assert found[:3] == pytest.approx(apart[:3]) and found.units == "episodes and cases"


@pytest.mark.parametrize("episodes", [5, 20])
def test_other_scores_have_the_interval_of_paired_differences(episodes: int) -> None:
    rng = np.random.default_rng(episodes)
    above, below = rng.random(episodes), rng.random(episodes) + 1

    def ratio(weights: Array) -> Array:
        return np.asarray((weights @ above) / (weights @ below))

    found = statistic_interval(ratio, episodes)
    assert found.value == pytest.approx(above.sum() / below.sum())
    assert found.low < found.value < found.high and found == statistic_interval(ratio, episodes)


@pytest.mark.parametrize(
    ("above", "reason"),
    [([1.0, 2.0], "2 episodes"), ([1.0, 1.0, 1.0], NO_VARIATION), ([1.0] * 9, NO_VARIATION)],
)
def test_other_scores_state_why_there_is_no_interval(above: list[float], reason: str) -> None:
    found = statistic_interval(lambda weights: weights @ np.array(above) / weights.sum(axis=1), len(above))
    assert found[1:4] == (None, None, reason)


def test_undefined_score_has_no_value() -> None:
    assert statistic_interval(lambda weights: weights[:, 0] * np.nan, 4).value is None
    assert statistic_interval(lambda weights: weights[:, 0], 0).value is None


STUDIES = 200


@pytest.mark.parametrize("cell", [*cells((3, 5, 10, 20), (0.5, 0.8, 0.95), (0.02, 0.2))], ids=str)
def test_coverage_and_width_are_within_their_limits(cell: Cell) -> None:
    assert measure(cell, STUDIES, seed=1).failures(cell, STUDIES) == []
