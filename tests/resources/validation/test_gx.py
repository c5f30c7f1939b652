"""Great Expectations: results equal those of memflow.checks, and its suites reject invalid rows."""

import random
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from generated import generate
from valid_rows import probe, valid_rows

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import check_rows
from memflow.checks.expectations import all_expectations, expectations_of
from memflow.checks.rules import Between, EachRow, Expectation, WholeTable
from memflow.pipeline import tables_of
from memflow.records import TABLES, columns
from resources.validation.gx import SUITES, suites_of, validate_rows, validate_suite, write_data_docs

DOMAINS = ("amemgym_demo", "memorybench_demo", "membench_observation_generated", "comem_demo")


@cache
def generated(name: str) -> dict[str, list[Any]]:
    """Return the generated rows of a domain's tables, before any memory is evaluated."""
    made = generate(name, 2)
    return {table: made.rows(table) for table in ("raw.records", *tables_of("domain"))}


def damaged(table: str, rows: list[Any], seed: int) -> list[Any]:
    """Return rows with a changed value in two of three, one duplicate and one missing row. Types stay the same."""
    chance = random.Random(f"{table} {seed}")
    found = [replace(row, **change(table, row, chance)) if chance.random() < 2 / 3 else row for row in rows]
    return [*found[1:], *found[-1:]]


def change(table: str, row: Any, chance: random.Random) -> dict[str, Any]:
    """Return another value for one column of a row."""
    column = chance.choice(columns(table))
    others: dict[Any, list[Any]] = {
        str: ["", "damaged", "7"],
        int: [-1, 10**6],
        float: [-0.5, 1.5],
        bool: [True, False],
        list[str]: [[], ["damaged"]],
        list[float]: [[]],
    }
    return {column.name: chance.choice([*others[column.type], *([None] if column.nullable else [])])}


def worlds(domain: Domain) -> dict[str, dict[str, list[Any]]]:
    """Return sets of tables: valid rows of a domain and an assistant, and rows damaged in three ways."""
    valid = {**valid_rows(), **generated(domain.base)}
    seeds = {f"damaged {seed}": seed for seed in (1, 2, 3)}
    return {"valid": valid} | {
        kind: {table: damaged(table, valid[table], seed) for table in TABLES} for kind, seed in seeds.items()
    }


@pytest.mark.parametrize("name", DOMAINS)
def test_great_expectations_and_built_in_engine_agree_on_every_rule(name: str) -> None:
    domain = find_domain(name).limited(2)
    evaluated, failed = set(), set()
    for kind, world in worlds(domain).items():
        for table in TABLES:
            rules = expectations_of(table, domain.benchmark)
            ours = check_rows(table, world[table], rules, world.__getitem__, domain)
            theirs = validate_rows(table, world[table], rules, world.__getitem__, domain)
            assert ours == theirs, (kind, table)
            evaluated |= {(table, each.name) for each in ours}
            failed |= {(table, each.name) for each in ours if not each.passed}
    expected = {
        (each.table, each.name)
        for each in all_expectations()
        if each.benchmark in (None, domain.benchmark) and each.for_domain(domain) is not None
    }
    assert evaluated == expected
    assert len(failed) > len(evaluated) / 4


def test_great_expectations_and_built_in_engine_agree_on_empty_tables() -> None:
    world: dict[str, list[Any]] = {table: [] for table in TABLES}
    domain = find_domain("memorybench_demo")
    for table in TABLES:
        rules = expectations_of(table, domain.benchmark)
        ours = check_rows(table, [], rules, world.__getitem__, domain)
        assert ours == validate_rows(table, [], rules, world.__getitem__, domain), table


def test_rule_that_raises_an_exception_fails_in_both_engines() -> None:
    def fails(row: Any) -> bool:
        raise KeyError("state")

    rules = [
        Expectation("question.probes", "every_probe_has_a_state", EachRow(fails)),
        Expectation("question.probes", "probes_have_states", WholeTable(lambda rows: fails(rows[0]))),
        Expectation("question.probes", "questions_are_numbers", Between("question", 0, 1)),
    ]
    rows = [probe(1), probe(2)]
    ours = check_rows("question.probes", rows, rules, {}.__getitem__)
    theirs = validate_rows("question.probes", rows, rules, {}.__getitem__)
    assert [each.passed for each in (*ours, *theirs)] == [False] * 6
    assert ours[:2] == theirs[:2]
    assert "could not evaluate questions_are_numbers of question.probes" in (theirs[2].error or "")


@pytest.mark.parametrize("table", SUITES)
def test_valid_rows_pass_the_great_expectations_suite(table: str) -> None:
    assert [each for each in validate_suite(table, valid_rows()[table]) if not each.passed] == []


@pytest.mark.parametrize(
    ("table", "fault", "name"),
    [
        ("raw.records", {"content": "{"}, "expect_column_values_to_be_json_parseable content"),
        ("raw.records", {"licence": None}, "expect_column_values_to_not_be_null licence"),
        ("raw.records", {"record_id": "1"}, "expect_compound_columns_to_be_unique"),
        ("score.leaderboard", {"coverage": 1.1}, "expect_column_values_to_be_between coverage"),
        (
            "score.leaderboard",
            {"value": 0.1},
            "expect_column_pair_values_a_to_be_greater_than_b value low",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else None,
)
def test_great_expectations_suite_names_failed_expectation_and_offending_rows(
    table: str, fault: dict[str, Any], name: str
) -> None:
    rows = valid_rows()[table]
    rows[0] = replace(rows[0], **fault)
    [found] = [each for each in validate_suite(table, rows) if not each.passed]
    assert found.name == name
    assert found.unexpected >= 1
    assert found.offending
    assert found.severity == ("warn" if "pair" in name else "error")


def test_empty_table_fails_the_row_count_expectation() -> None:
    [found] = [each for each in validate_suite("raw.records", []) if not each.passed]
    assert (found.name, found.unexpected) == ("expect_table_row_count_to_be_between", 1)


def test_data_docs_pages_contain_the_rule_names(tmp_path) -> None:
    world, domain = valid_rows(), find_domain("memorybench_demo")
    rules = expectations_of("answer.replies", domain.benchmark)
    suites = list(suites_of("answer.replies", world["answer.replies"], rules, world.__getitem__, domain))
    page = write_data_docs(tmp_path, [(f"answer.replies {at}", each) for at, each in enumerate(suites)])
    assert page.is_file() and page.is_relative_to(tmp_path)
    text = "".join(each.read_text(encoding="utf-8") for each in page.parent.rglob("*.html"))
    assert "unparsed_reply_has_reason" in text
