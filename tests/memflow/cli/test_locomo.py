"""LoCoMo from the command line: a run of the demo, imported answers on the leaderboard."""

import json
from pathlib import Path
from typing import Any

import pytest

ASSISTANT = "imported_vendor@big-model"


def write_results(folder: Path, probes: list[Any]) -> Path:
    """Write results in the form of Mem0's evaluation of 2026: every second answer is right, the last has no label."""
    numbers = {name: at for at, name in enumerate(dict.fromkeys(probe.episode_id for probe in probes))}
    rows = [
        {
            "question_id": f"conv{numbers[probe.episode_id]}_{probe.probe_id.rpartition('/')[2]}",
            "question": probe.question,
            "ground_truth_answer": probe.gold,
            "category": int(probe.category),
            "cutoff_results": {
                "top_50": {
                    "judgment": "ERROR" if at == len(probes) - 1 else ("CORRECT", "WRONG")[at % 2],
                    "generated_answer": (probe.gold, "no")[at % 2],
                }
            },
        }
        for at, probe in enumerate(probes)
    ]
    path = folder / "vendor.json"
    path.write_text(
        json.dumps({"metadata": {"answerer_model": "big model"}, "evaluations": rows}), encoding="utf-8"
    )
    return path


def test_run_of_the_demo_and_imported_answers_share_a_leaderboard(empty, tmp_path: Path) -> None:
    home = empty
    run = home("run", "--domain", "locomo_demo", "--memory", "full", "--no-baselines")
    assert run.exit_code == 0, run.output
    probes = home.lake.read("question.probes", "locomo_demo")
    path = write_results(tmp_path, probes)
    data = home.json("import", "results", "locomo_demo", str(path))
    assert (data["assistant"], data["faults"], data["replies"]) == (ASSISTANT, [], 18)

    scores = home.json("show", "leaderboard", "--slices", "--variants")["scores"]
    mine = {
        (score["metric"], score["variant"], score["slice"]): score
        for score in scores
        if score["assistant"] == ASSISTANT
    }
    assert mine["j_2026", "standard", "all"]["value"] == pytest.approx(9 / 17)
    assert mine["j_2026", "unlabeled_as_wrong", "all"]["value"] == pytest.approx(9 / 18)
    assert ("j_2025", "standard", "all") not in mine and "set_f1" in {metric for metric, _, _ in mine}
    assert {score["imported"] for score in mine.values()} == {data["source"]}
    assert "content hash" in data["source"] and "vendor.json" in data["source"]
    played = {
        (score["metric"], score["slice"]): score
        for score in scores
        if score["assistant"] == "full" and score["variant"] == "standard"
    }
    assert (
        played["j_strict", "all"]["value"]
        <= played["j_2025", "all"]["value"]
        <= played["j_2026", "all"]["value"]
    )
    assert played["j_2025", "all"]["value"] > 0 and played["j_2025", "all"]["imported"] is None
    assert {"category 5", "without known errors"} <= {name for _, name in played}
    assert f"{ASSISTANT} is imported, not run by memflow" in home("show", "leaderboard").stdout

    judged = home.json("import", "results", "locomo_demo", str(path), "--judge")
    assert judged["settings"]["judges"] == ["scripted"] and judged["verdicts"] == 18 * (3 * 2 + 3 + 2)
    rows = {
        (row["metric"], row["variant"]): row
        for row in home.json("show", "leaderboard", "--variants")["scores"]
        if row["assistant"] == ASSISTANT
    }
    assert rows["j_2026", "recorded"]["value"] == pytest.approx(9 / 17), "the published labels"
    assert rows["j_strict", "standard"]["value"] == pytest.approx(9 / 18), "every second answer is the gold"
    assert rows["j_2026", "standard"]["n"] == 18 and rows["j_2026", "standard"]["imported"] is not None
    assert {row["scripted"] for row in rows.values()} == {True}

    wrong = home.error("import", "results", "locomo_demo", str(tmp_path / "gone.json"))
    assert "gone.json" in wrong and "Get the file again" in wrong
