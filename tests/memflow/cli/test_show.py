"""Looking at what came of a run: leaderboard, verdicts, a probe whole, accounts, SQL."""

import json

import pytest

from memflow.chat.scripted import LABEL


def test_the_leaderboard_has_values_denominators_and_the_label(measured) -> None:
    shown = measured("show", "leaderboard", "--metric", "accuracy").stdout
    assert LABEL in shown
    assert "oracle" in shown and "1.000" in shown and "100%" in shown
    told = measured.json("show", "leaderboard", "--metric", "accuracy")
    assert told["label"] == LABEL
    values = {figure["assistant"]: figure["value"] for figure in told["scores"]}
    assert values["oracle"] == 1.0 > values["none"]
    assert {figure["slice"] for figure in told["scores"]} == {"all"}


def test_beside_the_board_stands_what_becomes_of_evidence(measured) -> None:
    shown = measured("show", "leaderboard").stdout
    [full] = [
        line.split() for line in shown.partition("By evidence")[2].splitlines() if line.startswith("full")
    ]
    assert full[1] == "1.000" and full[-1] == "100,000"  # recall of evidence, and the budget of its terms
    [none] = [line for line in shown.partition("By evidence")[2].splitlines() if line.startswith("none")]
    assert "recalls nothing" in none
    told = measured.json("show", "leaderboard")["scores"]
    failures = {
        figure["metric"]: figure["value"]
        for figure in told
        if (figure["assistant"], figure["variant"]) == ("awi", "by_evidence")
    }
    accuracy = next(f["value"] for f in told if (f["assistant"], f["metric"]) == ("awi", "accuracy"))
    assert sum(failures.values()) == pytest.approx(1 - accuracy)
    assert len(failures) == 3


def test_costs_are_per_message_written_and_per_probe_read(measured) -> None:
    told = {row["assistant"]: row for row in measured.json("show", "costs")}
    assert told["full"]["write"]["calls"] == 0 and told["full"]["injected_tokens"] > 0
    awi = told["awi"]
    booked = measured("usage", "--by", "assistant", "--by", "role", "--format", "json").stdout
    [asked] = [
        row for row in json.loads(booked)["usage"] if (row["assistant"], row["role"]) == ("awi", "memory")
    ]
    assert awi["write"]["calls"] * awi["write"]["of"] == pytest.approx(asked["calls"] + asked["cache_hits"])
    assert awi["read"]["calls"] == 0 and awi["failures"] == 0
    shown = measured("show", "costs", "--domain", "amemgym_demo").stdout
    assert "per message" in shown and "awi" in shown


def test_costs_of_an_instance_are_by_stage_and_role(measured) -> None:
    told = measured.json("show", "costs", "--per", "instance")
    by = {(row["assistant"], row["part"]): row for row in told}
    assert {part for _, part in by} == {
        "generation",
        "user model",
        "replies",
        "memory, writing",
        "answers",
        "judging",
    }
    assert ("", "generation") in by and ("oracle", "user model") not in by
    assert {row["instances"] for row in told} == {1}
    booked = measured.json("usage", "--by", "assistant", "--by", "role", "--by", "stage")
    for row in booked["usage"]:
        mine = [
            each
            for each in told
            if (each["assistant"], each["role"], each["stage"])
            == (row["assistant"], row["role"], row["stage"])
        ]
        (cost,) = mine
        assert row["calls"] <= cost["calls"] <= row["calls"] + row["cache_hits"]
    assert by[("oracle", "answers")]["calls"] < by[("full", "answers")]["calls"] == 32
    assert by[("", "generation")]["price"] is None
    shown = measured("show", "costs", "--per", "instance", "--domain", "amemgym_demo").stdout
    assert "user model" in shown and "Means over 1 instances" in shown


def test_prices_come_of_the_settings(measured, tmp_path) -> None:
    settings = tmp_path / "memflow.toml"
    settings.write_text('[models.scripted]\nkind = "scripted"\nprice_in = 2.0\nprice_out = 8.0\n')
    told = measured("--settings", str(settings), "show", "costs", "--per", "instance", "--format", "json")
    for row in json.loads(told.stdout):
        by_hand = (2 * row["prompt_tokens"] + 8 * row["completion_tokens"]) / 1e6
        assert row["price"] == pytest.approx(by_hand) and by_hand > 0


def test_costs_of_what_was_never_measured(measured) -> None:
    assert "no memory was measured yet" in measured.error("show", "costs", "--domain", "beauty")


def test_slices_are_shown_when_asked_for(measured) -> None:
    told = measured.json("show", "leaderboard", "--slices")
    assert {"all", "period 0", "period 3"} <= {figure["slice"] for figure in told["scores"]}


def test_an_unknown_metric_is_said_with_those_there_are(measured) -> None:
    assert "no metric 'beauty'; it has accuracy" in measured.error(
        "show", "leaderboard", "--metric", "beauty"
    )


def test_verdicts_can_be_filtered_and_limited(measured) -> None:
    arguments = ("show", "verdicts", "--assistant", "full", "--metric", "accuracy", "--format", "json")
    told = json.loads(measured(*arguments).stdout)
    assert {(row["assistant"], row["metric"]) for row in told} == {("full", "accuracy")}
    assert len(json.loads(measured(*arguments, "--limit", "3").stdout)) == 3
    assert f"3 of {len(told)}" in measured(*arguments[:-2], "--limit", "3").stdout


def probe_of(measured) -> str:
    told = measured.json("sql", "SELECT min(probe_id) AS it FROM question.probes WHERE kind = 'choice'")
    return str(told[0]["it"])


def test_a_probe_is_shown_whole(measured) -> None:
    probe = probe_of(measured)
    told = measured.json("show", "probe", probe, "--assistant", "full")
    [answered] = told["answered"]
    assert told["probe"]["gold"] and told["probe"]["options"]
    assert answered["reply"]["parsed"] and answered["reply"]["prompt_tokens"] > 0
    assert {row["metric"] for row in answered["verdicts"]} >= {"accuracy"}
    assert answered["recalled"] and all(entry["text"] and entry["sources"] for entry in answered["recalled"])
    assert told["probe"]["question"] in answered["messages"][-1]["content"]
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


def test_without_an_assistant_a_probe_shows_every_reply_in_short(measured) -> None:
    shown = measured("show", "probe", probe_of(measured)).stdout
    assert "none" in shown and "oracle" in shown and "full" in shown
    assert "Prompt as sent" not in shown


def test_an_unknown_probe_is_said_with_those_near_to_it(measured) -> None:
    probe = probe_of(measured)
    result = measured("show", "probe", probe[:-1] + "x")
    assert result.exit_code == 1
    assert "there is no probe" in result.stderr and probe in result.stderr


@pytest.mark.parametrize("arguments", [("leaderboard",), ("probe", "x")])
def test_before_any_run_it_says_what_to_do(empty, arguments) -> None:
    assert "memflow run --demo" in empty.error("show", *arguments)


def test_accounts_add_up_however_they_are_drawn_up(measured) -> None:
    totals = []
    for by in (("stage",), ("assistant", "prompt"), ("run",)):
        told = measured.json("usage", *(word for name in by for word in ("--by", name)))
        assert set(by) < set(told["usage"][0])
        totals.append(told["total"])
    assert totals[0]["calls"] > 0 and totals[0] == totals[1] == totals[2]
    assert f"{totals[0]['calls']:,}" in measured("usage").stdout


def test_accounts_of_an_unknown_run(measured) -> None:
    assert "nosuch" in measured.error("usage", "--run", "nosuch")


def test_sql_answers_with_plain_rows(measured) -> None:
    statement = "SELECT assistant, count(*) AS n FROM answer.replies GROUP BY 1 ORDER BY 1"
    told = measured.json("sql", statement)
    assert [row["assistant"] for row in told] == ["awi", "full", "none", "oracle"]
    assert "4 rows" in measured("sql", statement).stdout
    assert "4 rows" in measured("sql", "-", input=statement).stdout


def test_sql_changes_nothing(measured) -> None:
    assert "SELECT" in measured.error("sql", "DROP TABLE score.verdicts")


def test_metrics_are_listed_with_direction_and_range(empty) -> None:
    listed = empty.json("show", "metrics")
    metrics = {row["metric"]: row for row in listed["metrics"]}
    assert (metrics["forgetting"]["direction"], metrics["quality"]["low"]) == ("lower", 1.0)
    assert listed["unusable"] == []
    assert "forgetting" in empty("show", "metrics").stdout
    assert empty("show", "metrics", "--markdown").stdout.startswith("| metric | meaning | better |")
