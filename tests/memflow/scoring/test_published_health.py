"""The consequences of health: faulty assistants have no scores and no comparisons, suspect ones are flagged."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from factories import comparison, probe, score, verdict
from scored_domain import domain_scores

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.plots.charts import chart, with_health_caption
from memflow.plots.shapes import Chart
from memflow.records import Score
from memflow.scoring.drift import Evaluation, MetricValues, adjust_drifts, drift_rows
from memflow.scoring.drift_summary import grouped
from memflow.scoring.groups import Group
from memflow.scoring.leaderboard import DomainRows
from memflow.scoring.markdown import leaderboard_markdown
from memflow.scoring.published_health import (
    AssistantHealth,
    flagged,
    health_alarms,
    with_health,
    with_pair_health,
)
from memflow.scoring.stages import EvaluationRows

METRICS = ("accuracy", "write_failure")
EMPTY = "96 of 96 reads were empty although entries were live"
FAULTY = AssistantHealth("faulty", EMPTY)
SUSPECT = AssistantHealth("suspect", "12 of 96 reads failed")
OK = AssistantHealth("ok", "none of 9 measures shows a fault")
UNKNOWN = AssistantHealth("not measurable", "not measurable: the server exports nothing")
MEASURED = score(
    assistant="a", value=0.5, low=0.4, high=0.6, judge_low=0.4, judge_high=0.6, deviation=0.1,
    interval_reason="few", n=96, planned=96, n_episodes=3, coverage=1.0,
)  # fmt: skip


def test_score_of_a_faulty_assistant_has_no_value_and_covers_nothing() -> None:
    [found] = with_health([MEASURED], {"a": FAULTY})
    for name in ("value", "low", "high", "interval_reason", "judge_low", "judge_high", "deviation"):
        assert getattr(found, name) is None
    assert (found.n, found.planned, found.n_episodes, found.coverage) == (0, 96, 0, 0.0)
    assert (found.health, found.health_reason, found.reason) == ("faulty", EMPTY, f"not measured: {EMPTY}")


def test_alarms_are_the_faulty_and_then_the_suspect_assistants() -> None:
    health = {"a": SUSPECT, "b": FAULTY, "c": OK, "d": UNKNOWN}
    scores = with_health([score(assistant=name, metric=metric) for name in health for metric in "xy"], health)
    assert [(alarm.assistant, alarm.state) for alarm in health_alarms(scores)] == [
        ("b", "faulty"),
        ("a", "suspect"),
    ]
    names = [flagged(each.assistant, [each]) for each in scores if each.metric == "x"]
    assert names == ["a (suspect)", "b (faulty)", "c", "d"]


def test_comparison_states_the_health_of_both_and_why_a_faulty_one_is_not_compared() -> None:
    rows = [comparison(a="a", b="b", reason="no probe has a value for both"), comparison(a="c", b="d")]
    first, second = with_pair_health(rows, {"a": SUSPECT, "b": FAULTY, "c": OK})
    assert (first.health_a, first.health_b) == ("suspect", "faulty")
    assert first.reason == f"b is not measured: {EMPTY}"
    assert second == replace(rows[1], health_a="ok")


def test_markdown_flags_suspect_assistants_and_lists_faulty_ones_without_a_rank() -> None:
    scores = with_health(
        [score(assistant=name, value=0.5, n=9, planned=9) for name in ("good", "odd", "deaf")],
        {"odd": SUSPECT, "deaf": FAULTY},
    )
    lines = leaderboard_markdown(scores).splitlines()
    assert "| 1 | good | 0.500 | 9 |" in lines
    assert "| 2 | odd (suspect) | 0.500 | 9 |" in lines
    assert "|  | deaf (faulty) | not measured | 0 of 9 |" in lines
    assert f"Faulty: d: deaf: {EMPTY}" in lines and "Suspect: d: odd: 12 of 96 reads failed" in lines


def test_markdown_of_failures_is_without_faulty_assistants() -> None:
    names = ("odd", "deaf")
    scores = [score(assistant=name, metric=metric, value=0.5) for name in names for metric in METRICS]
    text = leaderboard_markdown(with_health(scores, {"odd": SUSPECT, "deaf": FAULTY}))
    table = text[text.index("Failures by state probes") :].splitlines()
    assert [line for line in table if line.startswith("| odd")] == ["| odd (suspect) | 0.500 |  |  |"]
    assert not [line for line in table if line.startswith("| deaf")]


def test_chart_has_no_curve_of_a_faulty_assistant_and_its_caption_names_it() -> None:
    scores = [
        score(assistant=name, value=0.5, slice=f"period {period}", n=3)
        for name in ("good", "odd", "deaf")
        for period in range(3)
    ]
    scores = with_health(scores, {"odd": SUSPECT, "deaf": FAULTY})
    found = with_health_caption(chart(scores, "d", "accuracy"), scores)
    assert isinstance(found, Chart)
    assert {curve.name for curve in found.curves} == {"good", "odd (suspect)"}
    assert found.caption.endswith("; faulty, so not measured: deaf; suspect: odd")
    with pytest.raises(Exception, match="Memories are faulty, so not measured: `memflow show health d`"):
        chart(with_health(scores, dict.fromkeys(("good", "odd"), FAULTY)), "d", "accuracy")


PROBES = [probe(probe_id=f"p{at}", episode_id=f"u{at}", options=["a", "b"]) for at in range(3)]


def rows(*assistants: str, health: Mapping[str, AssistantHealth]) -> DomainRows:
    verdicts = [verdict(probe_id=each.probe_id, episode_id=each.episode_id, value=1.0) for each in PROBES]
    return DomainRows(
        domain=Domain("d", "membench", ("membench_sample",), "D"),
        probes=PROBES,
        meta={name: {"model": "m", "simulator": "s", "scripted": "no"} for name in assistants},
        verdicts=lambda assistant: verdicts,
        groups={name: [_group(name)] for name in assistants},
        operations={},
        checkpoints={},
        read=lambda table, assistant: None,
        scripted_judge=lambda assistant: False,
        health=health,
    )


def _group(assistant: str) -> Group:
    return Group(
        assistant=assistant, dataset="set", category=None, checkpoint=1, episode_id="u", metric="accuracy",
        variant="standard", asked=1, scored=1, total=1.0, squares=1.0, low=1.0, high=1.0,
    )  # fmt: skip


def recorded(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Any], list[Any]]:
    """Return a benchmark, and lists of the results and of the populations that it will be given."""
    benchmark = registry.benchmark("membench")
    results: list[Any] = []
    populations: list[Any] = []

    def scores(domain: Domain, given: Any) -> list[Score]:
        results.append(given)
        return [score(domain=domain.name, assistant=given.assistant, value=1.0)]

    monkeypatch.setattr(benchmark, "scores", scores)
    monkeypatch.setattr(benchmark, "slices", lambda domain, probes: {})
    monkeypatch.setattr(benchmark, "population", lambda groups: populations.append(list(groups)))
    return benchmark, results, populations


def test_domain_scores_of_one_faulty_assistant_are_null_under_every_metric(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    benchmark, _, _ = recorded(monkeypatch)
    found = domain_scores(benchmark, rows("good", "deaf", health={"deaf": FAULTY, "good": OK}))
    without = domain_scores(benchmark, rows("good", health={"good": OK}))
    assert [each for each in found if each.assistant == "good"] == without
    reasons = {each.metric: each.reason for each in found if each.assistant == "deaf"}
    assert len(reasons) > 1 and set(reasons.values()) == {f"not measured: {EMPTY}"}


def test_faulty_assistant_is_in_no_population_and_a_faulty_baseline_is_no_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    benchmark, results, populations = recorded(monkeypatch)
    domain_scores(benchmark, rows("rag", "oracle", "none", health={"oracle": FAULTY, "none": OK}))
    assert [group.assistant for [*groups] in populations for group in groups] == ["rag", "none"]
    assert all(not each.oracle and each.none for each in results)


def evaluation(values: Mapping[str, float | None], judge: str, fault: str | None = None) -> Evaluation:
    episodes = {each.probe_id: each.episode_id for each in PROBES}
    metric = MetricValues(values, episodes, {"all": frozenset(episodes)})
    empty = EvaluationRows(probes=PROBES, messages=[], replies=[], bases={})
    return Evaluation(empty, {"judge": judge}, {("accuracy", "standard"): metric}, "2026-01-01", fault)


@pytest.mark.parametrize("faulty_before", [True, False])
def test_drift_of_a_faulty_evaluation_moves_nothing_and_says_why(faulty_before: bool) -> None:
    valid = {each.probe_id: 1.0 for each in PROBES}
    withheld: dict[str, float | None] = dict.fromkeys(valid)
    before, after = evaluation(valid, "x"), evaluation(withheld, "y", EMPTY)
    if faulty_before:
        before, after = replace(after, inputs={"judge": "x"}), replace(before, inputs={"judge": "y"})
    found = adjust_drifts(drift_rows("d", "rag", before, after))
    reason = f"not measured {'before' if faulty_before else 'after'} the change: {EMPTY}"
    assert [(row.difference, row.moved, row.reason) for row in found] == [(None, False, reason)]
    [drift] = grouped(found)
    assert drift.sentence() == f"judge: x -> y. rag is {reason}."


def test_drift_of_valid_assistants_is_stated_beside_a_faulty_one() -> None:
    valid = {each.probe_id: 1.0 for each in PROBES}
    withheld: dict[str, float | None] = dict.fromkeys(valid)
    rows = [
        *drift_rows("d", "rag", evaluation(valid, "x"), evaluation(withheld, "y", EMPTY)),
        *drift_rows("d", "full", evaluation(valid, "x"), evaluation({**valid, "p0": 0.0}, "y")),
    ]
    [drift] = grouped(adjust_drifts(rows))
    assert "accuracy of full" in drift.sentence()
    assert drift.sentence().endswith(f" rag is not measured after the change: {EMPTY}.")
