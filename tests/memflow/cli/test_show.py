"""`memflow show`, `usage` and `sql` after a run."""

import json
from dataclasses import replace

import pytest
from factories import score

from memflow.chat.scripted import LABEL
from memflow.labels import HASHED, HASHED_CAVEAT
from memflow.scoring.collection import UnusableMetric


def test_show_leaderboard_prints_values_coverage_and_the_scripted_label(measured) -> None:
    shown = measured("show", "leaderboard", "--metric", "accuracy").stdout
    assert LABEL in shown
    assert "oracle" in shown and "1.000" in shown and "100%" in shown
    data = measured.json("show", "leaderboard", "--metric", "accuracy")
    assert data["label"] == LABEL
    values = {score["assistant"]: score["value"] for score in data["scores"]}
    assert values["oracle"] == 1.0 > values["none"]
    assert {score["slice"] for score in data["scores"]} == {"all"}


def test_show_leaderboard_labels_scores_of_language_model_with_hashing_embedder(empty) -> None:
    rows = [score(assistant=name, scripted=False) for name in ("full", "rag_2_4_30")]
    rows[1] = replace(rows[1], embedder="hashing-256", replaced_prompts=["x/opening@1"])
    empty.write("score.leaderboard", "all", rows)
    data = empty.json("show", "leaderboard")
    assert data["label"] == f"{HASHED}: rag_2_4_30"
    assert [each["embedder"] for each in data["scores"]] == [None, "hashing-256"]
    assert [each["replaced_prompts"] for each in data["scores"]] == [[], ["x/opening@1"]]
    shown = empty("show", "leaderboard").stdout
    assert (
        f"{HASHED}: rag_2_4_30: {HASHED_CAVEAT}" in " ".join(shown.split())
        and "hashing-256" in shown
        and "x/opening@1" in shown
    )
    empty.write("score.leaderboard", "all", rows[:1])
    assert empty.json("show", "leaderboard")["label"] is None


def test_show_leaderboard_prints_failure_shares_by_evidence(measured) -> None:
    shown = measured("show", "leaderboard").stdout
    leading, _, by_state_probes = shown.partition("Failures by evidence")[2].partition(
        "Failures by state probes"
    )
    assert "write_failure" not in shown
    [full] = [line.split() for line in leading.splitlines() if line.startswith("full")]
    assert any(line.startswith("none") for line in by_state_probes.splitlines())
    assert full[1] == "1.000" and full[-1].isdigit()  # recall of evidence, and tokens per probe
    [none] = [line for line in leading.splitlines() if line.startswith("none")]
    assert "recalls nothing" in none
    data = measured.json("show", "leaderboard")["scores"]
    failures = {
        score["metric"]: score["value"]
        for score in data
        if (score["assistant"], score["variant"]) == ("awi", "by_evidence")
    }
    accuracy = next(f["value"] for f in data if (f["assistant"], f["metric"]) == ("awi", "accuracy"))
    assert sum(failures.values()) == pytest.approx(1 - accuracy)
    assert len(failures) == 3


def test_show_leaderboard_shows_the_best_assistants_of_each_metric(empty) -> None:
    assert "no leaderboard" in empty.error("show", "leaderboard")
    rows = [score(assistant=f"rag_2_4_{k}", value=k / 12) for k in range(1, 13)]
    empty.write("score.leaderboard", "all", [*rows, *(replace(row, slice="period 1") for row in rows)])
    text = empty("show", "leaderboard", "--limit", "3").stdout
    assert [word for word in text.split() if word.startswith("rag")] == [
        "rag_2_4_12",
        "rag_2_4_11",
        "rag_2_4_10",
    ]
    assert "The best 3 assistants of each metric are shown." in text
    assert empty("show", "leaderboard", "--limit", "0").stdout.count("rag_2_4_") == 12
    assert len(empty.json("show", "leaderboard", "--slices", "--limit", "3")["scores"]) == 24


def test_show_leaderboard_rejects_unknown_metric_and_lists_available_metrics(measured) -> None:
    error = measured.error("show", "leaderboard", "--metric", "beauty")
    assert "the leaderboard has no metric 'beauty'. Use one of" in error


def test_show_verdicts_filters_by_assistant_and_metric_and_limits_rows(measured) -> None:
    arguments = ("show", "verdicts", "--assistant", "full", "--metric", "accuracy", "--format", "json")
    data = json.loads(measured(*arguments).stdout)
    assert {(row["assistant"], row["metric"]) for row in data} == {("full", "accuracy")}
    assert len(json.loads(measured(*arguments, "--limit", "3").stdout)) == 3
    assert f"3 of {len(data)}" in measured(*arguments[:-2], "--limit", "3").stdout


def probe_of(measured) -> str:
    data = measured.json("sql", "SELECT min(probe_id) AS it FROM question.probes WHERE kind = 'choice'")
    return str(data[0]["it"])


def test_show_probe_prints_recall_prompt_reply_and_verdicts(measured) -> None:
    probe = probe_of(measured)
    data = measured.json("show", "probe", probe, "--assistant", "full")
    [answered] = data["answered"]
    assert data["probe"]["gold"] and data["probe"]["options"]
    assert answered["reply"]["parsed"] and answered["reply"]["prompt_tokens"] > 0
    assert {row["metric"] for row in answered["verdicts"]} >= {"accuracy"}
    assert answered["recalled"] and all(entry["text"] and entry["sources"] for entry in answered["recalled"])
    assert data["probe"]["question"] in answered["messages"][-1]["content"]
    shown = measured("show", "probe", probe, "--assistant", "full").stdout
    for wanted in (
        "Question",
        "(gold)",
        "Recalled:",
        "Prompt as sent",
        "Reply",
        "Verdicts",
        answered["recalled"][0]["entry_id"],
    ):
        assert wanted in shown


def test_show_probe_rejects_unknown_probe_and_lists_similar_probes(measured) -> None:
    probe = probe_of(measured)
    result = measured("show", "probe", probe[:-1] + "x")
    assert result.exit_code == 1
    assert "there is no probe" in result.stderr and f"Did you mean {probe[:-1]}" in result.stderr


def test_usage_command_prints_the_same_total_for_every_grouping(measured) -> None:
    totals = []
    for by in (("stage",), ("assistant", "prompt"), ("run",)):
        data = measured.json("show", "usage", *(word for name in by for word in ("--by", name)))
        assert set(by) < set(data["usage"][0])
        totals.append(data["total"])
    assert totals[0]["calls"] > 0 and totals[0] == totals[1] == totals[2]
    assert f"{totals[0]['calls']:,}" in measured("show", "usage").stdout


def test_usage_command_rejects_unknown_run(measured) -> None:
    assert "nosuch" in measured.error("show", "usage", "--run", "nosuch")


def test_sql_command_runs_a_statement_from_argument_or_standard_input(measured) -> None:
    statement = "SELECT assistant, count(*) AS n FROM answer.replies GROUP BY 1 ORDER BY 1"
    data = measured.json("sql", statement)
    assert [row["assistant"] for row in data] == ["awi", "full", "none", "oracle"]
    assert "4 rows" in measured("sql", statement).stdout
    assert "4 rows" in measured("sql", "-", input=statement).stdout


def test_sql_command_rejects_statement_that_modifies_data(measured) -> None:
    assert "SELECT" in measured.error("sql", "DROP TABLE score.verdicts")


def test_doctor_names_the_package_and_the_fault_of_an_unusable_metric(empty, monkeypatch) -> None:
    metric = UnusableMetric("wit", "a-package", "the entry point cannot be loaded", "wit")
    monkeypatch.setattr("memflow.scoring.catalog.unusable_metrics", lambda: (metric,))
    [row] = [row for row in empty.json("doctor") if row["what"] == "metric wit"]
    assert (row["state"], row["found"]) == ("absent", metric.reason) and "a-package" in row["fix"]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_leaderboard_and_usage_commands_do_not_truncate_names(measured, monkeypatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    rows = measured.json("show", "usage")["usage"]
    shown = measured("show", "usage").stdout.split()
    assert {row[name] for row in rows for name in ("stage", "role")} < {*shown}
    board = measured("show", "leaderboard", "--slices").stdout
    for assistant in ("none", "oracle", "full", "awi"):
        assert f" {assistant} " in board
    assert width == 60 or "evidence_precision" in board  # five columns of names wrap
