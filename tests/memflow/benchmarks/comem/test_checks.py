"""CoMem's checks pass on the demo, and warn of labels by one model and of questions that give their answers away."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from factories import verdict

from memflow.benchmarks.comem.checks import EXPECTED
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.checks.evaluation import check_rows
from memflow.records import Record

KEYS, PROBES, TURNS, VERDICTS = "question.keys", "question.probes", "utterance.turns", "score.verdicts"
TABLES = (KEYS, PROBES, VERDICTS)
Rows = dict[str, list[Any]]


@pytest.fixture(scope="module")
def made(build: Callable[..., Any], demo: Domain, records: list[Record]) -> Rows:
    """Return the demo's rows, and verdicts with every fourth answer correct."""
    rows: Rows = dict(zip((TURNS, KEYS, PROBES), map(list, build(demo, records)), strict=True))
    rows[VERDICTS] = [
        verdict(
            assistant="none",
            probe_id=probe.probe_id,
            checkpoint=probe.checkpoint,
            value=float(number % 4 == 0),
        )
        for number, probe in enumerate(rows[PROBES])
    ]
    return rows


@pytest.fixture
def rows(made: Rows) -> Rows:
    return {table: list(held) for table, held in made.items()}


def failed(rows: Rows, domain: str = "comem_demo") -> dict[str, int]:
    outcomes = [
        outcome
        for table in TABLES
        for outcome in check_rows(
            table,
            rows[table],
            [each for each in EXPECTED if each.table == table],
            rows.__getitem__,
            find_domain(domain),
        )
    ]
    return {outcome.name: outcome.unexpected for outcome in outcomes if not outcome.passed}


def test_demo_rows_pass_every_comem_check(rows: Rows):
    assert failed(rows) == {}


def annotate(rows: Rows, models: tuple[str | None, str | None]) -> None:
    rows[KEYS] = [
        replace(row, made_by=hand, model=model)
        for row in rows[KEYS]
        for hand, model in zip(("annotator", "verifier"), models, strict=True)
    ]


@pytest.mark.parametrize(
    ("models", "sentences"),
    [
        (("a", "b"), set()),
        (("a", "a"), {"verifier_is_not_the_annotator"}),
        ((None, "b"), {"verifier_is_not_the_annotator"}),
    ],
)
def test_labels_of_fewer_than_two_models_give_warning(
    rows: Rows, models: tuple[str | None, str | None], sentences: set[str]
):
    annotate(rows, models)
    assert set(failed(rows)) == sentences
    assert {each.severity for each in EXPECTED if each.name == "verifier_is_not_the_annotator"} == {"warn"}


def test_equal_gold_of_all_probes_gives_warning(rows: Rows):
    first = rows[PROBES][0].gold
    rows[KEYS] = [replace(row, answer=first) for row in rows[KEYS]]
    rows[PROBES] = [replace(row, gold=first) for row in rows[PROBES]]
    assert failed(rows) == {"constant_answer_accuracy_at_most_50_percent": 4 * 22}


def unknown_gold(rows: Rows) -> set[str]:
    """Return the probes whose gold is the option for unknown, in English or Chinese."""
    return {
        probe.probe_id
        for probe in rows[PROBES]
        if probe.options[int(probe.gold) - 1] in ("I don't know.", "我不知道。")
    }


def test_correct_answers_without_context_give_warning(rows: Rows):
    untold = unknown_gold(rows)
    guesses = [row for row in rows[VERDICTS] if row.checkpoint == 0]
    rows[VERDICTS] = [replace(row, value=1.0) if row.checkpoint == 0 else row for row in rows[VERDICTS]]
    told = [row for row in guesses if row.probe_id not in untold]
    assert untold and failed(rows) == {"no_context_accuracy_not_above_chance": len(told)}
