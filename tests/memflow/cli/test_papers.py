"""`memflow papers`, `show paper` and `plan --paper`."""

from dataclasses import replace

import factories
import pytest

SCORE = factories.score(
    domain="amemgym_base.published",
    metric="write_failure",
    model="small",
    value=0.31,
    low=0.3,
    high=0.32,
    scripted=False,
)


def test_papers_lists_tables_with_what_is_missing(empty):
    rows = {row["table"]: row for row in empty.json("papers", "amemgym")}
    assert rows["amemgym:table2"]["command"] == "memflow run --paper amemgym:table2 --model gpt-4.1-mini"
    assert rows["amemgym:table2"]["missing"] == ["amemgym_v1_base", "amemgym_v1_base_run"]
    assert rows["amemgym:figure12"]["missing"] == []
    assert rows["amemgym:table1"]["command"] == "" and rows["amemgym:table1"]["unavailable"]
    assert "there is no paper 'amemgim'. Did you mean amemgym?" in empty.error("papers", "amemgim")


def test_show_paper_prints_the_published_values_and_the_command_before_a_run(empty, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = empty("show", "paper", "amemgym:figure7a").stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("AWE"))
    assert lines[at].split() == ["AWE", "0.338", "0.159", "0.074"]
    assert lines[at + 1].split() == ["memflow", "-", "-", "-"]
    assert "-: not run. memflow run --paper amemgym:figure7a --model gpt-4.1-mini" in lines
    assert any("missing: amemgym_v1_base. " in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_show_paper_prints_the_difference_and_what_differs(empty):
    scripted = replace(SCORE, metric="read_failure", scripted=True)
    empty.write("score.leaderboard", "all", [SCORE, scripted])
    lines = empty("show", "paper", "amemgym:figure7a").stdout.splitlines()
    rows = [line.split() for line in lines]
    assert ["LLM", "0.301", "0.087", "0.244"] in rows
    assert ["memflow", "0.310", "0.310", "a", "none", "b"] in rows
    assert "b: the run has no value of this slice, metric and variant; a sample may lack it." in lines
    assert ["difference", "+0.009", "within"] in rows
    assert "a: answered, simulated or judged by the scripted chat, so it is not compared." in lines
    assert "memflow's values are of the model small; the paper's: gpt-4.1-mini." in lines
    (cell,) = [cell for cell in empty.json("show", "paper", "amemgym:figure7a")["cells"] if cell["verdict"]]
    assert (cell["row"], cell["published"], cell["value"], cell["verdict"]) == (
        "LLM",
        "0.301",
        0.31,
        "within",
    )


def test_model_that_the_paper_lacks_has_a_row_of_its_own_in_a_table_of_models(empty):
    score = replace(SCORE, domain="longmemeval_oracle~4", memory="full", assistant="full", metric="accuracy")
    empty.write("score.leaderboard", "all", [score])
    cells = empty.json("show", "paper", "longmemeval:table8")["cells"]
    values = {cell["row"]: cell["value"] for cell in cells if cell["column"] == "Oracle, LC CoN"}
    assert values.pop("small") == SCORE.value
    assert len(values) == 5 and set(values.values()) == {None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "paper", "amemgym:figur7a"), "has no table 'figur7a'. Did you mean figure7a"),
        (
            ("show", "paper", "amemgym:table8", "--model", "smal"),
            "the stored table amemgym:table8 has no model 'smal'",
        ),
        (("plan", "--paper", "membench:table3", "--model", "scripted"), "none of its data sets is installed"),
    ],
)
def test_wrong_names_and_missing_data_are_sentences(empty, arguments, message):
    assert message in empty.error(*arguments)
