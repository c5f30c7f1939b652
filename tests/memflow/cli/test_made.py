"""`show made` and the run summary: counts of generated and quarantined rows, with reasons."""

import factories
import pytest

from memflow.cli.summary import Summary
from memflow.operations.planned_runs import Outcome

MINE = "mine"
LATE = "amemgym/questions: no usable answer in 3 attempts; the last: it was cut off"
OTHER = "amemgym/questions: no usable answer in 3 attempts; the last: it was empty"
ODD = "amemgym/refine: it is not JSON"


@pytest.fixture
def made(empty):
    reasons = [OTHER, ODD, LATE, None]
    profiles = [
        factories.profile(domain=MINE, user_id=f"u{at}", reason=reason) for at, reason in enumerate(reasons)
    ]
    empty.write("state.profiles", MINE, profiles)
    empty.write(
        "question.probes", MINE, [factories.probe(domain=MINE, probe_id=f"u3/{at}") for at in range(2)]
    )
    return empty


def test_show_made_counts_rows_and_sorts_reasons_by_frequency(made):
    users, probes = made.json("show", "made")
    assert (users["table_name"], users["n"], users["quarantined"]) == ("state.profiles", 4, 3)
    assert (users["reasons"], users["times"]) == ([LATE, ODD], [2, 1])
    assert (probes["n"], probes["quarantined"], probes["reasons"]) == (2, 0, [])
    shown = made("show", "made", "--domain", MINE).stdout
    lines = [line.split() for line in shown.splitlines()]
    assert ["users", "1", "4", "25%"] in lines and ["probes", "2", "2", "100%"] in lines
    assert f"users, 2 x: {LATE}" in shown


def test_show_made_counts_a_question_dropped_at_two_checkpoints_once(made):
    dropped = {1: None, 2: "it is not there", 3: "it is not there"}
    labels = [
        factories.gold_label(domain=MINE, question_id=f"c/q{number}", checkpoint=checkpoint, dropped=why)
        for number, why in dropped.items()
        for checkpoint in (1, 2)
    ]
    made.write("question.keys", MINE, labels)
    _, found, _ = made.json("show", "made")
    assert (found["n"], found["quarantined"], found["left_out"]) == (6, 0, 2)
    assert "2 questions are omitted, for example: it is not there" in made("show", "made").stdout


def test_show_made_rejects_a_domain_that_was_not_generated(made, empty):
    assert "no generated domain 'yours'" in made.error("show", "made", "--domain", "yours")


def test_run_summary_lists_quarantined_rows_with_reasons(printed):
    lost = {"domain": MINE, "table_name": "state.profiles", "n": 4, "quarantined": 3}
    lost |= {"reasons": [LATE], "times": [3]}
    summary = Summary(Outcome(), [], [], made=[lost])
    assert summary.data()["quarantined"] == [lost]
    said = printed(summary)
    assert "mine: valid rows" in said and "25%" in said and f"3 x: {LATE}" in said


def test_run_summary_states_failed_requests_and_cut_answers_with_the_next_step(printed):
    usage = {"stage": "memory", "role": "assistant", "requests": 3, "cache_hits": 1, "failed": 2, "cut": 1}
    usage |= {"prompt_tokens": 9, "cached_tokens": 0, "completion_tokens": 9, "latency_s": 1.0}
    outcome = Outcome(usage=[usage], failed_requests={"evaluate_memory d · full": 2})
    summary = Summary(outcome, [], [])
    assert summary.data()["failed_requests"] == {"evaluate_memory d · full": 2}
    said = " ".join(printed(summary).split())
    assert "failed requests; rerun the command to send them again, and only them" in said
    assert "evaluate_memory d · full: 2" in said
    assert "1 answers (25.0%) of the role assistant were cut at the token limit" in said
    assert "[token_limits.assistant]" in said
