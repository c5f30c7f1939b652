"""Decisions of the gate from comparisons and from values. bench/gate.py simulates how often they are wrong."""

from dataclasses import replace

import numpy as np
import pytest
from factories import comparison

from memflow.records import Comparison
from memflow.scoring.comparisons import DomainContext
from memflow.scoring.decisions import (
    CANNOT_TELL,
    MARGIN,
    NO_REGRESSION,
    REGRESSION,
    WHOLE,
    GateOptions,
    GateResult,
)
from memflow.scoring.gate import decide, families, gate
from memflow.scoring.measures import MeanMeasure

EPISODES, PROBES = 30, 20


def row(difference: float, low: float, high: float, p: float, **more: object) -> Comparison:
    """Return a comparison of 600 probes in 30 episodes."""
    values = {"metric": "accuracy", "n": EPISODES * PROBES, "n_episodes": EPISODES, "p": p, "p_adjusted": p}
    return comparison(**values | {"difference": difference, "low": low, "high": high} | more)


@pytest.mark.parametrize(
    ("found", "state", "reason"),
    [
        (row(-0.1, -0.15, -0.05, 0.001), REGRESSION, None),
        (row(-0.1, -0.15, -0.05, 0.05), CANNOT_TELL, "although the difference is not significant"),
        (row(-0.1, -0.21, 0.01, 0.001), CANNOT_TELL, "a loss of 0.03 is not excluded"),
        (row(0.0, -0.029, 0.029, 1.0), NO_REGRESSION, None),
        (row(0.0, -0.03, 0.03, 1.0), CANNOT_TELL, "a loss of 0.03 is not excluded"),
        (row(0.1, 0.05, 0.15, 0.001), NO_REGRESSION, None),
        (
            row(-0.1, -0.15, -0.05, 0.001, n_episodes=5),
            CANNOT_TELL,
            "5 episodes; a decision needs at least 6",
        ),
        (row(0.0, 0.0, 0.0, 1.0, n=120, n_episodes=6), CANNOT_TELL, "too few to exclude a rare loss"),
        (row(0.05, -0.01, 0.11, 1.0, n_episodes=19), CANNOT_TELL, "with fewer than 20 episodes"),
        (row(0.1, 0.01, 0.19, 0.03, n_episodes=19), NO_REGRESSION, None),
        (
            row(0.0, -0.01, 0.01, 1.0, unpaired_b=70),
            CANNOT_TELL,
            "70 of 670 probes have a value for only one",
        ),
        (row(0.0, -0.01, 0.01, 1.0, unpaired_b=60), NO_REGRESSION, None),
        (row(-0.1, -0.15, -0.05, 0.001, unpaired_b=70), REGRESSION, None),
        (replace(row(0, 0, 0, 1), low=None, high=None, reason="no variation"), CANNOT_TELL, "no variation"),
        (
            replace(
                row(0, 0, 0, 1, n=0, n_episodes=0), difference=None, reason="no probe has a value for both"
            ),
            CANNOT_TELL,
            "no probe has a value for both",
        ),
    ],
)
def test_decision_follows_interval_p_value_margin_and_coverage(
    found: Comparison, state: str, reason: str | None
) -> None:
    decision = decide(found, GateOptions())
    assert decision.state == state
    assert reason in decision.reason if reason else decision.reason is None


def test_lower_is_better_metric_is_worse_with_a_higher_value() -> None:
    rise = row(0.1, 0.05, 0.15, 0.001, metric="forgetting")
    assert decide(rise, GateOptions()).state == REGRESSION
    assert decide(replace(rise, difference=-0.1, low=-0.15, high=-0.05), GateOptions()).state == NO_REGRESSION
    assert decide(replace(rise, low=-0.05, high=0.25), GateOptions()).state == CANNOT_TELL


def test_margin_is_a_share_of_the_range_of_the_metric() -> None:
    quality = row(0.0, -0.1, 0.1, 1.0, metric="quality")  # from 1 to 5
    decision = decide(quality, GateOptions())
    assert (decision.state, decision.margin) == (NO_REGRESSION, pytest.approx(4 * MARGIN))
    assert decide(replace(quality, low=-0.13), GateOptions()).state == CANNOT_TELL
    assert decide(replace(quality, low=-0.13), GateOptions(margin=0.04)).state == NO_REGRESSION


def test_equal_evaluations_need_no_statistics_but_enough_episodes() -> None:
    unchanged = row(0.0, 0.0, 0.0, 1.0, n=120, n_episodes=6)
    assert decide(unchanged, GateOptions(), same=True).state == NO_REGRESSION
    assert decide(replace(unchanged, n_episodes=5), GateOptions(), same=True).state == CANNOT_TELL


def measure(
    change: np.ndarray, metric: str = "accuracy", slices: dict[str, np.ndarray] | None = None
) -> MeanMeasure:
    """Return a measure in which the run has the values of the baseline, 0.5, plus `change` (episodes, probes)."""
    episodes, probes = change.shape
    values = np.vstack([0.5 + change.ravel(), np.full(change.size, 0.5)])
    masks = {WHOLE: np.ones(change.size, dtype=bool)} | {
        name: np.tile(mask, episodes) for name, mask in (slices or {}).items()
    }
    return MeanMeasure(metric, "standard", [f"e{at // probes}" for at in range(change.size)], values, masks)


def run(measures: list[MeanMeasure], **options: object) -> GateResult:
    context = DomainContext("d", ["new", "old"], [False, False])
    return gate(context, measures, GateOptions(**options))


FIRST = np.arange(PROBES) < 5


def hidden_loss() -> np.ndarray:
    """Return changes in which the first 5 probes of an episode lose .4, and the others gain as much in sum."""
    change = np.random.default_rng(2).normal(0, 0.05, (EPISODES, PROBES))
    return change + np.where(FIRST, -0.4, 0.4 / 3)


def test_regression_in_a_slice_is_a_regression_although_all_probes_are_equal() -> None:
    slices = {"first": FIRST, "rest": ~FIRST}
    result = run([measure(hidden_loss(), slices=slices)])
    states = {decision.slice: decision.state for decision in result.decisions}
    assert states == {WHOLE: NO_REGRESSION, "first": REGRESSION, "rest": NO_REGRESSION}
    assert result.exit_code == 1
    assert run([measure(hidden_loss(), slices=slices)], slices={WHOLE}).exit_code == 0
    only = run([measure(hidden_loss(), slices=slices)], slices={"first"})
    assert [(each.slice, each.required) for each in only.decisions] == [("first", True)]
    assert only.exit_code == 1


def test_equal_loss_in_every_episode_is_a_regression() -> None:
    for lost in (1, PROBES):
        result = run([measure(np.tile(np.where(np.arange(PROBES) < lost, -1.0, 0.0), (10, 1)))])
        assert (result.exit_code, result.decisions[0].high) == (1, pytest.approx(-lost / PROBES))


def test_unchanged_values_of_other_settings_need_many_probes() -> None:
    assert [run([measure(np.zeros((episodes, PROBES)))]).exit_code for episodes in (6, 20, 30)] == [2, 2, 0]
    assert run([measure(np.zeros((6, PROBES)))], identical=True).exit_code == 0


def test_open_slice_decides_only_if_it_is_required() -> None:
    change = np.random.default_rng(3).choice([-0.5, 0.0, 0.5], p=[0.05, 0.9, 0.05], size=(60, PROBES))
    small = {"one probe": np.arange(PROBES) == 0}
    result = run([measure(change, slices=small)])
    assert [decision.state for decision in result.decisions] == [NO_REGRESSION, CANNOT_TELL]
    assert result.exit_code == 0
    assert run([measure(change, slices=small)], slices={WHOLE, "one probe"}).exit_code == 2


def test_p_values_are_adjusted_over_metrics_by_holm_and_over_slices_by_max_t() -> None:
    change = np.random.default_rng(4).normal(-0.03, 0.3, (EPISODES, PROBES))
    slices = {"first": FIRST, "again": FIRST}
    single, double = run([measure(change)]), run([measure(change), measure(change, "exact_match")])
    assert double.decisions[0].p_adjusted == pytest.approx(2 * (single.decisions[0].p_adjusted or 0))
    first, again = run([measure(change, slices=slices)], slices={"first", "again"}).decisions
    assert first.p_adjusted == again.p_adjusted
    [alone] = run([measure(change, slices={"first": FIRST})], slices={"first"}).decisions
    assert first.p_adjusted == pytest.approx(alone.p_adjusted)


def test_families_state_the_corrections_and_when_nothing_can_be_significant() -> None:
    rows = [row(0, 0, 0, 1), row(0, 0, 0, 1, metric="exact_match"), row(0, 0, 0, 1, slice="period 1")]
    assert families(rows) == [
        "Family over all probes: 2 metrics, p adjusted by Holm's method",
        "Family of slices: 1 metric and slice, by max-T",
    ]
    [*_, few] = families([replace(each, n_episodes=6) for each in rows])
    assert "cannot be significant with 6 episodes and 2 comparisons" in few


def test_result_without_decisions_or_with_a_fault_is_left_open() -> None:
    better = decide(row(0.1, 0.05, 0.15, 0.001), GateOptions())
    assert GateResult().exit_code == 2
    assert GateResult([better]).exit_code == 0
    assert GateResult([better], faults=["another judge"]).exit_code == 2
    assert GateResult([replace(better, required=False)]).exit_code == 2


def test_required_slice_without_values_is_left_open() -> None:
    change = np.zeros((EPISODES, PROBES))
    change[:, FIRST] = np.nan
    result = run([measure(change, slices={"first": FIRST})], slices={WHOLE, "first"})
    assert [(each.slice, each.state) for each in result.decisions if each.slice == "first"] == [
        ("first", CANNOT_TELL)
    ]
    result = run([measure(np.full((EPISODES, PROBES), np.nan))])
    assert [each.reason for each in result.decisions] == ["no probe has a value for both"]
    without = measure(change)
    result = run([replace(without, slices={"first": np.tile(~FIRST, EPISODES)})])
    assert [(each.slice, each.state) for each in result.decisions if each.required] == [(WHOLE, CANNOT_TELL)]
    assert result.exit_code == 2


def test_metric_of_few_episodes_is_required_only_if_it_is_named_or_there_is_no_other() -> None:
    rare = np.full((EPISODES, PROBES), np.nan)
    rare[:5] = 0.0
    few = replace(measure(rare, "exact_match"), values=np.vstack([rare.ravel(), rare.ravel()]))
    both = [measure(np.zeros((EPISODES, PROBES))), few]
    result = run(both)
    assert [(each.metric, each.required) for each in result.decisions] == [
        ("accuracy", True),
        ("exact_match", False),
    ]
    assert result.exit_code == 0
    assert run(both, metrics=("accuracy", "exact_match")).exit_code == 2
    assert run([few]).exit_code == 2
    lost = np.full((EPISODES, PROBES), np.nan)  # The run has no value where the baseline has.
    unanswered = replace(few, values=np.vstack([lost.ravel(), np.zeros(lost.size)]))
    assert run([both[0], unanswered]).exit_code == 2


def test_metric_without_range_has_no_margin() -> None:
    score = row(0.05, -0.01, 0.11, 0.1, metric="memory_score")
    assert "no range" in (decide(score, GateOptions()).reason or "")
    assert decide(replace(score, low=0.01), GateOptions()).state == NO_REGRESSION
    assert decide(row(-0.3, -0.4, -0.2, 0.001, metric="memory_score"), GateOptions()).state == REGRESSION
