"""`memflow export csv`, `markdown` and `latex`: values, labels, bold, and error messages."""

import csv
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import factories
import pytest
from latex_tables import latex_tables

from memflow.cli.summary import winners
from memflow.records import Comparison, Score

LABELS = ("scripted, not a language model", "sample of 1")


def test_csv_has_a_row_for_each_score_with_full_precision(measured: Any) -> None:
    rows = list(csv.DictReader(measured("export", "csv").stdout.splitlines()))
    scores = measured.json("show", "leaderboard", "--slices", "--variants")["scores"]
    assert [row["value"] and float(row["value"]) for row in rows] == [
        "" if score["value"] is None else score["value"] for score in scores
    ]
    assert {*rows[0]} == {"labels", *(field.name for field in fields(Score))}
    assert all("sample of 1" in row["labels"] for row in rows)


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_labels_and_missing_values_stand_in_each_format(measured: Any, form: str) -> None:
    text = measured("export", form, "leaderboard", "--metric", "accuracy", "--metric", "recall_at_10").stdout
    assert all(label in text for label in LABELS)
    assert "does not rank what it recalls" in text.replace("\\_", "_")


def test_latex_leaderboard_is_parsed_and_has_all_assistants(measured: Any) -> None:
    text = measured("export", "latex").stdout
    [table] = latex_tables(text)
    assert {row[0] for row in table[1:]} == {"none", "oracle", "full", "awi"}
    assert (
        "\\caption{amemgym\\_demo\\textasciitilde{}1 · sample of 1}" in text and "Bold: better than" in text
    )


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_comparisons_of_operands(measured: Any, form: str) -> None:
    text = measured("export", form, "comparisons", "full", "none").stdout
    assert "scripted" in text and "sample of 1" in text
    if form == "csv":
        [first, *_] = csv.DictReader(text.splitlines())
        assert (first["a"], first["b"]) == ("full", "none") and float(first["difference"]) > 0
    if form == "latex":
        assert latex_tables(text)


def test_output_is_written_and_overwritten_only_with_force(measured: Any, tmp_path: Path) -> None:
    file = tmp_path / "table.tex"
    assert measured("export", "latex", "--output", str(file)).stdout == ""
    assert file.read_text() == measured("export", "latex").stdout
    assert "Overwrite it with --force" in measured.error("export", "latex", "--output", str(file))


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (("leaderboard", "full"), "the leaderboard has no operands"),
        (("paper",), "exported whole"),
        (("paper", "amemgym:table2", "--metric", "accuracy"), "exported whole"),
        (("paper", "amemgym:tabl2"), "Did you mean table2"),
        (("paper", "amemgym:table2", "--model", "gpt-9"), "model 'gpt-9'"),
        (("leaderboard", "--limit", "3"), "select the values of a paper's table, not of leaderboard"),
        (("comparisons",), "no comparison matches the selection"),
        (("comparisons", "full"), "at least two different operands"),
        (("leaderboard", "--metric", "accurac"), "accuracy"),
    ],
)
def test_wrong_selections_say_what_to_do(measured: Any, arguments: tuple[str, ...], wrong: str) -> None:
    assert wrong in measured.error("export", "markdown", *arguments)


def test_export_of_an_empty_home_says_what_to_do(empty: Any) -> None:
    assert "Create one with `memflow run --demo`" in empty.error("export", "csv")


def compared(a: str, b: str, better: str | None, **columns: Any) -> Comparison:
    return factories.row(Comparison, metric="accuracy", slice="all", a=a, b=b, better=better, **columns)


def test_only_an_assistant_that_is_better_than_each_other_wins() -> None:
    scores = [factories.score(assistant=name, value=0.5) for name in ("x", "y", "z", "oracle@m", "previous")]
    faulty = factories.score(assistant="broken", value=None)
    rows = [compared("x", "y", "a"), compared("z", "x", "b"), compared("x", "oracle@m", "b")]
    assert winners([*scores, faulty], rows) == {"accuracy": "x"}
    assert winners(scores, [*rows[:1], compared("z", "x", None)]) == {}
    assert winners(scores, [*rows[:1], compared("z", "x", "b", within_noise=True)]) == {}
    assert winners(scores[:1], rows) == {} and winners(scores, []) == {}


def test_paper_has_intervals_and_bold_differences_beyond_them(empty: Any) -> None:
    score = factories.score(
        domain="amemgym_base.published", metric="write_failure", model="small", value=0.31, low=0.3, high=0.32
    )
    beyond = replace(score, metric="read_failure", low=0.305)
    scripted = replace(score, metric="utilization_failure", scripted=True)
    empty.write("score.leaderboard", "all", [score, beyond, scripted])
    text = empty("export", "latex", "paper", "amemgym:figure7a").stdout
    [table] = latex_tables(text)
    assert ["memflow", "0.310 [0.300, 0.320]", "0.310 [0.305, 0.320]", "0.310 [0.300, 0.320] a"] in table
    assert ["difference", "+0.009 within", "\\textbf{+0.223 beyond}", ""] in table
    assert "a: answered, simulated or judged by the scripted chat, so it is not compared." in text
    markdown = empty("export", "markdown", "paper", "amemgym:figure7a").stdout
    assert "**+0.223 beyond**" in markdown and "by the scripted chat" in markdown
    rows = csv.DictReader(empty("export", "csv", "paper", "amemgym:figure7a").stdout.splitlines())
    cells = [row for row in rows if row["value"]]
    assert [(row["table"], row["published"], float(row["low"])) for row in cells][:2] == [
        ("amemgym:figure7a", "0.301", 0.3), ("amemgym:figure7a", "0.087", 0.305),
    ]  # fmt: skip
