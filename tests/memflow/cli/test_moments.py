"""`--as-of`: earlier states of the lake in `show` and `sql`, and `memflow doctor --clean`."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memflow.resources.lake.past import PastLake
from memflow.resources.publishing.score_history import history_rows
from memflow.resources.settings.settings import load

DOMAIN = "amemgym_demo"
TABLE = "score.leaderboard"


@pytest.fixture
def rewritten(measured, tmp_path):
    """Return a home whose leaderboard was replaced twice, and the answers of `show leaderboard` at each moment."""
    home = type(measured)(tmp_path / "home")
    shutil.copytree(measured.folder, home.folder)
    answers = {}
    for number in range(3):
        if number:
            home.write(TABLE, "all", home.lake.read(TABLE, "all")[number:], run=f"run{number}")
        answers[datetime.now(UTC)] = home.json("show", "leaderboard")
    return home, answers


def test_show_leaderboard_as_of_returns_every_earlier_answer_exactly(rewritten):
    home, answers = rewritten
    assert len({str(answer) for answer in answers.values()}) == 3
    for moment, answer in answers.items():
        assert home.json("show", "leaderboard", "--as-of", moment.isoformat()) == answer
        rows = home.json("sql", f"SELECT count(*) AS n FROM {TABLE}", "--as-of", moment.isoformat())
        assert rows == [{"n": len(PastLake(home.lake, moment).read(TABLE, "all"))}]


def test_as_of_before_a_run_shows_what_the_run_replaced(rewritten):
    home, answers = rewritten
    first, second, _ = answers.values()
    assert home.json("show", "leaderboard", "--as-of", "before run1") == first
    assert home.json("show", "leaderboard", "--as-of", "before run2") == second


def test_as_of_reports_unknown_forms_runs_and_moments_before_all_data(rewritten):
    home, _ = rewritten
    assert "'soon' is no moment. Use a date or time such as" in home.error(
        "show", "leaderboard", "--as-of", "soon"
    )
    assert "wrote nothing into the lake" in home.error("show", "leaderboard", "--as-of", "before run9")
    assert "there is no publication 99" in home.error("show", "leaderboard", "--as-of", "99")
    early = home.error("show", "leaderboard", "--as-of", "2020-01-01")
    assert "the lake contained nothing at" in early and "Its earliest state is of" in early


@pytest.mark.parametrize("view", [("made",), ("verdicts",), ("deviations", DOMAIN)])
def test_every_view_of_the_lake_accepts_as_of(rewritten, view):
    home, answers = rewritten
    last = [*answers][-1].isoformat()
    assert home.json("show", *view, "--as-of", last) == home.json("show", *view)


def test_doctor_clean_removes_rows_beyond_the_settings_and_lists_them_by_table(rewritten, monkeypatch):
    home, answers = rewritten
    first, second, last = answers
    untouched = home.json("doctor", "--clean")
    assert untouched["removed"] == {} and untouched["kept_bytes"] > 0
    monkeypatch.setenv("MEMFLOW_HISTORY__GIGABYTES", "0")
    removed = home.json("doctor", "--clean")
    assert removed["removed"] == {TABLE: removed["bytes"]} and removed["bytes"] > 0
    assert "was removed by `memflow doctor --clean`" in home.error(
        "show", "leaderboard", "--as-of", first.isoformat()
    )
    for kept in (second, last):
        assert home.json("show", "leaderboard", "--as-of", kept.isoformat()) == answers[kept]
    shown = home("sql", f"SELECT count(*) AS n FROM {TABLE}", "--as-of", first.isoformat())
    assert "score.leaderboard of all" in shown.stderr and "memflow doctor --clean" in shown.stderr


@pytest.fixture
def published(measured, tmp_path):
    """Return a home whose scores were published twice, the second time with other scores of one assistant."""
    home = type(measured)(tmp_path / "home")
    shutil.copytree(measured.folder, home.folder)
    settings, scores = load(over={"home": home.folder}), home.lake.read(TABLE, "all")
    for run in ("r1", "r2"):
        if run == "r2":
            scores = [replace(row, n=row.n + 1) if row.assistant == "full" else row for row in scores]
        history = history_rows(settings, home.lake, run, scores)
        home.write(TABLE, "all", scores, run=run)
        home.write("score.history", "all", history, run=run)
    return home


def test_history_lists_published_results_newest_first_with_state_and_label(published):
    rows = published.json("show", "history")
    assert (rows[0]["publication"], rows[0]["run"], rows[0]["assistant"]) == (2, "r2", "full")
    assert {row["publication"] for row in rows[1:]} == {1}
    assert {row["state"] for row in rows if row["assistant"] != "full"} == {"current"}
    assert [row["state"] for row in rows if row["assistant"] == "full"] == ["current", "kept"]
    assert all("script" in row["label"] for row in rows)
    assert "has no assistant 'nobody'" in published.error("show", "history", "--assistant", "nobody")


def test_number_of_a_publication_is_a_moment_for_as_of(published):
    first, second = (published.json("show", "leaderboard", "--as-of", number)["scores"] for number in "12")
    assert second == published.json("show", "leaderboard")["scores"] != first
