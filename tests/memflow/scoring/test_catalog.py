"""The catalog declares every metric once. The leaderboard, the SQL view and the documentation use it."""

from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
from factories import probe, score
from typer.testing import CliRunner

from memflow.benchmarks.memorybench.scorers.registry import scorer_of
from memflow.benchmarks.memorybench.scorers.scorer import ScoringContext
from memflow.benchmarks.memorybench.tasks.catalog import PRIMARY, TASKS
from memflow.cli import app
from memflow.errors import BadInput, BadSettings
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.warehouse import Warehouse
from memflow.scoring.catalog import (
    ACCURACY,
    SHARED,
    catalog,
    find_metric,
    in_range,
    unusable_metrics,
)
from memflow.scoring.collection import collect
from memflow.scoring.metric import Metric

OWN = Metric("brevity", "Brevity", "higher", "Share of short answers.")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home whose leaderboard has a worse and a better assistant and one without a value, in this order."""
    home = tmp_path_factory.mktemp("planted")
    rows = []
    for each in catalog().values():
        low = -1.0 if each.low is None else each.low
        values = {"a_worse": low, "b_better": low + 0.5}
        if each.direction == "lower":
            values = {"a_worse": low + 0.5, "b_better": low}
        for name, value in ({"0_none": None} | values).items():
            rows.append(score(assistant=name, memory=name, metric=each.name, value=value))
    Lake(home / "lake").write("score.leaderboard", "all", rows, fingerprint="test")
    return home


def expected(each: Metric) -> list[str]:
    by_name = ["0_none", "a_worse", "b_better"]
    return by_name if each.direction == "neither" else by_name[::-1]


def test_leaderboard_lists_the_best_score_first_for_every_metric(planted: Path) -> None:
    warehouse = Warehouse(Lake(planted / "lake"), planted / "m.duckdb")
    rows = warehouse.query("leaderboard")
    assert warehouse.query("leaderboard", metric="cli") == [row for row in rows if row["metric"] == "cli"]
    for name, metric in catalog().items():
        arguments = ["--home", str(planted), "show", "leaderboard", "--metric", name]
        shown = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}).stdout
        names = [word for line in shown.splitlines() for word in line.split() if word in expected(OWN)]
        assert names == expected(metric), name
        assert [row["memory"] for row in rows if row["metric"] == name] == expected(metric), name


def test_published_file_contains_the_metric_catalog(planted: Path) -> None:
    warehouse = Warehouse(Lake(planted / "lake"), planted / "memflow.duckdb")
    held = {row["metric"]: row for row in warehouse.sql("FROM score.metrics")}
    assert held.keys() == catalog().keys()
    assert held["memory_score"]["low"] is None and held["capacity"]["unit"] == "tokens"
    assert warehouse.publish().is_file()


def test_every_benchmark_without_open_questions_only_has_accuracy_as_a_primary_metric() -> None:
    primary: dict[str, set[str]] = {}
    for each in catalog().values():
        for benchmark in each.primary_for:
            primary.setdefault(benchmark, set()).add(each.name)
    assert catalog()["accuracy"].primary_for == primary.keys() - {"locomo", "beam", "halumem"}
    assert primary["memoryagentbench"] == {
        *("accuracy", "substring_exact_match", "normalized_exact_match", "summary_f1", "title_recall_at_5")
    }
    assert primary["beam"] == {"beam_corrected", "beam_published"}
    assert primary["halumem"] == {"extraction_recall", "update_correct", "answer_correct"}
    assert primary["locomo"] == {"j_2025", "j_2026", "j_strict", "j_recorded", "locomo_f1"}
    assert primary["memorybench"] == {*PRIMARY, "min_max", "z_score"}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("quality", 5, True), ("quality", 6, False), ("quality", 0.9, False), ("quality", None, True),
        ("rouge_l", 1.0000001, True), ("rouge_l", 1.1, False), ("cli", -3.5, True), ("fkgl", 40, True),
        ("bertscore[words,L1]", -0.5, True), ("checklist", 0, True), ("undeclared", 0.5, False),
    ],
)  # fmt: skip
def test_in_range_returns_true_only_for_values_in_the_range_of_the_metric(
    name: str, value: float | None, expected: bool
) -> None:
    assert in_range(name, value) is expected


def test_find_metric_rejects_an_undeclared_metric() -> None:
    with pytest.raises(BadInput, match=r"metric 'beauty' is not in the catalog.*Declare it"):
        find_metric("beauty")


def test_benchmarks_may_share_a_metric_only_with_equal_definitions() -> None:
    points = [point("one", [OWN.primary_in("one")]), point("two", [OWN, ACCURACY.primary_in("two")])]
    found = collect(SHARED, points)
    assert found.metrics["brevity"].primary_for == {"one"} and found.metrics["accuracy"].primary_for == {
        "two"
    }
    found = collect(SHARED, [point("one", [OWN]), point("two", [replace(OWN, direction="lower")])])
    [clash] = found.unusable
    assert found.metrics["brevity"] == OWN and (clash.name, clash.declared_by) == ("brevity", "two")
    assert clash.reason.startswith("one defines the metric 'brevity' differently; rename the metric")
    assert unusable_metrics() == ()


class Point(EntryPoint):
    """An entry point of an imaginary package."""

    loaded: object = None

    def load(self) -> object:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


def point(name: str, loaded: object) -> Point:
    made = Point(name, f"package.{name}:METRICS", "memflow.metrics")
    vars(made).update(loaded=loaded, dist=SimpleNamespace(name="package", version="1.0"))
    return made


def test_metric_catalog_adds_metrics_of_entry_points_and_reports_invalid_metrics() -> None:
    points = [
        point("good", [OWN, replace(OWN, name="wit")]),
        point("one", replace(OWN, name="charm")),
        point("clash", replace(ACCURACY, direction="lower")),
        point("broken", ImportError("no module named nltk")),
        point("wrong", [1]),
    ]
    found = collect(SHARED, points)
    assert found.from_plugins == ("brevity", "wit", "charm") and found.metrics["accuracy"] == ACCURACY
    assert {each.name: (each.package, each.reason) for each in found.unusable} == {
        "accuracy": (
            "package 1.0",
            "memflow defines the metric 'accuracy' differently; rename the metric, or use the existing definition",
        ),
        "broken": (
            "package 1.0",
            "cannot load the metrics of package.broken:METRICS: ImportError: no module named nltk. Fix this module.",
        ),
        "wrong": (
            "package 1.0",
            "package.wrong:METRICS contains 1, which is not a Metric. Use a Metric or an iterable of Metric.",
        ),
    }


def test_every_memorybench_metric_is_declared_in_the_catalog() -> None:
    named = {
        name.partition("[")[0]
        for task in TASKS.values()
        for name, _ in scorer_of(task).metric_keys(
            probe(dataset=task.name, metric=task.metric), ScoringContext(published=True)
        )
    }
    assert named <= catalog().keys()


def test_metric_rejects_an_unknown_direction_and_an_empty_range() -> None:
    with pytest.raises(BadSettings, match=r"unknown direction 'up'\. Use one of: higher, lower, neither"):
        Metric("x", "X", "up")  # type: ignore[arg-type]
    with pytest.raises(BadSettings, match=r"range 1\.0 to 1.0 is empty"):
        Metric("x", "X", "higher", low=1.0)
