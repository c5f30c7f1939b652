"""`memflow import results`: from a recorded run to the leaderboard, with its label, and the error messages."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest
from amemgym_runs import KEY, failure_rates, read_json, write_run

from memflow.assets.partitions import pair
from memflow.resources.instance.instance import open_instance

ASSISTANT = "imported_awi@small-model"
SETTINGS = """\
domains = ["mine"]

[own_datasets.run]
benchmark = "amemgym"
files = ["{0}/*/overall_results.json", "{0}/*/diagnosis_results.json", "{0}/*/interactions/period_*.json"]

[own_domains.mine]
benchmark = "amemgym"
datasets = ["run"]
parameters = {{ policy = "off", periods = 3, questions = 2 }}
"""


@pytest.fixture
def run(empty, published_users: Callable[..., Path], tmp_path: Path) -> SimpleNamespace:
    """Return a home whose settings have a domain of a recorded run, and the run's folder."""
    users = read_json(published_users(tmp_path / "data") / "amemgym/v1.base/data.json")
    folder = write_run(tmp_path / "run", users)
    Path("memflow.toml").write_text(SETTINGS.format(folder), encoding="utf-8")
    return SimpleNamespace(home=empty, folder=folder, users=users)


def test_leaderboard_shows_played_and_imported_results_of_a_recorded_run(run) -> None:
    home = run.home
    played = home("run", "--memory", "full", "--memory", "bm25_message")
    assert played.exit_code == 0, played.output
    data = home.json("import", "results", "mine", str(run.folder))
    assert (data["assistant"], data["faults"]) == (ASSISTANT, [])
    assert data["without_value"] == {"replies": 0, "verdicts": 0}

    scores = home.json("show", "leaderboard", "--slices")["scores"]
    mine = {
        (score["metric"], score["slice"]): score
        for score in scores
        if score["assistant"] == ASSISTANT and score["variant"] == "standard"
    }
    figures: dict[str, list[float]] = {}
    for user in run.users:
        folder = run.folder / user["id"]
        accuracy = read_json(folder / "overall_metrics.json")["accuracy"][2]
        counts = read_json(folder / "diagnosis_metrics.json")
        rates = failure_rates(accuracy, counts["write_failure"][2], counts["read_failure"][2])
        for metric, value in {"accuracy": sum(accuracy) / len(accuracy), **rates}.items():
            figures.setdefault(metric, []).append(value)
    for metric, values in figures.items():
        assert mine[metric, "period 2"]["value"] == pytest.approx(sum(values) / len(values)), metric

    # Imported results say so, and are no baseline of other assistants, nor they of it.
    sources = {score["assistant"]: score["imported"] for score in scores}
    assert sources.pop(ASSISTANT) == data["source"] and set(sources.values()) == {None}
    assert not any(score["scripted"] for score in mine.values())
    assert mine["upper_bound", "all"]["value"] is None
    shown = home("show", "leaderboard").stdout
    assert f"{ASSISTANT} is imported, not run by memflow: {data['source']}" in shown

    # The memories that need no model have evidence recall and tokens on the recorded dialogues.
    recall = {
        score["assistant"]: score
        for score in scores
        if (score["metric"], score["slice"]) == ("evidence_recall", "all")
    }
    assert recall["full"]["value"] == 1 and 0 < recall["bm25_message"]["value"] < 1
    assert recall["full"]["injected_tokens"] > recall["bm25_message"]["injected_tokens"] > 0


def test_imported_partition_has_provenance_but_no_api_keys(run) -> None:
    home = run.home
    assert home("run", "--memory", "none", "--no-baselines").exit_code == 0
    data = home.json("import", "results", "mine", str(run.folder))
    facts = home.lake.facts("score.verdicts", f"mine/{ASSISTANT}")
    assert facts.meta["imported"] == data["source"] and facts.meta["model"] == "small model"
    assert json.loads(facts.meta["settings"])["update_bsz"] == 2
    with open_instance(home.folder) as opened:
        (event,) = opened.instance.fetch_materializations(
            dg.AssetRecordsFilter(
                dg.AssetKey(["score", "verdicts"]), asset_partitions=[pair("mine", ASSISTANT)]
            ),
            limit=5,
        ).records
    assert event.asset_materialization.metadata["imported"].value == data["source"]
    for file in (path for path in home.folder.rglob("*") if path.is_file()):
        assert KEY.encode() not in file.read_bytes(), file

    # Again, it replaces itself. It never replaces what memflow measured.
    assert home.json("import", "results", "mine", str(run.folder)) == data
    verdicts = home.lake.read("score.verdicts", f"mine/{ASSISTANT}")
    home.write("score.verdicts", f"mine/{ASSISTANT}", verdicts)
    wrong = home.error("import", "results", "mine", str(run.folder))
    assert f"mine/{ASSISTANT} has results of a memflow run, not of an import" in wrong


def test_import_prints_faults_and_rejects_other_benchmarks_and_missing_probes(run) -> None:
    home = run.home
    assert "the lake has no probes of mine" in home.error("import", "results", "mine", str(run.folder))
    assert home("run", "--memory", "none", "--no-baselines").exit_code == 0
    (run.folder / run.users[0]["id"] / "overall_results.json").write_text("[[{", encoding="utf-8")
    shown = home("import", "results", "mine", str(run.folder)).stdout
    assert f"user {run.users[0]['id']}: overall_results.json is truncated or invalid JSON" in shown
    wrong = home.error("import", "results", "memorybench_demo", str(run.folder))
    assert (
        "memorybench_demo belongs to memorybench, but `import results` only supports domains of AMemGym"
        in wrong
    )
    assert "results" in home("import", "--help").stdout
