"""Checks of MemBench's rows: valid rows pass, and each corruption fails its check."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from membench_files import read, split, time

from memflow.benchmarks.membench.checks.rows import EXPECTED, find_decreasing_times
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.selection import select_trajectories
from memflow.benchmarks.membench.turns import is_noise, turn_rows
from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import check_rows
from memflow.checks.rules import of_benchmark

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
    expected = [each for each in of_benchmark("membench", EXPECTED) if each.table == table]
    outcomes = check_rows(table, rows[table], expected, rows.__getitem__, find_domain(domain))
    return {outcome.name: outcome.unexpected for outcome in outcomes if not outcome.passed}


def test_valid_turns_and_probes_pass_membench_checks(rows: Rows):
    assert len(rows[PROBES]) == 18
    assert failed(rows, TURNS) == failed(rows, PROBES) == {}


def noise_of(rows: Rows) -> int:
    return next(at for at, turn in enumerate(rows[TURNS]) if is_noise(turn.message_id))


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"options": ["60", "61", "62"]}, "four_distinct_options"),
        ({"options": ["60", "61", "60 ", "63"]}, "four_distinct_options"),
        ({"gold": "1"}, "text_of_gold_option_equals_answer"),
        ({"gold": "5"}, "text_of_gold_option_equals_answer"),
        ({"gold": "B"}, "text_of_gold_option_equals_answer"),
        ({"evidence": []}, "evidence_not_empty"),
        ({"evidence": ["nowhere/0.0u"]}, "evidence_precedes_probe_in_its_episode"),
        ({"evidence": lambda rows: rows[PROBES][1].evidence}, "evidence_precedes_probe_in_its_episode"),
        ({"checkpoint": -1}, "evidence_precedes_probe_in_its_episode"),
        ({"evidence": lambda rows: [rows[TURNS][noise_of(rows)].message_id]}, "evidence_contains_no_noise"),
        ({"category": "rec_multi_session"}, "valid_question_kind_and_scenario"),
        ({"category": None}, "valid_question_kind_and_scenario"),
    ],
)
def test_corrupted_probe_fails_expected_membench_check(rows: Rows, changes: dict[str, Any], check: str):
    values = {name: value(rows) if callable(value) else value for name, value in changes.items()}
    rows[PROBES][0] = replace(rows[PROBES][0], **values)
    assert failed(rows, PROBES) == {check: 1}
    assert failed(rows, PROBES, "amemgym_demo") == {}


def test_probe_with_quarantined_evidence_message_fails_check(rows: Rows):
    evidence = rows[PROBES][0].evidence[0]
    at = next(at for at, turn in enumerate(rows[TURNS]) if turn.message_id == evidence)
    rows[TURNS][at] = replace(rows[TURNS][at], reason="it is truncated")
    assert failed(rows, PROBES) == {"evidence_precedes_probe_in_its_episode": 1}


@pytest.mark.parametrize("changes", [{"sent_at": time(1)}, {"exposes": '{"value": "61"}'}])
def test_noise_message_with_time_or_gold_fails_check(rows: Rows, changes: dict[str, str]):
    at = noise_of(rows)
    rows[TURNS][at] = replace(rows[TURNS][at], **changes)
    assert failed(rows, TURNS) == {"noise_messages_have_null_sent_at_and_exposes": 1}


def test_turn_with_invalid_time_fails_parseable_message_times_check(rows: Rows):
    rows[TURNS][0] = replace(rows[TURNS][0], sent_at="on Monday")
    assert failed(rows, TURNS) == {"message_times_are_parseable": 1}


def test_decreasing_message_time_is_found_and_gives_warning(rows: Rows):
    rows[TURNS][2] = replace(rows[TURNS][2], sent_at=time(-5))
    assert find_decreasing_times(rows[TURNS]) == [2]
    assert {each.severity for each in EXPECTED if each.name == "message_times_never_decrease"} == {"warn"}
