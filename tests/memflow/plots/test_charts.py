"""Charts of scores by period: curves, captions and rejected metrics."""

from dataclasses import replace

import factories
import pytest

from memflow.errors import BadInput
from memflow.plots.charts import chart, charts
from memflow.plots.shapes import Bars, Chart, Point, gaps

SCORE = factories.score(
    assistant="rag", memory="rag", slice="period 0", value=0.5, low=0.4, high=0.7, n=10, n_episodes=2,
)  # fmt: skip
FAILURES = ("write_failure", "read_failure", "utilization_failure")


def scores_of(*metrics, assistants=("rag", "full"), periods=range(3), **given):
    """Return scores of assistants by period. The value is a tenth of the period, and higher for the first assistant."""
    return [
        replace(
            replace(SCORE, metric=metric, assistant=name, slice=f"period {period}"),
            **{"value": period / 10 + place / 100, **given},
        )
        for metric in metrics
        for place, name in enumerate(assistants)
        for period in periods
    ]


def test_chart_has_one_curve_per_assistant_sorted_by_score():
    drawn = chart(scores_of("accuracy"), "d", "accuracy")
    assert isinstance(drawn, Chart)
    assert (drawn.title, drawn.x, drawn.y, drawn.at) == (
        "Accuracy by period, d",
        "Period",
        "accuracy",
        (0, 1, 2),
    )
    assert [curve.name for curve in drawn.curves] == ["full", "rag"]
    assert drawn.curves[1].points == tuple(Point(at, at / 10, 0.4, 0.7) for at in range(3))


def test_chart_caption_states_the_number_of_probes_and_episodes():
    drawn = chart(scores_of("accuracy"), "d", "accuracy")
    assert drawn.caption == "10 probes of 2 episodes a period; 95 % intervals over episodes"
    few = [
        replace(row, n=8 if row.slice == "period 1" else 10)
        for row in scores_of("accuracy", low=None, high=None, interval_reason="2 episodes")
    ]
    assert chart(few, "d", "accuracy").caption == (
        "8 to 10 probes of 2 episodes a period; no interval: 2 episodes"
    )


def test_period_without_score_leaves_a_gap_in_the_curve_and_is_named_in_the_caption():
    lost = {"value": None, "low": None, "high": None, "reason": "too few"}
    rows = [replace(row, **lost) if row.slice == "period 1" else row for row in scores_of("accuracy")]
    drawn = chart(rows, "d", "accuracy")
    assert drawn.caption.endswith("; no score at period 1")
    assert drawn.at == (0, 1, 2)
    assert [[point.at for point in each] for each in gaps(drawn.curves[0].points, drawn.at)] == [[0], [2]]
    assert gaps((), ()) == []


def test_accuracy_chart_shows_chance_and_upper_bound_per_model():
    rows = [
        *scores_of("accuracy", "random", "upper_bound"),
        *scores_of("upper_bound", assistants=("x",), model="n"),
    ]
    assert [curve.name for curve in chart(rows, "d", "accuracy").beside] == [
        "chance",
        "upper bound of m",
        "upper bound of n",
    ]
    assert chart(scores_of("memory_score", "random"), "d", "memory_score").beside == ()


def test_failure_chart_stacks_failure_types_in_one_panel_per_assistant():
    drawn = chart(scores_of(*FAILURES), "d", "failures")
    assert isinstance(drawn, Bars)
    assert [panel.name for panel in drawn.panels] == ["rag", "full"]
    assert [*drawn.panels[0].parts] == ["write", "read", "utilization"]
    assert drawn.panels[1].parts["read"] == pytest.approx({0: 0.01, 1: 0.11, 2: 0.21})
    assert drawn.caption.endswith(
        "95 % intervals over episodes are at most 0.30 wide; attributed by state probes"
    )
    found = [replace(row, variant="by_evidence", value=0.2) for row in scores_of(*FAILURES)]
    leading = chart([*scores_of(*FAILURES), *found], "d", "failures")
    assert {*leading.panels[0].parts["write"].values()} == {0.2} and leading.caption.endswith("by evidence")


def test_charts_returns_no_chart_for_metrics_with_a_single_period():
    rows = scores_of("accuracy", "memory_score", *FAILURES)
    assert [*charts(rows, "d")] == ["accuracy", "memory_score", "failures"]
    assert charts([row for row in rows if row.slice == "period 0"], "d") == {}
    assert charts(rows, "other") == {}
    assert chart(
        [replace(row, slice=row.slice.replace("period", "checkpoint")) for row in rows], "d", "accuracy"
    ).x == ("Checkpoint")


def test_evolution_cycles_have_a_separate_chart():
    cycles = [
        replace(SCORE, assistant=name, slice=f"cycle {cycle}", value=cycle / 4)
        for name in ("awi_cycles", "other_cycles")
        for cycle in range(3)
    ]
    rows = [*scores_of("accuracy"), *cycles]
    assert [*charts(rows, "d")] == ["accuracy", "cycles"]
    drawn = chart(rows, "d", "cycles")
    assert isinstance(drawn, Chart)
    assert (drawn.title, drawn.x, drawn.y) == ("Accuracy by cycle, d", "Cycle", "accuracy")
    assert {curve.name for curve in drawn.curves} == {"awi_cycles", "other_cycles"}
    assert [point.value for point in drawn.curves[0].points] == [0, 0.25, 0.5]
    assert {curve.name for curve in chart(rows, "d", "accuracy").curves} == {"rag", "full"}
    with pytest.raises(BadInput, match="no scores of cycles"):
        chart(scores_of("accuracy"), "d", "cycles")


def test_chart_uses_pooled_scores_only_if_standard_scores_are_missing():
    pooled = scores_of("min_max", variant="pooled", deviation=0.2)
    drawn = chart(pooled, "d", "min_max")
    assert drawn.title == "Min-max score by period, d"
    assert drawn.caption == (
        "10 probes of 2 episodes a period; 95 % intervals over episodes; "
        "measured against all that was run in the domain"
    )
    standard = scores_of("min_max", deviation=0.2)
    assert chart([*pooled, *standard], "d", "min_max") == chart(standard, "d", "min_max")
