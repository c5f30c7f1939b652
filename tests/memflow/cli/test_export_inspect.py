"""`memflow export inspect`: logs that Inspect reads, what has no value, equal files, and error messages."""

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import factories
import pytest

from memflow.operations.inspect_logs import _served, portable
from memflow.resources.settings.settings import load

DOMAIN = "amemgym_demo~1"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("q/1", "q_1"), ("a\x00\n/..", "a___"), (" .", "unknown"), ("qwen3:8b", "qwen3_8b")],
)
def test_ids_of_probes_become_names_of_files(name: str, expected: str) -> None:
    assert portable(name) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"model": "gpt-4o-mini", "url": "http://gateway/v1"}, "gpt-4o-mini"),
        ({"model": "small", "kind": "scripted"}, "memflow/small"),
        (None, "Qwen/Qwen3-8B"),
    ],
)
def test_model_has_the_name_of_its_server(tmp_path: Path, model: Any, expected: str) -> None:
    settings = load(over={"home": tmp_path, "models": {"small": model} if model else {}})
    score = factories.score(model="small")
    assert _served(settings, score, {"assistant_model": "Qwen/Qwen3-8B"}) == expected


def test_export_without_results_says_what_to_do(empty: Any, measured: Any, tmp_path: Path) -> None:
    assert "Create one with `memflow run --demo`" in empty.error("export", "inspect", str(tmp_path / "out"))
    wrong = measured.error("export", "inspect", str(tmp_path / "out"), "--assistant", "ful")
    assert "Did you mean full" in wrong
    assert not (tmp_path / "out").exists()


def test_logs_are_read_by_inspect(measured: Any, tmp_path: Path) -> None:
    log = pytest.importorskip(
        "inspect_ai.log", reason="needs inspect_ai: pip install 'memflow-bench[inspect]'"
    )
    files = measured.json("export", "inspect", str(tmp_path / "logs"))["files"]
    assert len(files) == 4 and files == measured.json("export", "inspect", str(tmp_path / "logs"))["files"]
    for read in map(log.read_eval_log, files):
        memory = read.eval.task_args["memory_system"]
        scores = measured.json("show", "leaderboard", "--assistant", memory)["scores"]
        of_run = (read.status, read.eval.task, read.eval.model)
        assert of_run == ("success", f"memflow/{DOMAIN}", "memflow/scripted")
        assert read.eval.tags == ["scripted"] and "sample of 1" in read.eval.metadata["labels"]
        assert len(read.samples) == read.results.total_samples > 0
        values = {score.name: score.metrics["score"].value for score in read.results.scores}
        assert len(values) == sum(row["value"] is not None for row in scores)
        assert values["accuracy"] == next(row["value"] for row in scores if row["metric"] == "accuracy")
        graded = [sample.scores["accuracy"].value for sample in read.samples if "accuracy" in sample.scores]
        assert sum(graded) / len(graded) == pytest.approx(values["accuracy"])


def test_question_without_a_verdict_is_unscored_with_its_reason(measured: Any, tmp_path: Path) -> None:
    log = pytest.importorskip(
        "inspect_ai.log", reason="needs inspect_ai: pip install 'memflow-bench[inspect]'"
    )
    home = type(measured)(Path(shutil.copytree(measured.folder, tmp_path / "copy")))
    key = f"{DOMAIN}/full"
    first, *rows = home.lake.read("score.verdicts", key)
    lost = replace(first, value=None, reason="no answer")
    home.write("score.verdicts", key, [lost, *rows], **home.lake.facts("score.verdicts", key).meta)
    [file] = home.json("export", "inspect", str(tmp_path / "logs"), "--assistant", "full")["files"]
    unscored = [score for sample in log.read_eval_log(file).samples for score in sample.scores.values()]
    assert [score.explanation for score in unscored if math.isnan(score.value)] == ["no answer"]


def test_inspect_without_its_package_names_the_command(measured: Any, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai", None)
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    assert "pip install 'memflow-bench[inspect]'" in measured.error("export", "inspect", str(tmp_path))
