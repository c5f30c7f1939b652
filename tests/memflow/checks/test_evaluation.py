"""Evaluation of rules: valid rows pass; an invalid row fails its rule, which names the row."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from valid_rows import DOMAIN, probe, valid_rows

from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import check_rows, combine
from memflow.checks.expectations import all_expectations, expectations_of
from memflow.checks.rules import (
    AcceptedValues,
    EachRow,
    Expectation,
    WholeTable,
)
from memflow.errors import BadInput
from memflow.records import TABLES


def outcomes(world, table):
    """Return the results of one table's rules, by name."""
    found = check_rows(table, world[table], expectations_of(table), world.__getitem__, DOMAIN)
    return {each.name: each for each in found}


def test_every_rule_of_memflow_has_a_description_beyond_its_name():
    bare = [Expectation(each.table, each.name, EachRow(bool)) for each in all_expectations()]
    described = zip(all_expectations(), bare, strict=True)
    assert [each.name for each, named in described if each.description == named.description] == []


@pytest.mark.parametrize("table", TABLES)
def test_valid_rows_pass_all_rules_of_their_benchmark(table):
    found = outcomes(valid_rows(), table)
    assert [name for name, result in found.items() if not result.passed] == []
    applicable = [
        each for each in expectations_of(table, DOMAIN.benchmark) if each.for_domain(DOMAIN) is not None
    ]
    assert list(found) == [each.name for each in applicable]


@pytest.mark.parametrize("name", ["amemgym_demo", "comem_demo", "membench_observation_generated"])
def test_check_rows_skips_rules_of_other_benchmarks(name):
    domain = find_domain(name)
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
    "score.calibrations",
    "score.retrieval",
    "score.rankings",
    "score.comparisons",
    "score.history",
    "score.drift",
]


@pytest.mark.parametrize("table", TABLES)
def test_empty_table_fails_only_the_has_rows_rule(table):
    world = dict.fromkeys(TABLES, ())
    failed = [name for name, outcome in outcomes(world, table).items() if not outcome.passed]
    assert failed == ([] if table in MAY_BE_EMPTY else ["has_rows"])


FAULTS = yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("table", "name", "fault"), FAULTS, ids=[f"{name}-{fault}" for _, name, fault in FAULTS]
)
def test_invalid_row_fails_the_expected_rule(table, name, fault):
    world = valid_rows()
    world[table][0] = replace(world[table][0], **fault)
    outcome = outcomes(world, table)[name]
    assert not outcome.passed
    assert outcome.unexpected >= 1
    assert outcome.total == len(world[table])
    assert outcome.offending


def test_unique_keys_rule_names_both_rows_with_the_same_key():
    world = valid_rows()
    world["question.probes"].append(world["question.probes"][1])
    outcome = outcomes(world, "question.probes")["unique_keys"]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (False, 2, "error")
    assert outcome.offending == ("domain=d, probe_id=p2", "domain=d, probe_id=p2")


def test_not_null_rule_finds_null_in_a_required_column():
    world = valid_rows()
    world["question.probes"][2] = replace(world["question.probes"][2], revealed=None)
    outcome = outcomes(world, "question.probes")["required_columns_not_null"]
    assert (outcome.unexpected, outcome.offending) == (1, ("domain=d, probe_id=p3",))


@pytest.mark.parametrize(
    ("table", "rule", "fault"),
    [
        ("memory.transcripts", "at_most_10_percent_quarantined", {"reason": "lost"}),
        ("memory.indexes", "failed_writes_at_most_10_percent", {"kind": "failure"}),
    ],
)
@pytest.mark.parametrize(("failed", "passed"), [(1, True), (2, False)])
def test_rule_with_a_tolerance_passes_up_to_10_percent_of_the_rows(table, rule, fault, failed, passed):
    world = valid_rows()
    key = "message_id" if table == "memory.transcripts" else "entry_id"
    row = replace(world[table][0], reason=None) if "reason" in fault else world[table][0]
    world[table] = [replace(row, **{key: f"r{n}"}, **(fault if n < failed else {})) for n in range(10)]
    outcome = outcomes(world, table)[rule]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (passed, failed, "warn")


@pytest.mark.parametrize(("failed", "passed"), [(9, True), (10, False)])
def test_reply_rule_fails_with_the_reason_only_if_every_reply_failed(failed, passed):
    world = valid_rows()
    reply = world["answer.replies"][0]
    world["answer.replies"] = [
        replace(reply, probe_id=f"p{n}", **({"reason": "no index", "text": None} if n < failed else {}))
        for n in range(10)
    ]
    outcome = outcomes(world, "answer.replies")["at_least_1_reply_without_failure"]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (passed, failed, "error")
    assert all(offending.endswith(": no index") for offending in outcome.offending)


@pytest.mark.parametrize(
    ("reply", "passed"),
    [
        ({"reason": "no usable answer in 3 attempts", "text": "I do not know."}, True),  # it is measured
        ({"reason": "no usable answer in 3 attempts", "text": ""}, False),
        ({"reason": "the probe is quarantined: x", "text": None}, True),  # it was not asked
        ({"reason": "no index", "text": None}, False),
    ],
)
def test_reply_rule_counts_only_probes_that_were_asked_and_not_answered(reply, passed):
    world = valid_rows()
    world["answer.replies"] = [replace(world["answer.replies"][0], parsed=None, **reply)]
    assert outcomes(world, "answer.replies")["at_least_1_reply_without_failure"].passed is passed


def test_gold_position_rule_fails_if_gold_is_always_at_the_same_position():
    world = valid_rows()
    world["question.probes"] = [probe(n, gold="1", options=["a", "b", "c", "d"]) for n in range(12)]
    outcome = outcomes(world, "question.probes")["gold_option_positions_balanced"]
    assert (outcome.passed, outcome.unexpected) == (False, 12)


def test_gold_position_rule_counts_a_repeated_question_once():
    world = valid_rows()
    asked = [
        probe(n, question=f"Question {n % 4}?", gold=str(1 + n % 4), options=["a", "b", "c", "d"])
        for n in range(4)
    ]
    again = [replace(asked[0], probe_id=f"again{n}", checkpoint=n) for n in range(40)]
    world["question.probes"] = [*asked, *again]
    assert outcomes(world, "question.probes")["gold_option_positions_balanced"].passed


def test_one_simulator_rule_finds_a_second_simulator_in_a_domain():
    world = valid_rows()
    board = world["score.leaderboard"]
    board += [
        replace(board[0], slice="period 1", simulator="y"),
        replace(board[0], domain="e", simulator="z"),
    ]
    outcome = outcomes(world, "score.leaderboard")["one_simulator_per_domain"]
    assert (outcome.severity, outcome.unexpected) == ("warn", 1)
    assert "slice=period 1" in outcome.offending[0]


def test_coverage_rules_find_probe_without_reply_and_reply_without_verdict():
    world = valid_rows()
    del world["answer.replies"][0]
    del world["score.verdicts"][1]
    reply = outcomes(world, "answer.replies")["every_test_probe_has_reply"]
    assert (reply.passed, reply.offending, reply.total) == (False, ("domain=d, probe_id=p1",), 10)
    verdict = outcomes(world, "score.verdicts")["every_reply_has_verdict"]
    assert verdict.offending == ("domain=d, assistant=full, probe_id=p2",)


def broken_row(row):
    raise KeyError("state")


def test_rule_that_raises_an_exception_fails_and_names_the_row():
    rules = [
        Expectation(
            "question.probes",
            "states_are_given",
            EachRow(lambda row: row.probe_id != "p2" or broken_row(row)),
        ),
        Expectation("question.probes", "kinds_are_known", AcceptedValues("kind", ("choice",))),
        Expectation("question.probes", "states_differ", WholeTable(lambda rows: broken_row(rows[0])), "warn"),
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


@pytest.mark.parametrize("table", TABLES)
def test_check_results_are_equal_with_columns_or_rows_of_other_tables(table):
    world = valid_rows()
    damaged = world | {name: rows[1:] for name, rows in world.items() if name != table}

    def other_columns(name, names):
        return [tuple(getattr(row, column) for column in names) for row in damaged[name]]

    rules = expectations_of(table, DOMAIN.benchmark)
    from_rows, from_columns = (
        check_rows(table, damaged[table], rules, damaged.__getitem__, DOMAIN, given)
        for given in (None, other_columns)
    )
    assert from_columns == from_rows


def test_check_rows_without_domain_rejects_a_domain_dependent_rule():
    world = valid_rows()
    with pytest.raises(BadInput, match="depends on the domain, but no domain is given"):
        check_rows("question.probes", world["question.probes"], all_expectations(), world.__getitem__)


def test_combine_sums_rule_results_of_several_partitions():
    world = valid_rows()
    rules = expectations_of("question.probes", DOMAIN.benchmark)
    damaged = [replace(each, kind="essay") for each in world["question.probes"]]
    good, bad = (
        check_rows("question.probes", rows, rules, world.__getitem__, DOMAIN)
        for rows in (world["question.probes"], damaged)
    )
    found = {each.name: each for each in combine([*bad, *good])}
    assert list(found) == [each.name for each in good]
    kinds = found["valid_probe_kind"]
    assert (kinds.passed, kinds.unexpected, kinds.total) == (False, 12, 24)
    assert len(kinds.offending) == 3
    assert found["unique_keys"].passed
