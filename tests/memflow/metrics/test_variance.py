"""Variance components: known quantiles, a worked example, and the recovery of the variances of simulated values."""

import math

import numpy as np
import pytest

from memflow.metrics.variance import (
    UNMEASURED,
    Component,
    RepeatedValues,
    chi_square,
    components,
    deviation,
    pooled_deviation,
)

TRUE = {"episodes": 0.3, "questions": 0.2, "play": 0.15, "answers": 0.1, "judge": 0.05}


def by_name(found: list[Component]) -> dict[str, Component]:
    assert [component.name for component in found] == [*UNMEASURED]
    return {component.name: component for component in found}


def simulated(rng: np.random.Generator, *, run: bool, assistants: int = 4) -> list[RepeatedValues]:
    """Return values of 25 episodes of 2 to 14 questions, 4 repeats and 3 judgings; assistants share the questions."""
    of = np.repeat(np.arange(25), rng.integers(2, 15, 25))
    shared = rng.normal(0, TRUE["episodes"], 25)[of] + rng.normal(0, TRUE["questions"], of.size)
    found = []
    for _ in range(assistants):
        played = rng.normal(0, TRUE["play"], (4, 25))[:, of] if run else 0.0
        answers = shared + played + rng.normal(0, TRUE["answers"], (4, of.size))
        values = answers + rng.normal(0, TRUE["judge"], answers.shape)
        again = answers[0] + rng.normal(0, TRUE["judge"], (2, of.size))
        found.append(RepeatedValues([str(each) for each in of], values, np.vstack([values[0], again]), run))
    return found


# Abramowitz and Stegun, table 26.8.
@pytest.mark.parametrize(
    ("degrees", "low", "high"),
    [(1, 0.000982069, 5.02389), (2, 0.0506356, 7.37776), (10, 3.24697, 20.4831), (100, 74.2219, 129.561)],
)
def test_chi_square_quantiles_equal_the_published_table(degrees: int, low: float, high: float) -> None:
    assert chi_square(0.025, degrees) == pytest.approx(low, rel=5e-6)
    assert chi_square(0.975, degrees) == pytest.approx(high, rel=5e-6)


def test_approximation_for_many_degrees_continues_the_exact_quantile() -> None:
    for share in (0.025, 0.975):
        assert chi_square(share, 300.0001) == pytest.approx(chi_square(share, 300), rel=5e-5)


def test_pooled_deviation_is_within_groups() -> None:
    found = pooled_deviation([[1.0, 3.0], [10.0, 10.0, 10.0], [7.0]])
    assert found is not None
    assert found.value == pytest.approx(math.sqrt(2 / 3)) and found.degrees == 3
    assert found.low == pytest.approx(math.sqrt(2 / chi_square(0.975, 3)))
    assert pooled_deviation([[1.0], []]) is None


def test_deviation_without_a_degree_of_freedom_has_no_interval() -> None:
    assert deviation(4.0, 0.5) == (2.0, None, None, 0.5)


@pytest.mark.parametrize("run", [True, False])
def test_components_recover_the_variances_of_simulated_values(run: bool) -> None:
    """Over 120 simulations each mean estimate is within 2 %, and the intervals cover as many as they should."""
    rng = np.random.default_rng(7)
    variances: dict[str, list[float]] = {}
    covered: dict[str, list[bool]] = {}
    for _ in range(120):
        for name, component in by_name(components(simulated(rng, run=run))).items():
            if component.deviation is not None and component.deviation.low is not None:
                value, low, high, _ = component.deviation
                variances.setdefault(name, []).append(value**2)
                covered.setdefault(name, []).append(low <= TRUE[name] <= (high or 0.0))
    assert set(variances) == (set(TRUE) if run else set(TRUE) - {"play"})
    for name, found in variances.items():
        tolerance = 0.06 if name == "episodes" else 0.03
        assert np.mean(found) == pytest.approx(TRUE[name] ** 2, rel=tolerance), name
        assert np.mean(covered[name]) > 0.89, name


def test_components_of_a_score_sum_to_its_variance() -> None:
    """The mean over questions varies between independent evaluations by what `of_score` states."""
    rng = np.random.default_rng(3)
    scores, stated = [], []
    for _ in range(400):
        [values] = simulated(rng, run=True, assistants=1)
        scores.append(values.values[0].mean())
        stated.append(sum(component.of_score or 0.0 for component in components([values])))
    assert np.mean(stated) == pytest.approx(np.var(scores), rel=0.2)


def test_worked_example() -> None:
    """Two episodes of two questions, each answered twice: mean squares 1 (answers), 1 (questions) and 4 (episodes)."""
    values = np.array([[0.0, 2.0, 4.0, 4.0], [2.0, 4.0, 4.0, 4.0]])
    found = by_name(components([RepeatedValues(["a", "a", "b", "b"], values)], judged=False))
    # within: (2 + 2 + 0 + 0) / 4 = 1; questions: means 1, 3, 4, 4, so (1 + 1) / 2 = 1; episodes: 2 (1 + 1) / 1 = 4.
    assert found["answers"].deviation is not None and found["answers"].deviation.value == 1.0
    assert found["questions"].deviation is not None
    assert found["questions"].deviation.value == pytest.approx(math.sqrt(1 - 1 / 2))
    assert found["episodes"].deviation is not None
    assert found["episodes"].deviation.value == pytest.approx(math.sqrt((4 - 1) / 2))
    assert found["answers"].note == "" and found["judge"].note == "no judge scores this metric"


def test_sources_that_no_repeats_measure_are_not_measured() -> None:
    values = np.random.default_rng(1).random((1, 12))
    found = by_name(components([RepeatedValues([*"aaabbbcccddd"], values)]))
    assert [name for name, each in found.items() if each.deviation is None] == ["play", "answers", "judge"]
    assert found["questions"].note == "contains play, answers and judge"
    assert all(each.of_score is None for each in found.values() if each.deviation is None)


def test_judging_is_part_of_the_answers_without_repeats_of_the_judge() -> None:
    values = np.random.default_rng(1).random((3, 12))
    found = by_name(components([RepeatedValues([*"aaabbbcccddd"], values)]))
    assert found["answers"].deviation is not None and found["answers"].note == "contains judge"
    assert found["judge"].deviation is None


def test_negative_estimate_is_zero_with_a_note() -> None:
    values = np.array(
        [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]
    )  # equal means of all questions and episodes
    found = by_name(components([RepeatedValues(["a", "a", "b", "b"], values)]))
    for name in ("episodes", "questions"):
        assert found[name].deviation is not None and found[name].deviation.value == 0.0
    assert "estimate below 0" in found["questions"].note
    assert found["answers"].deviation is not None and found["answers"].deviation.value > 0


@pytest.mark.parametrize(
    ("episodes", "missing"), [(["a", "a", "a"], "episodes"), (["a", "b", "c"], "questions"), ([], "answers")]
)
def test_degenerate_designs_name_what_is_missing(episodes: list[str], missing: str) -> None:
    values = np.random.default_rng(1).random((2, len(episodes)))
    component = by_name(components([RepeatedValues(episodes, values)]))[missing]
    assert component.deviation is None and component.note == UNMEASURED[missing]
