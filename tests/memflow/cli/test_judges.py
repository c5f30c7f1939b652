"""`judges calibrate` and `show judges`: known answers, and the agreement of several judges."""

from dataclasses import replace

import factories
import pytest

from memflow.scoring.judges import with_judge_columns

DOMAIN = "memorybench_demo"
SETTINGS = """
[models.agreeable]
kind = "scripted"
model = "agreeable"
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
