"""Checks of the times of MemBench's messages."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from membench_files import read, split, time

from memflow.benchmarks.membench.checks.rows import EXPECTED, find_decreasing_times
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.selection import select_trajectories
from memflow.benchmarks.membench.turns import turn_rows
from memflow.benchmarks.registry import expectations, find_domain
from memflow.checks.evaluation import check_rows

NAMES = {rule.name for rule in EXPECTED}
DOMAIN = find_domain("membench_participation_100k_all")
SOURCE = "membench/data2test/100k/FirstAgentDataLowLevel_multiple_1.json"
TURNS, PROBES = "utterance.turns", "question.probes"
Rows = dict[str, list[Any]]


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    files = {SOURCE: split("participation", "factual", 1, units=1)}
    selected = select_trajectories(DOMAIN, read("membench_participation_100k", files, tmp_path))
    return {
        TURNS: [turn for each in selected for turn in turn_rows("d", each)],
        PROBES: [probe for each in selected for probe in probe_rows("d", each)],
    }


def failed(rows: Rows, table: str, domain: str = DOMAIN.name) -> dict[str, int]:
    expected = [rule for rule in expectations("membench") if rule.table == table and rule.name in NAMES]
    outcomes = check_rows(table, rows[table], expected, rows.__getitem__, find_domain(domain))
    return {outcome.name: outcome.unexpected for outcome in outcomes if not outcome.passed}


def test_valid_turns_and_probes_pass_membench_checks(rows: Rows):
    assert len(rows[PROBES]) == 18
    assert failed(rows, TURNS) == failed(rows, PROBES) == {}


def test_turn_with_invalid_time_fails_parseable_message_times_check(rows: Rows):
    rows[TURNS][0] = replace(rows[TURNS][0], sent_at="on Monday")
    assert failed(rows, TURNS) == {"message_times_are_parseable": 1}


def test_decreasing_message_time_is_found_and_gives_warning(rows: Rows):
    rows[TURNS][2] = replace(rows[TURNS][2], sent_at=time(-5))
    assert find_decreasing_times(rows[TURNS]) == [2]
    assert {each.severity for each in EXPECTED if each.name == "message_times_never_decrease"} == {"warn"}
