"""The demo: the whole graph on two domains, and the values of its scores.

The demo runs once for all tests of this module; each test restores what it changes. Tests that run much more of the
pipeline are marked `pipeline`.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from typer.testing import CliRunner

from memflow.chat.scripted import LABEL
from memflow.cli import app
from memflow.operations.planned_runs import Outcome
from memflow.operations.retrieval_only import demo_retrieval
from memflow.operations.selection import DEMO_MEMORIES, demo_domains
from memflow.pipeline import WRITERS, tables_of
from memflow.records import BY_EVIDENCE, MEASURED, RECALL_AT_10, TABLES, columns
from memflow.resources.instance.instance import open_instance
from memflow.resources.lake.facts import VERSIONS
from memflow.resources.lake.lake import Lake
from memflow.scoring.attribution import NO_EVIDENCE
from memflow.scoring.catalog import EFFICIENCY_NAMES

DEMO = AMEMGYM, MEMORYBENCH = demo_domains()
ASSISTANTS = DEMO_MEMORIES
MEASURED_ALONE = demo_retrieval()
"""The domain and the memories whose retrieval is measured without answers."""
RETRIEVED = MEASURED_ALONE[0][0]
METRICS = {AMEMGYM: ("accuracy",), MEMORYBENCH: ("locomo_f1", "rouge_l")}
JUDGED = ("checklist", "quality")
"""What a judge says, of two cases each: too few to tell the memories apart."""
RETRIEVAL = ("bm25_message", "embed_message", "rag_2_4_30")
EMPTY = {
    # MemoryBench has no states, and AMemGym learns from no feedback; nobody has to say what is right for either; the
    # bounds live through nothing, and no memory of the demo evolves, or has the training dialogues itself;
    # one publication has no drift.
    MEMORYBENCH: {
        *("state.profiles", "state.variables", "state.changes", "state.entities"),
        *("question.keys", "memory.policies", "memory.feedback", "score.claims", "score.calibrations"),
    },
    RETRIEVED: {
        *("state.profiles", "state.variables", "state.changes", "state.entities"),
        *("question.keys", "feedback.sessions", "memory.policies", "memory.feedback", "score.calibrations"),
    },
    AMEMGYM: {
        *("state.entities", "question.keys", "feedback.sessions", "memory.policies", "memory.feedback"),
        "score.calibrations",
    },
    "none": {"memory.transcripts", "memory.indexes", "score.claims"},
    "oracle": {"memory.transcripts", "memory.indexes", "score.claims"},
    "all": {"score.drift"},
}

BOUNDS = ("none", "oracle")

Contents = Callable[[Path], dict[str, str]]
RunPipeline = Callable[..., Outcome]


@dataclass(frozen=True)
class Demo:
    """A home in which the demo was run, and the output of the run."""

    home: Path
    summary: dict[str, Any]
    progress: str

    @property
    def lake(self) -> Lake:
        return Lake(self.home / "lake")

    def score(self, domain: str, assistant: str, metric: str) -> dict[str, Any]:
        """Return the score of an assistant over all probes."""
        wanted = (domain, assistant, metric, "standard", "all")
        names = ("domain", "assistant", "metric", "variant", "slice")
        [found] = [row for row in self.summary["leaderboard"] if tuple(row[name] for name in names) == wanted]
        return found

    def value(self, domain: str, assistant: str, metric: str) -> float:
        return self.score(domain, assistant, metric)["value"]


def command(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "memflow.cli", "--home", str(home), "run", "--demo", *arguments]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [name for name in os.environ if name.startswith("MEMFLOW_")]:
            patch.delenv(name)
        ended = CliRunner().invoke(app, [*command(folder / "home")[3:], "--format", "json"])
    assert ended.exit_code == 0, ended.output
    return Demo(folder / "home", json.loads(ended.stdout), ended.stderr)


def times(home: Path) -> dict[str, int]:
    """Return the modification time of each file of the lake."""
    lake = Path(Lake(home / "lake").root)
    return {str(path.relative_to(lake)): path.stat().st_mtime_ns for path in lake.rglob("*.parquet")}


def ledger_rows(home: Path) -> dict[str, int]:
    """Return the number of rows of each ledger table."""
    with sqlite3.connect(home / "ledger.sqlite") as connection:
        return {
            table: connection.execute(f"select count(*) from {table}").fetchone()[0]
            for table in ("completions", "uses", "failures")
        }


def run_names(outcome: Outcome) -> list[str]:
    return [run.name for run in outcome.ran]


def test_demo_runs_are_stored_in_the_dagster_instance_of_the_ui(demo: Demo) -> None:
    with open_instance(demo.home) as opened:
        # The timeline and the pages of jobs filter by this tag.
        runs = opened.instance.get_runs(dg.RunsFilter(tags={".dagster/repository": "__repository__@memflow"}))
        made = opened.instance.get_materialized_partitions(dg.AssetKey(["score", "verdicts"]))
    assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}
    assert Counter(run.job_name for run in runs) == {
        "ingest_datasets": 3,
        "generate_domain": 3,
        "evaluate_memory": 2 * len(ASSISTANTS),
        "measure_rankings": len(MEASURED_ALONE),
        "publish_leaderboard": 1,
    }
    # Dagster writes the dimensions of a partition in the order of their names.
    assert made == {f"{assistant}|{domain}" for assistant in ASSISTANTS for domain in DEMO}
    assert demo.summary["runs"] == {"done": len(runs), "up_to_date": 0, "failed": [], "skipped": []}


def test_demo_fills_every_table_except_the_expected_empty_tables(demo: Demo) -> None:
    held = {
        (table, partition): demo.lake.facts(table, partition).rows
        for table in TABLES
        for partition in demo.lake.partitions(table)
    }
    requested = {table for table in TABLES if WRITERS[table].on_request} - {"score.rankings"}
    assert {table for table, _ in held} == {*TABLES} - requested
    for (table, partition), rows in held.items():
        domain, _, assistant = partition.partition("/")
        empty = table in EMPTY.get(domain, ()) or table in EMPTY.get(assistant, ())
        assert (rows == 0) == empty, f"{table} of {partition} has {rows} rows"


def is_evidence_or_efficiency_score(row: dict[str, Any]) -> bool:
    """Return whether the score is about evidence, writes or reads, which the bounds do not have."""
    named = (RECALL_AT_10, *EFFICIENCY_NAMES)
    return row["metric"].startswith("evidence") or row["metric"] in named or row["variant"] == BY_EVIDENCE


def test_demo_scores_have_full_coverage_and_only_expected_reasons(demo: Demo) -> None:
    lost = Counter(
        (table, partition, each.reason)
        for table, row in TABLES.items()
        if "reason" in row.__dataclass_fields__ and table not in (*tables_of("all"), "score.health")
        for partition in demo.lake.partitions(table)
        for each in demo.lake.read(table, partition)
        if each.reason
    )
    # Nothing but what does not apply: the bounds recall nothing, and not every probe has evidence.
    assert {table for table, _, _ in lost} == {"score.attributions"}
    for _, partition, reason in lost:
        bound = partition.endswith(BOUNDS)
        assert ("recalls nothing" in reason) if bound else reason == NO_EVIDENCE, (partition, reason)
    assert all(
        row["coverage"] == 1
        for row in demo.summary["leaderboard"]
        if row["slice"] == "all" and not is_evidence_or_efficiency_score(row)
    )


def test_memory_none_scores_at_chance_level_in_the_demo(demo: Demo) -> None:
    accuracy = demo.score(AMEMGYM, "none", "accuracy")
    assert accuracy["low"] <= demo.value(AMEMGYM, "none", "random") <= accuracy["high"]
    score = demo.score(AMEMGYM, "none", "memory_score")
    assert score["low"] <= 0 <= score["high"]
    # Open answers have no chance level: knowing nothing, one is right in nothing.
    for metric in METRICS[MEMORYBENCH]:
        assert demo.value(MEMORYBENCH, "none", metric) == min(
            demo.value(MEMORYBENCH, assistant, metric) for assistant in ASSISTANTS
        )


def test_oracle_answers_every_demo_question(demo: Demo) -> None:
    assert demo.value(AMEMGYM, "oracle", "accuracy") == 1
    assert demo.value(AMEMGYM, "oracle", "memory_score") == 1


@pytest.mark.parametrize(
    ("domain", "metric"), [(domain, metric) for domain in DEMO for metric in METRICS[domain]]
)
def test_demo_scores_of_memories_lie_between_none_and_oracle(demo: Demo, domain: str, metric: str) -> None:
    def value(assistant: str) -> float:
        return demo.value(domain, assistant, metric)

    assert value("none") < value("recent") <= value("oracle")
    # AMemGym's users change little in the last messages, which `recent` keeps; MemoryBench's corpora are long.
    least = "none" if domain == AMEMGYM else "recent"
    for memory in (*RETRIEVAL, "full"):
        assert value(least) < value(memory) <= value("oracle"), memory
    # What retrieval finds can serve better than everything at once, where there is much to be led astray by
    # (MemoryBench's corpus); AMemGym's users fit into the prompt whole, and there nothing beats it.
    if domain == AMEMGYM:
        assert max(value(memory) for memory in RETRIEVAL) <= value("full")


@pytest.mark.parametrize("metric", JUDGED)
def test_demo_scores_of_the_judge_lie_between_none_and_oracle(demo: Demo, metric: str) -> None:
    values = {assistant: demo.value(MEMORYBENCH, assistant, metric) for assistant in ASSISTANTS}
    assert values["none"] == min(values.values()) < values["full"] <= values["oracle"] == max(values.values())


def test_demo_has_no_failures_for_oracle_and_no_read_failures_for_memory_none(demo: Demo) -> None:
    for kind in ("write_failure", "read_failure", "utilization_failure"):
        assert demo.value(AMEMGYM, "oracle", kind) == 0
    # What is not kept cannot have been read wrongly.
    assert demo.value(AMEMGYM, "none", "read_failure") == 0
    assert demo.value(AMEMGYM, "none", "write_failure") > demo.value(AMEMGYM, "recent", "write_failure")


def test_every_demo_score_is_marked_as_scripted(demo: Demo) -> None:
    assert demo.summary["leaderboard"]
    assert all(row["scripted"] and row["model"] == "scripted" for row in demo.summary["leaderboard"])
    assert demo.summary["label"] == LABEL


def test_demo_memories_are_healthy(demo: Demo) -> None:
    rows = [
        row
        for partition in demo.lake.partitions("score.health")
        for row in demo.lake.read("score.health", partition)
    ]
    assert {row.assistant for row in rows} == set(ASSISTANTS)
    assert {row.state for row in rows} == {"ok", "not measurable"}
    assert all((row.reason is None) == (row.state == "ok") for row in rows)


def test_every_demo_score_has_a_value_with_counts_or_a_reason(demo: Demo) -> None:
    for row in demo.summary["leaderboard"]:
        assert row["value"] is not None or row["reason"]
        unranked = row["metric"] == RECALL_AT_10 and row["assistant"] not in RETRIEVAL
        if not (unranked or (row["assistant"] in BOUNDS and is_evidence_or_efficiency_score(row))):
            assert row["n"] > 0
            assert row["n_episodes"] > 0
        if row["value"] is not None:
            assert (row["low"] is None) == (row["interval_reason"] is not None), row
        if row["low"] is not None:
            assert row["low"] <= row["value"] <= row["high"]


def test_demo_run_prints_progress_and_usage(demo: Demo) -> None:
    runs = demo.summary["runs"]["done"]
    assert f"[{runs}/{runs}] publish_leaderboard: done" in demo.progress
    asked = sum(row["requests"] for row in demo.summary["usage"])
    assert asked == ledger_rows(demo.home)["completions"]
    assert sum(row["failed"] for row in demo.summary["usage"]) == 0


@pytest.mark.pipeline
def test_demo_tables_are_equal_in_another_home_and_process(
    demo: Demo, contents: Contents, own_environment: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere"
    subprocess.run(
        command(other),
        env={**own_environment, "PYTHONHASHSEED": "2"},
        check=True,
        capture_output=True,
        timeout=600,
    )
    assert contents(demo.home) == contents(other)


def test_second_demo_run_sends_no_requests_and_writes_no_files(
    demo: Demo, own_environment: dict[str, str]
) -> None:
    before = times(demo.home), ledger_rows(demo.home)
    second = subprocess.run(
        command(demo.home),
        env=own_environment,
        cwd=demo.home.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
    )
    assert (times(demo.home), ledger_rows(demo.home)) == before
    text = second.stdout
    assert f"The chat here was {LABEL}." in text
    assert f"0 runs done, {demo.summary['runs']['done']} up to date, 0 failed." in text
    assert str(demo.home / "memflow.duckdb") in text
    for domain in DEMO:
        assert domain in text
    for assistant in ASSISTANTS:
        # In the scores, in the failures by evidence, on AMemGym in those by state probes, and in the retrieval.
        in_retrieval = assistant in ("bm25_message", "embed_message")
        assert text.count(f"\n{assistant} ") == 2 * len(DEMO) + 1 + in_retrieval


def test_deleted_partition_is_rebuilt_from_the_ledger(
    demo: Demo, run_in: RunPipeline, contents: Contents
) -> None:
    whole, before, asked = contents(demo.home), times(demo.home), ledger_rows(demo.home)["completions"]

    def lake_file(table: str) -> str:
        return f"{table.replace('.', '/')}/{AMEMGYM},full.parquet"

    (Path(demo.lake.root) / lake_file("memory.indexes")).unlink()
    outcome = run_in(demo.home, DEMO, ASSISTANTS)
    # Everything downstream of a partition in its run is made with it; what it made is what was there, so the
    # leaderboard, which rests on contents, is left alone.
    assert run_names(outcome) == [f"evaluate_memory {AMEMGYM} · full"]
    written = {name for name, time in times(demo.home).items() if time != before.get(name)}
    kept = {name for name in written if name.startswith(f"{VERSIONS}/")}
    assert written - kept == {lake_file(table) for table in tables_of("domain x assistant")}
    # The former rows are kept only where measured times differ; all other columns are equal.
    measured = {table for table in TABLES if any(column.name in MEASURED for column in columns(table))}
    assert {f"{Path(name).parent.relative_to(VERSIONS)}.parquet" for name in kept} <= {
        lake_file(table) for table in measured
    }
    assert contents(demo.home) == whole
    assert ledger_rows(demo.home)["completions"] == asked


def test_partitions_stay_up_to_date_in_a_copied_home(demo: Demo, run_in: RunPipeline, tmp_path: Path) -> None:
    """Fingerprints do not depend on the location of the home folder."""
    home = tmp_path / "moved"
    shutil.copytree(demo.home, home)
    assert run_in(home, DEMO, ASSISTANTS).ran == []
