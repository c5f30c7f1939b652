"""`--format`: each table as JSON, CSV, Markdown and LaTeX."""

import re
from typing import Any

import pytest
from latex_tables import is_balanced, latex_tables

from memflow.cli.output import Text, heading, note, table
from memflow.cli.tables import csv_text, latex_text, markdown_text

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


def test_latex_leaderboard_has_the_intervals_of_the_scores(measured: Any) -> None:
    [table, *_] = latex_tables(measured("show", "leaderboard", "--format", "latex").stdout)
    interval, assistant = table[0].index("95 \\% interval"), table[0].index("assistant")
    rows = {row[assistant]: row[interval] for row in table if row[0] == "accuracy" or row[0] == ""}
    scores = measured.json("show", "leaderboard", "--metric", "accuracy")["scores"]
    for score in scores:
        if score["low"] is not None:
            assert rows[score["assistant"]] == f"{score['low']:.3f} -- {score['high']:.3f}"


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
