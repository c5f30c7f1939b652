"""A file of 20 dialogues with 60 questions, from `init` to the report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memflow
from memflow.cli import app

SAMPLE = Path(memflow.__file__).parent / "benchmarks/dialogues/sample/dialogues.jsonl"
pytestmark = pytest.mark.pipeline


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Return a function that runs a command in the folder of `mine.jsonl` and returns its JSON answer."""
    for name in ("MEMFLOW_SETTINGS", "MEMFLOW_DATA", "MEMFLOW_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "mine.jsonl").write_bytes(SAMPLE.read_bytes())

    def call(*arguments: str) -> Any:
        result = CliRunner().invoke(app, [*arguments, "--format", "json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return call


def test_file_of_dialogues_is_checked_run_shown_and_reported(
    command: Callable[..., Any], tmp_path: Path
) -> None:
    assert command("data", "check", "mine.jsonl")["problems"] == []
    found = command("init", "--data", "mine.jsonl")
    assert (found["domain"], found["dialogues"], found["questions"]) == ("mine", 20, 60)
    command("run", "--memory", "full", "--memory", "bm25_message")
    scores = {
        (row["assistant"], row["metric"], row["slice"]): row
        for row in command("show", "leaderboard", "--domain", "mine")["scores"]
    }
    every = scores["oracle", "answer_score", "all"]
    assert every["value"] == 1.0 and every["n"] == 60 and every["coverage"] == 1.0
    assert scores["full", "answer_score", "all"]["value"] > scores["none", "answer_score", "all"]["value"]
    parts = {metric: row["n"] for (name, metric, of), row in scores.items() if (name, of) == ("full", "all")}
    own = ("accuracy", "exact_match", "answer_f1", "answer_rouge_l", "judged_correct", "abstention")
    assert sum(parts[metric] for metric in own) == 60
    slices = command("show", "leaderboard", "--metric", "answer_score", "--assistant", "full", "--slices")[
        "scores"
    ]
    assert sum(row["n"] for row in slices if row["slice"].startswith("category ")) == 60
    assert_questions_see_only_what_was_said_before(command)
    command("report", "results")
    assert (tmp_path / "results/index.html").is_file()
    again = command("run", "--memory", "full", "--memory", "bm25_message")["runs"]
    assert (again["done"], again["failed"]) == (0, [])


def assert_questions_see_only_what_was_said_before(command: Callable[..., Any]) -> None:
    """Assert that the recalled messages of questions between messages contain nothing later."""
    asked = {"oscar_bike/q3": "flea market", "leila_move/q3": "crane", "mara_allotment/q3": "plot 31"}
    for name, later in asked.items():
        shown = command("show", "probe", name, "--domain", "mine", "--assistant", "full")
        [answered] = shown["answered"]
        assert answered["recalled"] and later not in json.dumps(answered["messages"]), name
