"""LongMemEval from the command line: a run of the sample, its averages by type, retrieval and checks."""

import pytest

DOMAIN = "longmemeval_sample"


@pytest.mark.pipeline
def test_run_of_the_sample_has_accuracy_by_type_retrieval_and_passing_checks(empty) -> None:
    memories = ("full", "longmemeval_bm25", "bm25_session")
    run = empty("run", "--domain", DOMAIN, *(part for name in memories for part in ("--memory", name)))
    assert run.exit_code == 0, run.output
    scores = {
        (score["assistant"], score["metric"], score["variant"]): score
        for score in empty.json("show", "leaderboard", "--variants")["scores"]
    }
    assert scores["longmemeval_bm25", "session_recall_any_at_5", "standard"]["value"] == 1.0
    published = {
        name: scores["longmemeval_bm25", "session_recall_any_at_5", name]["n"]
        for name in ("standard", "all_answerable")
    }
    assert published == {"standard": 5, "all_answerable": 6}
    assert ("full", "session_recall_any_at_5", "standard") not in scores
    assert scores["oracle", "accuracy", "standard"]["value"] > scores["none", "accuracy", "standard"]["value"]
    averages = [
        scores["oracle", name, "standard"]["value"] for name in ("accuracy", "task_averaged_accuracy")
    ]
    assert averages[0] != averages[1]

    rows = empty.json("show", "leaderboard", "--metric", "accuracy", "--slices", "--assistant", "none")[
        "scores"
    ]
    counts = {row["slice"]: row["n"] for row in rows}
    slices = ("all", "answerable", "abstention", "category single-session-user")
    assert [counts[name] for name in slices] == [7, 6, 1, 2]

    checks = empty("checks", "--domain", DOMAIN).stdout
    assert "0 failed, 0 with warnings" in checks
    deviations = empty("show", "deviations", DOMAIN).stdout
    assert "judge_model" in deviations or "model of the judge" in deviations
