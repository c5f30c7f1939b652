"""Checks of the texts of generated messages: the demo passes them, and each corruption fails its check."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from membench_generation import Made, make

from memflow.benchmarks.membench.checks.generated import EXPECTED
from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import check_rows

BY_NAME = {each.name: each for each in EXPECTED}


@pytest.fixture(scope="module")
def demo() -> Made:
    return make(find_domain("membench_demo"))


def passes(made: Made, name: str) -> bool:
    check = BY_NAME[name]
    tables = {"utterance.turns": made.turns, "question.probes": made.probes}
    [outcome] = check_rows(check.table, tables[check.table], [check], tables.__getitem__, made.domain)
    return outcome.passed


def changed(rows, at, **changes):
    return [replace(row, **changes) if number == at else row for number, row in enumerate(rows)]


def simple_evidence(rows):
    """Return the position of the first evidence of a simple question."""
    return next(at for at, row in enumerate(rows) if row.exposes and "/simple/" in row.episode_id)


def without_value(rows):
    at = simple_evidence(rows)
    value = json.loads(rows[at].exposes)["value"]
    return changed(rows, at, text=rows[at].text.replace(value, "something").replace(value.capitalize(), "It"))


def without_stale_option(rows):
    at = next(at for at, row in enumerate(rows) if row.category == "knowledge_update")
    gold = rows[at].revealed
    return changed(rows, at, options=[gold if each == gold else f"no {each}" for each in rows[at].options])


CORRUPTIONS: dict[str, tuple[str, Callable[[list], list]]] = {
    "generated_evidence_contains_gold_value": ("turns", without_value),
    "wrong_value_stated_before_correction": ("probes", without_stale_option),
}


def test_every_check_of_generated_rows_has_a_corruption():
    assert set(CORRUPTIONS) == set(BY_NAME)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_demo_rows_pass_check_and_corrupted_rows_fail_check(demo, name):
    assert passes(demo, name)
    table, corruption = CORRUPTIONS[name]
    assert not passes(replace(demo, **{table: corruption(getattr(demo, table))}), name)
