"""What could be made of a domain's users, and why not the rest: at any time, and at the end of a run."""

import json
from io import StringIO

import pytest
from rich.console import Console

from memflow.cli.summary import Summary
from memflow.records import GoldLabel, Probe, Profile
from resources.lake import Lake

LATE = "amemgym/questions: no usable answer in 3 attempts; the last: it was cut off"
OTHER = "amemgym/questions: no usable answer in 3 attempts; the last: it was empty"
ODD = "amemgym/refine: it is not JSON"


def profile(number: int, reason: str | None) -> Profile:
    return Profile(
        domain="mine", user_id=f"u{number}", name="U", profile="", start_date="2020-10-01", reason=reason
    )


def probe(number: int) -> Probe:
    return Probe(
        domain="mine",
        probe_id=f"u3/{number}",
        episode_id="u3",
        checkpoint=0,
        kind="choice",
        dataset="d",
        metric="accuracy",
        question="?",
        options=["a", "b"],
        variables=[],
        gold="1",
        revealed="",
        evidence=[],
    )


@pytest.fixture
def made(empty):
    lake = Lake(empty.folder / "lake")
    lake.write(
        "state.profiles",
        "mine",
        [profile(n, r) for n, r in enumerate([OTHER, ODD, LATE, None])],
        fingerprint="t",
    )
    lake.write("question.probes", "mine", [probe(0), probe(1)], fingerprint="t")
    return empty


def test_shares_and_reasons_the_most_frequent_first(made):
    users, probes = json.loads(made("show", "made", "--format", "json").stdout)
    assert (users["table_name"], users["n"], users["quarantined"]) == ("state.profiles", 4, 3)
    assert (users["reasons"], users["times"]) == ([LATE, ODD], [2, 1])
    assert (probes["n"], probes["quarantined"], probes["reasons"]) == (2, 0, [])
    shown = made("show", "made", "--domain", "mine").stdout
    lines = [line.split() for line in shown.splitlines()]
    assert ["users", "1", "4", "25%"] in lines and ["probes", "2", "2", "100%"] in lines
    assert f"users, 2 x: {LATE}" in shown


def test_questions_that_are_left_out_are_counted_once_and_it_is_told_why(made):
    dropped = {1: None, 2: "it is not there", 3: "it is not there"}
    keys = [
        GoldLabel(
            domain="mine",
            question_id=f"c/q{number}",
            episode_id="c",
            checkpoint=checkpoint,
            made_by="published",
            visible=0,
            answer="1",
            dropped=why,
        )
        for number, why in dropped.items()
        for checkpoint in (1, 2)
    ]
    Lake(made.folder / "lake").write("question.keys", "mine", keys, fingerprint="t")
    _, found, _ = json.loads(made("show", "made", "--format", "json").stdout)
    assert (found["n"], found["quarantined"], found["left_out"]) == (6, 0, 2)
    assert "2 questions are left out, for example: it is not there" in made("show", "made").stdout


def test_a_domain_that_was_never_made_is_said_so(made, empty):
    result = made("show", "made", "--domain", "yours")
    assert result.exit_code == 1 and "'yours' was not generated yet; generated: mine" in result.stderr


def test_where_nothing_was_made_yet_it_says_how(empty):
    result = empty("show", "made")
    assert result.exit_code == 1 and "no domain was generated yet" in result.stderr


def test_a_run_ends_with_what_it_lost():
    lost = {
        "domain": "mine",
        "table_name": "state.profiles",
        "n": 4,
        "quarantined": 3,
        "reasons": [LATE],
        "times": [3],
    }
    summary = Summary([], [], [], [], {}, 1, 0, [], "x.duckdb", [lost])
    assert summary.data()["quarantined"] == [lost]
    console = Console(file=StringIO(), width=160)
    for part in summary.shown():
        console.print(part)
    said = console.file.getvalue()
    assert "mine: valid rows" in said and "25%" in said and f"3 x: {LATE}" in said
