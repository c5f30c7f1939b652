"""`--format`: each table as JSON, CSV, Markdown and LaTeX."""

import re
from dataclasses import fields, replace
from typing import Any

import factories
import pytest
from latex_tables import is_balanced, latex_tables

from memflow.records import Score
from memflow.rendering.tables import Text, csv_text, latex_text, markdown_text, table
from memflow.rendering.texts import heading, note

VIEWS = [
    ("show", "leaderboard"),
    ("show", "verdicts"),
    ("show", "health"),
    ("show", "usage"),
    ("compare", "full", "none"),
    ("domains",),
    ("memories",),
    ("models",),
    ("sql", "SELECT assistant, value FROM score.leaderboard LIMIT 2"),
]


@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
def test_every_table_is_available_in_each_format(measured: Any, view: tuple[str, ...]) -> None:
    assert measured.json(*view)
    assert len(measured.csv(*view)) > 0
    markdown = measured(*view, "--format", "markdown").stdout
    assert re.search(r"^\|(---\||--:\|)+$", markdown, re.MULTILINE)
    assert latex_tables(measured(*view, "--format", "latex").stdout)


def test_csv_has_a_row_for_each_score_with_full_precision(measured: Any) -> None:
    rows = measured.csv("show", "leaderboard", "--slices", "--variants")
    scores = measured.json("show", "leaderboard", "--slices", "--variants")["scores"]
    assert [row["value"] and float(row["value"]) for row in rows] == [
        "" if score["value"] is None else score["value"] for score in scores
    ]
    assert {*rows[0]} == {field.name for field in fields(Score)}


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_labels_and_missing_values_stand_in_documents(measured: Any, form: str) -> None:
    metrics = ("--metric", "accuracy", "--metric", "recall_at_10")
    text = measured("show", "leaderboard", *metrics, "--format", form).stdout
    for label in ("scripted, not a language model", "sample of 1", "does not rank what it recalls"):
        assert label in text.replace("\\_", "_")


def test_latex_leaderboard_has_a_row_per_assistant_with_intervals(measured: Any) -> None:
    text = measured("show", "leaderboard", "--format", "latex").stdout
    [table] = latex_tables(text)
    rows = {row[0]: row[1:] for row in table}
    scores = measured.json("show", "leaderboard", "--metric", "accuracy")["scores"]
    assert {*rows} - {"assistant"} == {score["assistant"] for score in scores}
    at = rows["assistant"].index("accuracy")
    for score in scores:
        if score["low"] is not None:
            ends = f"[{score['low']:.2f} {score['high']:.2f}]"
            assert rows[score["assistant"]][at] == f"{score['value']:.3f} {ends}"
    assert "\\caption{amemgym\\_demo\\textasciitilde{}1 · sample of 1}" in text
    assert "Bold: better than" in text


def test_paper_has_intervals_and_bold_differences_beyond_them(empty: Any) -> None:
    score = factories.score(
        domain="amemgym_base.published", metric="write_failure", model="small", value=0.31, low=0.3, high=0.32
    )
    beyond = replace(score, metric="read_failure", low=0.305)
    empty.write("score.leaderboard", "all", [score, beyond])
    view = ("show", "paper", "amemgym:figure7a", "--format")
    [table] = latex_tables(empty(*view, "latex").stdout)
    assert table[2][:3] == ["memflow", "0.310 [0.300, 0.320]", "0.310 [0.305, 0.320]"]
    assert table[3][:3] == ["difference", "+0.009 within", "\\textbf{+0.223 beyond}"]
    assert "**+0.223 beyond**" in empty(*view, "markdown").stdout


def test_latex_and_markdown_escape_markup_and_csv_keeps_values() -> None:
    parts = [
        heading("a_title"),
        table(["na_me", "value", "empty"], [["50% & <b>|\\", -0.25, None], [Text("x\ny"), 1234.5, None]]),
        note("100 %"),
    ]
    latex = latex_text(parts)
    assert latex_tables(latex) == [
        [["na\\_me", "value"], ["50\\% \\& $<$b$>$$|$\\textbackslash{}", "$-$0.250"], ["x y", "1,234.500"]]
    ]
    assert "\\caption{a\\_title}\n" in latex and "\\par\\footnotesize 100 \\%\n\\end{table}" in latex
    assert "| 50% & \\<b\\>\\|\\\\ | -0.250 |" in markdown_text(parts)
    assert csv_text({}, parts, None) == 'na_me,value,empty\r\n50% & <b>|\\,-0.25,\r\n"x\ny",1234.5,\r\n'


def test_unknown_format_names_the_formats(measured: Any) -> None:
    result = measured("show", "leaderboard", "--format", "xml")
    assert result.exit_code == 2
    assert "'xml' is not one of 'table', 'json', 'csv', 'markdown', 'latex'" in " ".join(
        result.stderr.split()
    )


def test_bold_cells_and_texts_that_latex_would_obey() -> None:
    parts = [table(["name", "value"], [["[x]", Text("0.5", "bold")], ["--y\x1b\ud800", 0.25]])]
    latex = latex_text(parts)
    assert "{}[x] & \\textbf{0.5} \\\\" in latex and "-{}-y$<$U+001B$>$$<$U+D800$>$ & 0.250" in latex
    assert latex.encode("ascii") and is_balanced(latex)
    assert "| \\[x\\] | **0.5** |" in markdown_text(parts)
