"""Variance components: a worked example, and the recovery of the variances of simulated values."""

import math

import numpy as np
import pytest

from memflow.metrics.variance import (
    UNMEASURED,
    Component,
    RepeatedValues,
    components,
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


@pytest.mark.parametrize("run", [True, False])
def test_components_recover_the_variances_of_simulated_values(run: bool) -> None:
    """Over 120 simulations each mean estimate is within 3 % (episodes: 6 %), and 89 % of the intervals cover."""
    rng = np.random.default_rng(7)
    variances: dict[str, list[float]] = {}
    covered: dict[str, list[bool]] = {}
    for _ in range(120):
        for name, component in by_name(components(simulated(rng, run=run))).items():
            if component.deviation is not None:
                value, low, high, _ = component.deviation
                variances.setdefault(name, []).append(value**2)
                covered.setdefault(name, []).append((low or 0.0) <= TRUE[name] <= (high or math.inf))
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


def test_judging_is_part_of_the_answers_without_repeats_of_the_judge() -> None:
    values = np.random.default_rng(1).random((3, 12))
    found = by_name(components([RepeatedValues([*"aaabbbcccddd"], values)]))
    assert found["answers"].deviation is not None and found["answers"].note == "contains judge"
    assert found["judge"].deviation is None


def test_negative_estimate_is_zero_with_a_note() -> None:
    # The means of all questions are equal.
    values = np.array([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]])
    found = by_name(components([RepeatedValues(["a", "a", "b", "b"], values)]))
    assert found["questions"].deviation == (0.0, None, None, 0.0)
    assert "estimate below 0" in found["questions"].note
    assert found["answers"].deviation is not None and found["answers"].deviation.value > 0


@pytest.mark.parametrize(
    ("episodes", "missing"), [(["a", "a", "a"], "episodes"), (["a", "b", "c"], "questions"), ([], "answers")]
)
def test_degenerate_designs_name_what_is_missing(episodes: list[str], missing: str) -> None:
    values = np.random.default_rng(1).random((2, len(episodes)))
    component = by_name(components([RepeatedValues(episodes, values)]))[missing]
    assert component.deviation is None and component.note == UNMEASURED[missing]


@pytest.mark.parametrize("run", [True, False])
def test_one_question_per_episode_is_part_of_the_episodes(run: bool) -> None:
    """The variance of episodes then contains that of questions, and play that of answers; nothing is counted twice."""
    rng = np.random.default_rng(5)
    found: dict[str, list[float]] = {}
    for _ in range(300):
        values = rng.normal(0, 0.4, 40) + rng.normal(0, 0.3, (3, 40))
        names = by_name(components([RepeatedValues([str(at) for at in range(40)], values, is_run=run)]))
        assert names["questions"].deviation is None and "contains questions" in names["episodes"].note
        for name, component in names.items():
            if component.deviation is not None:
                found.setdefault(name, []).append(component.deviation.value**2)
    noise = "play" if run else "answers"
    assert set(found) == {"episodes", noise}
    assert np.mean(found["episodes"]) == pytest.approx(0.16, rel=0.05)
    assert np.mean(found[noise]) == pytest.approx(0.09, rel=0.03)
    if run:
        assert names["play"].note == "contains answers, judge"


def test_assistants_with_and_without_repeats_are_pooled() -> None:
    rng = np.random.default_rng(2)
    estimates = []
    for _ in range(60):
        values = simulated(rng, run=False, assistants=2)
        once = RepeatedValues(values[1].episodes, values[1].values[:1])
        component = by_name(components([values[0], once]))["questions"]
        assert component.deviation is not None
        estimates.append(component.deviation.value**2)
    assert np.mean(estimates) == pytest.approx(TRUE["questions"] ** 2, rel=0.05)
