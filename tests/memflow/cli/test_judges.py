"""`judges check`, `judges calibrate` and `show judges`: injections, known answers, the agreement of several judges."""

from dataclasses import replace
from pathlib import Path

import factories
import pytest

from memflow.scoring.judges import with_judge_columns

DOMAIN = "memorybench_demo"
SETTINGS = """
[models.gullible]
kind = "scripted"
model = "gullible"
[models.fence_only]
kind = "scripted"
model = "fence_only"
[models.agreeable]
kind = "scripted"
model = "agreeable"
[roles]
judge = ["scripted", "gullible"]
"""


@pytest.fixture
def judged(empty):
    """Return a home with the verdicts of judges `a` and `b` on two assistants, of which `b` answered for one."""
    scores = []
    for assistant, values in {"full": (1.0, 3.0), "none": (5.0, 4.0)}.items():
        rows = {"standard": sum(values) / 2, **dict(zip(("judge_a", "judge_b"), values, strict=True))}
        verdict = factories.verdict(domain=DOMAIN, assistant=assistant, metric="quality")
        empty.write(
            "score.verdicts",
            f"{DOMAIN}/{assistant}",
            [replace(verdict, variant=variant, value=value) for variant, value in rows.items()],
        )
        score = factories.score(domain=DOMAIN, assistant=assistant, metric="quality")
        scores += with_judge_columns(
            [replace(score, variant=variant, value=value) for variant, value in rows.items()],
            frozenset({"quality"}),
            ["b"] if assistant == "full" else [],
        )
    empty.write("score.leaderboard", "all", scores)
    return empty


def test_show_judges_prints_judge_scores_score_ranges_and_agreement(judged) -> None:
    [found] = judged.json("show", "judges")["judges"]
    assert (found["metric"], found["judges"], found["items"]) == ("quality", ["a", "b"], 2)
    assert found["alpha"]["value"] is not None and found["ac1"]["value"] is None
    assert found["tau"] == 1
    assert found["assistants"][0] == {"assistant": "full", "mean": 2.0, "by_judge": [1.0, 3.0]}


@pytest.mark.parametrize("width", ["80", "140"])
def test_show_judges_prints_every_score_at_any_terminal_width(judged, monkeypatch, width) -> None:
    monkeypatch.setenv("COLUMNS", width)
    shown = judged("show", "judges", DOMAIN).stdout
    assert all(len(line) <= int(width) for line in shown.splitlines())
    lines = [line.split() for line in shown.splitlines()]
    assert ["full", "2.000", "1.000", "3.000", "1.000", "3.000"] in lines
    assert ["assistant", "mean", "lowest", "highest", "a", "b"] in lines


def test_leaderboard_shows_judge_range_and_warns_of_judges_of_their_own_answers(judged) -> None:
    shown = judged("show", "leaderboard", "--metric", "quality").stdout
    assert "1.000 – 3.000" in shown
    assert f"{DOMAIN}: b judged the answers of full" in shown


def test_show_judges_with_a_single_judge_states_how_to_configure_several_judges(measured) -> None:
    assert "Set judge" in measured.error("show", "judges", "amemgym_demo~1")


def test_judges_check_command_tests_the_judges_in_the_settings(empty) -> None:
    Path("memflow.toml").write_text(SETTINGS, encoding="utf-8")
    found = empty.json("judges", "check", "--metric", "quality")
    assert len(found["injections"]) == 20
    moved = {name: len(case["moved"]) for name, [case] in found["judges"].items()}
    assert moved == {"scripted": 0, "gullible": 20}


def test_judges_check_reports_changed_verdicts_with_and_without_fences(empty) -> None:
    Path("memflow.toml").write_text(SETTINGS, encoding="utf-8")
    shown = empty("judges", "check", "fence_only", "--metric", "quality", "--no-fences").stdout
    assert "20 of 20 verdicts moved" in shown and "scripted, not a language model" in shown
    assert "0 of 20 verdicts moved" in empty("judges", "check", "fence_only", "--metric", "quality").stdout


def test_judges_check_rejects_an_unknown_metric(empty) -> None:
    assert "has no metric 'gone'" in empty.error("judges", "check", "--metric", "gone")


def test_judges_calibrate_withholds_a_judge_that_accepts_everything(empty, tmp_path) -> None:
    (tmp_path / "memflow.toml").write_text(SETTINGS, encoding="utf-8")
    arguments = ("judges", "calibrate", "scripted", "agreeable", "--metric", "j_2025")
    rows = {row["judge"]: row for row in empty.json(*arguments)["calibrations"]}
    assert (rows["scripted"]["passed"], rows["scripted"]["reason"]) == (True, None)
    assert (rows["agreeable"]["sensitivity"], rows["agreeable"]["specificity"]) == (1.0, 0.0)
    shown = empty(*arguments).output
    assert "52 of 52" in shown and "65 of 65" in shown and "withheld" in shown
    assert "accepts 52 of 52 right and 65 of 65 wrong answers" in shown
    wrong = empty.error("judges", "calibrate", "--language", "fr")
    assert "fr" in wrong and "en" in wrong
