"""Great Expectations: its suites reject invalid rows, and its Data Docs need no network."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from valid_rows import valid_rows

from memflow.checks.evaluation import RuleResult
from memflow.resources.validation.gx import POLICY, SUITES, page_path, validate_suite


def failures(table: str, rows: list[Any], folder: Path) -> list[RuleResult]:
    """Return the failed expectations of a table's suite on rows."""
    return [each for each in validate_suite(table, "part/1", rows, folder) if not each.passed]


@pytest.mark.parametrize("table", SUITES)
def test_valid_rows_pass_the_great_expectations_suite(table: str, tmp_path: Path) -> None:
    assert failures(table, valid_rows()[table], tmp_path) == []


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
    table: str, fault: dict[str, Any], name: str, tmp_path: Path
) -> None:
    rows = valid_rows()[table]
    rows[0] = replace(rows[0], **fault)
    [found] = failures(table, rows, tmp_path)
    assert found.name == name
    assert found.unexpected >= 1
    assert found.offending
    assert found.severity == ("warn" if "pair" in name else "error")


def test_empty_table_fails_the_row_count_expectation(tmp_path: Path) -> None:
    [found] = failures("raw.records", [], tmp_path)
    assert (found.name, found.unexpected) == ("expect_table_row_count_to_be_between", 1)


@pytest.mark.parametrize("table", SUITES)
def test_page_of_data_docs_is_one_file_that_loads_and_runs_nothing(table: str, tmp_path: Path) -> None:
    rows = valid_rows()[table]
    text = "<script>alert(1)</script>"
    rows[0] = replace(rows[0], **{"sha256" if table == "raw.records" else "simulator": text})
    validate_suite(table, "part/1", rows, tmp_path)
    assert list(tmp_path.iterdir()) == [page_path(tmp_path, table, "part/1")]
    page = page_path(tmp_path, table, "part/1").read_text(encoding="utf-8")
    assert re.search("<head>(.*?)>", page)[1].endswith(f'content="{POLICY}"')  # type: ignore[index]
    assert f"{table} of part/1" in page and "Values" in page
    assert text not in page
