"""Evaluation of rules: valid rows pass, and every fault fails the rule about it, which names the row."""

from dataclasses import replace

import pytest
from valid_rows import DOMAIN, probe, valid_rows

from memflow.benchmarks.amemgym import checks as amemgym
from memflow.benchmarks.comem import checks as comem
from memflow.benchmarks.domains import find
from memflow.benchmarks.membench import checks as membench
from memflow.benchmarks.memorybench import checks as memorybench
from memflow.benchmarks.memorybench import played
from memflow.checks.evaluation import check_rows, combined
from memflow.checks.expectations import (
    Covers,
    Each,
    Expectation,
    OneOf,
    Together,
    all_expectations,
    continual,
    expectations_of,
)
from memflow.errors import BadInput
from memflow.records import TABLES


def outcomes(world, table):
    """Return the results of one table's rules, by name."""
    found = check_rows(table, world[table], expectations_of(table), world.__getitem__, DOMAIN)
    return {each.name: each for each in found}


def test_sentences_are_names_and_once_to_a_table():
    named = [(each.table, each.name) for each in all_expectations()]
    assert len(named) == len(set(named))
    assert all(name.isidentifier() and name == name.lower() for _, name in named)
    assert {table for table, _ in named} == set(TABLES)


@pytest.mark.parametrize("table", TABLES)
def test_valid_rows_pass_the_rules_of_their_benchmark(table):
    found = outcomes(valid_rows(), table)
    assert [name for name, result in found.items() if not result.passed] == []
    applicable = [each for each in expectations_of(table, DOMAIN.benchmark) if each.of(DOMAIN) is not None]
    assert list(found) == [each.name for each in applicable]


@pytest.mark.parametrize("name", ["amemgym_demo", "comem_demo", "membench_observation_generated"])
def test_no_rule_of_another_benchmark_is_evaluated(name):
    domain = find(name)
    world = valid_rows()
    found = check_rows(
        "question.probes", world["question.probes"], all_expectations(), world.__getitem__, domain
    )
    benchmarks = {each.name: each.benchmark for each in all_expectations()}
    assert {benchmarks[each.name] for each in found} == {None, domain.benchmark}


MAY_BE_EMPTY = [
    "question.keys",
    *(table for table in TABLES if table.split(".")[0] in ("state", "utterance", "feedback", "memory")),
    "score.claims",
]


@pytest.mark.parametrize("table", TABLES)
def test_an_empty_table_fails_only_where_there_must_be_rows(table):
    world = dict.fromkeys(TABLES, ())
    failed = [name for name, outcome in outcomes(world, table).items() if not outcome.passed]
    assert [name.startswith("there_are_") for name in failed] == ([] if table in MAY_BE_EMPTY else [True])


FAULTS = [
    ("raw.records", "records_are_json", {"content": "{"}),
    ("raw.records", "records_say_where_they_come_from", {"licence": ""}),
    ("state.profiles", "users_have_a_name", {"name": " "}),
    ("state.profiles", "start_dates_are_days", {"start_date": "2020-13-01"}),
    ("state.variables", "variables_are_of_a_user", {"user_id": "u9"}),
    ("state.variables", "variables_have_several_choices", {"choices": ["tea", "tea"]}),
    ("state.changes", "values_are_choices_of_their_variable", {"value": "coffee"}),
    ("state.changes", "changes_change_something", {"old": "tea", "value": "tea"}),
    ("state.changes", "periods_end_on_a_day", {"period_end": "20201001"}),
    ("state.entities", "entities_are_of_a_user", {"user_id": "u9"}),
    ("state.entities", "entities_are_of_a_known_kind", {"kind": "friend"}),
    ("state.entities", "attributes_are_json", {"attributes": "[]"}),
    ("utterance.turns", "messages_stand_in_an_order", {"position": 2}),
    ("utterance.turns", "messages_are_said_by_a_role", {"role": "system"}),
    ("utterance.turns", "messages_are_exchanged_or_given", {"kind": "taken"}),
    ("utterance.turns", "messages_say_something", {"text": "\n"}),
    ("question.probes", "probes_are_of_a_known_kind", {"kind": "essay", "gold": "x"}),
    ("question.probes", "probes_are_for_test_or_training", {"split": "dev"}),
    ("question.probes", "questions_say_something", {"question": ""}),
    ("question.probes", "gold_is_given", {"kind": "state", "gold": "[]"}),
    ("question.probes", "gold_is_among_the_options_once", {"gold": "3"}),
    ("question.probes", "gold_is_among_the_options_once", {"gold": "0"}),
    ("question.probes", "gold_is_among_the_options_once", {"gold": "tea"}),
    ("question.probes", "gold_is_among_the_options_once", {"options": ["tea", "tea "]}),
    ("question.probes", "training_and_test_are_disjoint", {"question": "Where, in training?"}),
    ("question.probes", "parents_are_probes", {"parent": "p99"}),
    ("question.probes", "evidence_is_in_the_stream", {"evidence": ["m1", "m9"]}),
    ("feedback.sessions", "rounds_follow_each_other", {"round": 2}),
    ("feedback.sessions", "satisfaction_is_from_1_to_10", {"satisfaction": 11}),
    ("feedback.sessions", "nobody_likes_and_dislikes", {"liked": True, "disliked": True}),
    ("feedback.sessions", "cases_are_probes", {"case_id": "p99"}),
    ("memory.transcripts", "messages_are_said_by_a_role", {"role": "tool"}),
    ("memory.transcripts", "messages_have_a_known_origin", {"origin": "nobody"}),
    ("memory.transcripts", "sequence_not_negative", {"sequence": -1}),
    ("memory.indexes", "entries_live_before_they_retire", {"until": 0}),
    ("memory.indexes", "sources_were_said", {"sources": ["m9"]}),
    ("memory.policies", "policies_keep_something", {"kinds": []}),
    ("memory.policies", "steps_follow_each_other", {"step": 3}),
    ("memory.policies", "no_more_is_correct_than_was_asked", {"correct": 1}),
    ("memory.feedback", "rounds_follow_each_other", {"round": 2}),
    ("memory.feedback", "satisfaction_is_from_1_to_10", {"satisfaction": 11}),
    ("memory.feedback", "nobody_likes_and_dislikes", {"liked": True, "disliked": True}),
    ("memory.feedback", "cases_are_probes", {"case_id": "p99"}),
    ("answer.replies", "replies_are_to_probes", {"probe_id": "p99"}),
    ("answer.replies", "recalled_entries_are_held", {"recalled": ["e9"]}),
    ("answer.replies", "ranked_entries_are_held", {"ranked": ["e9"]}),
    ("answer.replies", "unread_answers_say_why", {"parsed": None}),
    ("answer.replies", "what_is_shown_unsearched_is_not_cut", {"ranked": [], "dropped_tokens": 7}),
    ("score.verdicts", "verdicts_are_of_replies", {"probe_id": "p99"}),
    ("score.verdicts", "values_lie_in_their_metrics_range", {"value": 1.5}),
    ("score.verdicts", "verdicts_have_a_value_or_a_reason", {"value": None}),
    ("score.verdicts", "verdicts_have_a_value_or_a_reason", {"reason": "and a value"}),
    ("score.attributions", "attributions_are_of_verdicts", {"probe_id": "p99"}),
    ("score.attributions", "failures_add_up_to_the_loss", {"loss": 0.5}),
    ("score.attributions", "failures_add_up_to_the_loss", {"read": None}),
    ("score.attributions", "what_is_recalled_was_held", {"recalled": 3}),
    ("score.attributions", "what_is_recalled_was_held", {"stored": 3}),
    ("score.attributions", "what_the_best_entries_recall_was_held", {"recalled_at_10": 3}),
    ("score.claims", "claims_are_found_or_not", {"value": 0.5}),
    ("score.claims", "claims_have_a_value_or_a_reason", {"value": None}),
    ("score.claims", "claims_have_a_value_or_a_reason", {"reason": "and a value"}),
    ("score.leaderboard", "unequal_terms_are_shown", {"differing_settings": "k 5, others 30"}),
    ("score.leaderboard", "coverage_lies_in_the_unit_interval", {"coverage": 1.1}),
    ("score.leaderboard", "figures_rest_on_probes", {"n": 0}),
    ("score.leaderboard", "intervals_hold_their_figure", {"value": 0.9}),
]


@pytest.mark.parametrize(
    ("table", "name", "fault"), FAULTS, ids=[f"{name}-{fault}" for _, name, fault in FAULTS]
)
def test_a_fault_in_one_row_is_found(table, name, fault):
    world = valid_rows()
    world[table][0] = replace(world[table][0], **fault)
    outcome = outcomes(world, table)[name]
    assert not outcome.passed
    assert outcome.unexpected >= 1
    assert outcome.total == len(world[table])
    assert outcome.offending


def test_every_rule_of_one_table_has_a_fault_that_it_finds():
    general = ("_are_unique", "_lack_no_required_column", "_are_quarantined")
    tested = {(table, name) for table, name, _ in FAULTS} | {
        *((each.table, each.name) for each in amemgym.EXPECTED),  # its own tests damage users
        *((each.table, each.name) for each in memorybench.EXPECTED),  # and these, feedback
        *((each.table, each.name) for each in played.EXPECTED),  # and these, what was played
        *(
            (each.table, each.name) for each in membench.EXPECTED
        ),  # and these, lives, trajectories and questions
        *((each.table, each.name) for each in comem.EXPECTED),  # and these, keys and questions
        ("question.probes", "gold_stands_at_every_place_alike"),
        ("score.leaderboard", "one_simulator_per_board"),
        ("score.leaderboard", "failures_add_up_to_the_errors"),  # amemgym/test_scores.py
        ("score.leaderboard", "one_prompt_and_model_per_comparison"),  # tests/memflow/test_board.py
        *((each.table, each.name) for each in continual.EXPECTED),  # its own tests damage figures
        ("memory.indexes", "few_writes_failed"),
        ("answer.replies", "every_probe_has_a_reply"),
        ("score.verdicts", "every_reply_has_a_verdict"),
    }
    named = {(each.table, each.name) for each in all_expectations()}
    assert {
        (table, name)
        for table, name in named
        if not name.endswith(general) and not name.startswith("there_are_")
    } == tested


def test_a_key_twice_names_both_rows():
    world = valid_rows()
    world["question.probes"].append(world["question.probes"][1])
    outcome = outcomes(world, "question.probes")["probes_are_unique"]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (False, 2, "error")
    assert outcome.offending == ("domain=d, probe_id=p2", "domain=d, probe_id=p2")


def test_a_null_where_none_may_be_is_found():
    world = valid_rows()
    world["question.probes"][2] = replace(world["question.probes"][2], revealed=None)
    outcome = outcomes(world, "question.probes")["probes_lack_no_required_column"]
    assert (outcome.unexpected, outcome.offending) == (1, ("domain=d, probe_id=p3",))


def test_no_more_than_three_offending_rows_are_shown():
    world = valid_rows()
    world["question.probes"] = [replace(each, kind="essay") for each in world["question.probes"]]
    outcome = outcomes(world, "question.probes")["probes_are_of_a_known_kind"]
    assert (outcome.unexpected, len(outcome.offending)) == (12, 3)


@pytest.mark.parametrize(("quarantined", "passed"), [(1, True), (2, False)])
def test_a_tenth_may_be_quarantined(quarantined, passed):
    world = valid_rows()
    world["memory.transcripts"] = [
        replace(
            world["memory.transcripts"][0], message_id=f"m{n}", reason="lost" if n < quarantined else None
        )
        for n in range(10)
    ]
    outcome = outcomes(world, "memory.transcripts")["few_messages_are_quarantined"]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (passed, quarantined, "warn")


@pytest.mark.parametrize(("failed", "passed"), [(1, True), (2, False)])
def test_a_tenth_of_what_a_memory_writes_may_fail(failed, passed):
    world = valid_rows()
    entry = world["memory.indexes"][0]
    world["memory.indexes"] = [
        replace(entry, entry_id=f"e{n}", kind="failure" if n < failed else entry.kind) for n in range(10)
    ]
    outcome = outcomes(world, "memory.indexes")["few_writes_failed"]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (passed, failed, "warn")


def test_gold_that_always_stands_first_is_found():
    world = valid_rows()
    world["question.probes"] = [probe(n, gold="1", options=["a", "b", "c", "d"]) for n in range(12)]
    outcome = outcomes(world, "question.probes")["gold_stands_at_every_place_alike"]
    assert (outcome.passed, outcome.unexpected) == (False, 12)


def test_a_question_asked_again_counts_once_for_where_gold_stands():
    world = valid_rows()
    asked = [
        probe(n, question=f"Question {n % 4}?", gold=str(1 + n % 4), options=["a", "b", "c", "d"])
        for n in range(4)
    ]
    again = [replace(asked[0], probe_id=f"again{n}", checkpoint=n) for n in range(40)]
    world["question.probes"] = [*asked, *again]
    assert outcomes(world, "question.probes")["gold_stands_at_every_place_alike"].passed


def test_two_simulators_on_a_board_are_found():
    world = valid_rows()
    board = world["score.leaderboard"]
    board += [
        replace(board[0], slice="period 1", simulator="y"),
        replace(board[0], domain="e", simulator="z"),
    ]
    outcome = outcomes(world, "score.leaderboard")["one_simulator_per_board"]
    assert (outcome.severity, outcome.unexpected) == ("warn", 1)
    assert "slice=period 1" in outcome.offending[0]


def test_a_probe_nobody_answered_and_a_reply_nobody_judged_are_found():
    world = valid_rows()
    del world["answer.replies"][0]
    del world["score.verdicts"][1]
    reply = outcomes(world, "answer.replies")["every_probe_has_a_reply"]
    assert (reply.passed, reply.offending, reply.total) == (False, ("domain=d, probe_id=p1",), 10)
    verdict = outcomes(world, "score.verdicts")["every_reply_has_a_verdict"]
    assert verdict.offending == ("domain=d, assistant=full, probe_id=p2",)


def broken_row(row):
    raise KeyError("state")


def test_a_rule_that_raises_fails_and_names_itself_the_table_and_the_row():
    rules = [
        Expectation(
            "question.probes", "states_are_given", Each(lambda row: row.probe_id != "p2" or broken_row(row))
        ),
        Expectation("question.probes", "kinds_are_known", OneOf("kind", ("choice",))),
        Expectation("question.probes", "states_differ", Together(lambda rows: broken_row(rows[0])), "warn"),
    ]
    broken, sound, together = check_rows("question.probes", [probe(1), probe(2)], rules, {}.__getitem__)
    assert (broken.passed, broken.unexpected, broken.total) == (False, 1, 2)
    assert broken.error == (
        "rule states_are_given of question.probes raised KeyError: 'state' on row domain=d, probe_id=p2"
    )
    assert broken.offending == ("domain=d, probe_id=p2",)
    assert sound.passed
    assert (together.passed, together.error) == (
        False,
        "rule states_differ of question.probes raised KeyError: 'state'",
    )


def test_a_rule_that_raises_while_it_selects_rows_fails_and_names_the_row():
    rule = Expectation(
        "answer.replies", "probes_are_answered", Covers(("probe_id",), "question.probes", broken_row)
    )
    world = valid_rows()
    [found] = check_rows("answer.replies", world["answer.replies"], [rule], world.__getitem__)
    assert not found.passed
    assert found.error == (
        "rule probes_are_answered of answer.replies raised KeyError: 'state' on row domain=d, probe_id=p1"
    )


def test_a_rule_that_depends_on_the_domain_asks_for_it():
    world = valid_rows()
    with pytest.raises(BadInput, match="depends on the domain; name the domain to check"):
        check_rows("question.probes", world["question.probes"], all_expectations(), world.__getitem__)


def test_results_of_partitions_are_added_up_by_rule():
    world = valid_rows()
    rules = expectations_of("question.probes", DOMAIN.benchmark)
    damaged = [replace(each, kind="essay") for each in world["question.probes"]]
    good, bad = (
        check_rows("question.probes", rows, rules, world.__getitem__, DOMAIN)
        for rows in (world["question.probes"], damaged)
    )
    found = {each.name: each for each in combined([*bad, *good])}
    assert list(found) == [each.name for each in good]
    kinds = found["probes_are_of_a_known_kind"]
    assert (kinds.passed, kinds.unexpected, kinds.total) == (False, 12, 24)
    assert len(kinds.offending) == 3
    assert found["probes_are_unique"].passed
