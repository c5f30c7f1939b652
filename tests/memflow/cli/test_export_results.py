"""`memflow export eee` and `inspect`: valid records and logs, what is left out, equal files, and error messages."""

import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import factories
import jsonschema
import pytest

from memflow.operations.exported_results import _served, portable, portable_id
from memflow.resources.settings.settings import load

INTEROP = Path(os.environ.get("MEMFLOW_DATA", "missing")) / "interop"
VALIDATOR = shutil.which("every_eval_ever")
needs_schemas = pytest.mark.skipif(not INTEROP.is_dir(), reason="needs interop in MEMFLOW_DATA")
DOMAIN = "amemgym_demo~1"


def exported(
    home: Any, folder: Path, *options: str
) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """Return the records and their samples by memory that a command writes."""
    told = home.json("export", "eee", str(folder), *options)
    records, samples = {}, {}
    for file in told["files"]:
        if file.endswith(".json"):
            record = json.loads(Path(file).read_text(encoding="ascii"), parse_constant=pytest.fail)
            memory = record["model_info"]["additional_details"]["memory_system"]
            records[memory] = record
            lines = Path(file.replace(".json", "_samples.jsonl"))
            samples[memory] = [*map(json.loads, lines.read_text().splitlines())] if lines.exists() else []
    return records, samples


@pytest.fixture(scope="module")
def records(measured: Any, tmp_path_factory: pytest.TempPathFactory):
    return exported(measured, tmp_path_factory.mktemp("eee"))


@pytest.fixture
def changed(measured: Any, tmp_path: Path) -> Callable[..., Any]:
    """Return a function that returns a copy of the home in which `change` replaced the first row of a table."""

    def copy(table: str, change: Callable[[Any], Any]) -> Any:
        home = type(measured)(Path(shutil.copytree(measured.folder, tmp_path / "copy", dirs_exist_ok=True)))
        key = f"{DOMAIN}/full"
        first, *rows = home.lake.read(table, key)
        home.write(table, key, [change(first), *rows], **home.lake.facts(table, key).meta)
        return home

    return copy


def validators() -> tuple[Any, Any]:
    """Return the validators of records and of samples."""
    files = [
        INTEROP / f"every_eval_ever-0.3.0.{kind}.schema.json" for kind in ("eval", "instance_level_eval")
    ]
    aggregate, instance = (jsonschema.Draft7Validator(json.loads(file.read_text())) for file in files)
    return aggregate, instance


@needs_schemas
def test_records_and_samples_are_valid_by_the_published_schemas(records) -> None:
    aggregate, instance = validators()
    for memory, record in records[0].items():
        assert not [*aggregate.iter_errors(record)]
        assert not [error for line in records[1][memory] for error in instance.iter_errors(line)]


@pytest.mark.skipif(VALIDATOR is None, reason="needs the program every_eval_ever, for Python 3.12 or later")
def test_the_validator_of_every_eval_ever_accepts_all_files(measured: Any, tmp_path: Path) -> None:
    exported(measured, tmp_path)
    files = [str(path) for path in tmp_path.rglob("*.json*")]
    assert len(files) == 8
    done = subprocess.run([str(VALIDATOR), "validate", *files], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_records_have_the_scores_with_interval_n_and_labels(measured: Any, records) -> None:
    for memory, record in records[0].items():
        scores = measured.json("show", "leaderboard", "--assistant", memory)["scores"]
        values = {row["evaluation_name"]: row["score_details"] for row in record["evaluation_results"]}
        for score in scores:
            name = f"{DOMAIN} {score['metric']}" + f" ({score['variant']})" * (score["variant"] != "standard")
            assert (name in values) == (score["value"] is not None)
            if name in values:
                details = values[name]["details"]
                assert values[name]["score"] == score["value"]
                assert values[name]["uncertainty"]["num_samples"] == score["n"]
                interval = values[name]["uncertainty"].get("confidence_interval", {})
                assert (interval.get("lower"), interval.get("upper")) == (score["low"], score["high"])
                assert (
                    "sample of 1" in details["labels"]
                    and "scripted, not a language model" in details["labels"]
                )
        details = record["model_info"]["additional_details"]
        assert details["scripted"] == "yes"
        assert int(details["left_out_scores"]) == sum(score["value"] is None for score in scores)


def test_two_memories_with_one_model_have_their_own_names_and_files(records) -> None:
    of_memory = [records[0][memory] for memory in ("none", "oracle", "full", "awi")]
    assert {record["model_info"]["id"] for record in of_memory} == {"memflow/scripted"}
    for key in (lambda record: record["model_info"]["name"], lambda record: record["evaluation_id"]):
        assert len({*map(key, of_memory)}) == 4
    paths = {record["detailed_evaluation_results"]["file_path"] for record in of_memory}
    assert len(paths) == 4 and {path.rpartition("/")[0] for path in paths} == {
        f"data/{DOMAIN}/memflow/scripted"
    }


def test_a_second_export_writes_equal_files(measured: Any, tmp_path: Path) -> None:
    exported(measured, tmp_path)
    first = {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}
    exported(measured, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json*")} == first


def test_a_question_without_a_verdict_is_left_out_and_counted(changed, records, tmp_path: Path) -> None:
    home = changed("score.verdicts", lambda verdict: replace(verdict, value=None, reason="no answer"))
    verdict = home.lake.read("score.verdicts", f"{DOMAIN}/full")[0]
    now, lines = exported(home, tmp_path / "out", "--assistant", "full")
    assert len(lines["full"]) == len(records[1]["full"]) - 1
    counts = [row["score_details"]["details"]["left_out"] for row in now["full"]["evaluation_results"]]
    names = [row["evaluation_name"] for row in now["full"]["evaluation_results"]]
    assert counts[names.index(f"{DOMAIN} {verdict.metric}")] == "1"


@needs_schemas
def test_control_characters_of_answers_stay_in_valid_samples(changed, tmp_path: Path) -> None:
    text = "a\x00b\x1b[2J\u2028c\\{%}\n"
    home = changed("answer.replies", lambda reply: replace(reply, text=text, parsed=None))
    _, lines = exported(home, tmp_path / "out", "--assistant", "full")
    assert text in [line["output"]["raw"][0] for line in lines["full"]]
    assert not [error for line in lines["full"] for error in validators()[1].iter_errors(line)]


def test_no_samples_and_the_names_of_model_and_organization(measured: Any, tmp_path: Path) -> None:
    names = ("--model-id", "ACME/small:1b", "--organization", "ACME Lab")
    records, samples = exported(measured, tmp_path, "--no-samples", *names)
    assert not any(samples.values()) and len([*tmp_path.rglob("data/*/ACME/small_1b/*.json")]) == 4
    assert "detailed_evaluation_results" not in records["full"]
    assert records["full"]["source_metadata"]["source_organization_name"] == "ACME Lab"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-4.1-mini", "unknown/gpt-4.1-mini"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("openrouter/meta/llama", "openrouter/meta/llama"),
        ("qwen3:8b", "unknown/qwen3_8b"),
        ("/home/me/weights/llama", "unknown/llama"),
        ("data/con.", "data_/con_"),
        ("a\x00\n/..", "a__/unknown"),
        ("", "unknown/unknown"),
    ],
)
def test_model_names_become_names_of_folders(name: str, expected: str) -> None:
    assert portable_id(name) == expected
    assert portable(name.replace("/", "_")) not in ("", ".", "..", "data")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            {"model": "gpt-4o-mini", "url": "https://api.openai.com/v1"},
            ("openai/gpt-4o-mini", "externally_managed"),
        ),
        ({"model": "gpt-4o-mini", "url": "http://gateway/v1"}, ("gpt-4o-mini", "unknown")),
        ({"model": "Qwen/Qwen3-8B", "kind": "vllm"}, ("Qwen/Qwen3-8B", "self_deployed")),
        (None, ("Qwen/Qwen3-8B", "unknown")),
    ],
)
def test_model_has_the_name_of_its_server(tmp_path: Path, model: Any, expected: tuple[str, str]) -> None:
    settings = load(over={"home": tmp_path, "models": {"small": model} if model else {}})
    score = factories.score(model="small")
    assert _served(settings, score, {"assistant_model": "Qwen/Qwen3-8B"}) == expected


@pytest.mark.parametrize("form", ["eee", "inspect"])
def test_export_without_results_says_what_to_do(empty: Any, measured: Any, tmp_path: Path, form: str) -> None:
    assert "Create one with `memflow run --demo`" in empty.error("export", form, str(tmp_path / "out"))
    wrong = measured.error("export", form, str(tmp_path / "out"), "--assistant", "ful")
    assert "Did you mean full" in wrong or "full" in wrong
    assert not (tmp_path / "out").exists()


def test_inspect_logs_are_read_by_its_reader(measured: Any, changed, tmp_path: Path) -> None:
    log = pytest.importorskip(
        "inspect_ai.log", reason="needs inspect_ai: pip install 'memflow-bench[inspect]'"
    )
    files = measured.json("export", "inspect", str(tmp_path / "logs"))["files"]
    assert len(files) == 4 and files == measured.json("export", "inspect", str(tmp_path / "logs"))["files"]
    for read in map(log.read_eval_log, files):
        memory = read.eval.task_args["memory_system"]
        scores = measured.json("show", "leaderboard", "--assistant", memory)["scores"]
        assert (read.status, read.eval.task, read.eval.model) == (
            "success",
            f"memflow/{DOMAIN}",
            "memflow/scripted",
        )
        assert read.eval.tags == ["scripted"] and len(read.samples) == read.results.total_samples > 0
        values = {score.name: score.metrics["score"].value for score in read.results.scores}
        assert values["accuracy"] == next(row["value"] for row in scores if row["metric"] == "accuracy")
        graded = [sample.scores["accuracy"].value for sample in read.samples if "accuracy" in sample.scores]
        assert sum(graded) / len(graded) == pytest.approx(values["accuracy"])
    home = changed("score.verdicts", lambda verdict: replace(verdict, value=None, reason="no answer"))
    [file] = home.json("export", "inspect", str(tmp_path / "changed"), "--assistant", "full")["files"]
    unscored = [score for sample in log.read_eval_log(file).samples for score in sample.scores.values()]
    assert [score.explanation for score in unscored if math.isnan(score.value)] == ["no answer"]


def test_inspect_without_its_package_names_the_command(measured: Any, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai", None)
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    assert "pip install 'memflow-bench[inspect]'" in measured.error("export", "inspect", str(tmp_path))
