"""`show checkpoints` and its plots, on a leaderboard computed from answers that can be counted by hand."""

from dataclasses import replace

import pytest
from checkpoint_scores import leaderboard_rows

DEMO, OURS, OTHER = "comem_demo", "dialogues_32k", "amemgym_base"
# Checkpoints 0 to 4, by question: forgotten at the end, learnt at once, never right, right throughout.
ANSWERS = [[1, 1, 1, 1, 0], [0, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]
GUESSES = [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]
SETTINGS = f"""
[own_domains.{OURS}]
benchmark = "comem"
datasets = ["personamem_32k"]
"""
REASON = "the memory none has not been scored with this model"


@pytest.fixture
def measured(empty, tmp_path, monkeypatch):
    """Return a home with scores of CoMem's scripted demo, of a domain like the paper's, and of AMemGym."""
    settings = tmp_path / "memflow.toml"
    settings.write_text(SETTINGS)
    monkeypatch.setenv("MEMFLOW_SETTINGS", str(settings))
    rows = leaderboard_rows({"none": GUESSES, "full": ANSWERS}, domain=DEMO, scripted=True)
    rows += leaderboard_rows({"mem0": GUESSES, "full": ANSWERS, "full@x": ANSWERS}, domain=OURS)
    rows += [
        replace(row, value=None, low=None, high=None, reason=REASON) if row.variant == "complete" else row
        for row in leaderboard_rows({"full": ANSWERS}, first=-1, domain=OTHER)
        if row.slice != "checkpoint -1" and row.metric not in ("constant", "random")
    ]
    empty.write("score.leaderboard", "all", rows)
    return empty


def tables(result):
    """Return the lines of each table, by heading and first word."""
    found, head = {}, ""
    for line in result.stdout.splitlines():
        if ", " in line and not line.startswith(" ") and line.split(",")[0] in (DEMO, OURS, OTHER):
            head = line.split(", ", 1)[1].split(":")[0].split(",")[0]
        elif line.strip():
            found.setdefault(head, {})[line.split()[0]] = line.split()[1:]
    return found


def test_show_checkpoints_prints_accuracy_forgetting_transfer_and_stability(measured) -> None:
    result = measured("show", "checkpoints", "--domain", DEMO)
    found = tables(result)
    assert list(found) == ["accuracy", "forgetting", "forward transfer", "over all checkpoints"]
    assert found["accuracy"]["memory"] == ["before", "1", "2", "3", "4", "n"]
    full = found["accuracy"]["full"]
    assert full[:3] == ["0.500", "[0.40", "0.60]"] and full[-1] == "4"
    assert full[3::3][:4] == ["0.750", "0.750", "0.750", "0.500"] and full[14] == "0.60]*"
    assert found["accuracy"]["constant"][1:] == ["0.300"] * 5 and found["accuracy"]["chance"] == ["0.250"] * 5
    assert found["forgetting"]["full"][::3] == ["0.000", "0.000", "0.000", "0.250"]
    assert found["forward transfer"]["full"][::3] == ["0.250", "0.000", "0.000", "0.000"]
    stability = found["over all checkpoints"]
    assert stability["full"][::3] == ["0.500", "0.250", "0.083", "-0.250", "-0.250", "-0.250"]
    assert stability["none"][::3] == ["0.500", "0.500", "0.000", "0.000", "0.000", "0.000"]
    assert "* the interval includes a floor" in result.stdout
    assert "scripted, not a language model" in result.stdout


def test_show_checkpoints_prints_the_reason_of_a_missing_value(measured) -> None:
    result = measured("show", "checkpoints", "--domain", OTHER)
    found = tables(result)
    assert found["accuracy"]["memory"] == ["before", "0", "1", "2", "3", "n"]
    assert found["accuracy"]["full"] == ["–"] * 5 + ["4"]
    assert f"– {REASON}: full." in result.stdout


def test_show_checkpoints_json_and_csv_contain_all_rows(measured) -> None:
    told = measured.json("show", "checkpoints")
    assert told["label"] == "scripted, not a language model: comem_demo/none, comem_demo/full"
    assert {row["domain"] for row in told["rows"]} == {DEMO, OURS, OTHER}
    rows = measured.csv("show", "checkpoints", "--domain", OURS)
    mine = [row for row in rows if row["assistant"] == "full"]
    assert (mine[0]["metric"], mine[0]["checkpoint"], mine[0]["value"]) == ("accuracy", "start", "0.5")
