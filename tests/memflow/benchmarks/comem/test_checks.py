"""Every check of CoMem's rows passes on the demo and fails on corrupted rows."""

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


def at(rows: Rows, table: str, question: str, checkpoint: int) -> int:
    return next(
        place
        for place, row in enumerate(rows[table])
        if (row.question_id, row.checkpoint) == (question, checkpoint)
    )


def test_demo_rows_pass_every_comem_check(rows: Rows):
    assert failed(rows) == {}


# "ana/work": by bus from message 3 of 24 on, by bicycle from 9, on foot from 17; messages are seen 6, 12, 18 and 24.
WORK = "ana/work"
Damage = Callable[[Rows], object]


def edit(table: str, checkpoint: int, **values: Any) -> Damage:
    """Return the corruption of one row of the question; a value may be a function of the rows."""

    def apply(rows: Rows) -> None:
        place = at(rows, table, WORK, checkpoint)
        found = {name: value(rows) if callable(value) else value for name, value in values.items()}
        rows[table][place] = replace(rows[table][place], **found)

    return apply


def lose(table: str) -> Damage:
    """Return the corruption that removes the question's rows."""
    return lambda rows: rows.update({table: [row for row in rows[table] if row.question_id != WORK]})


def probe_at(rows: Rows, checkpoint: int) -> Any:
    return rows[PROBES][at(rows, PROBES, WORK, checkpoint)]


def drop_question(rows: Rows) -> None:
    rows[KEYS] = [replace(row, dropped="disagree") if row.question_id == WORK else row for row in rows[KEYS]]


def add_label_with_fewer_messages(rows: Rows) -> None:
    label = rows[KEYS][at(rows, KEYS, WORK, 1)]
    rows[KEYS].insert(0, replace(label, made_by="published", visible=5))


def message_of_other_context(rows: Rows) -> list[str]:
    return [next(turn.message_id for turn in rows[TURNS] if turn.episode_id != "ana")]


NO_OPTION = {"label_answers_in_options", "gold_matches_final_label"}
NO_NUMBER = {"label_is_option_number_or_unknown", *NO_OPTION}
UNSEEN = {"labels_use_no_future_messages", "probes_see_same_messages_as_labels"}
UNLABELED = {"probes_after_checkpoint_0_have_labels", "gold_matches_final_label"}

DAMAGES: list[tuple[Damage, set[str]]] = [
    (edit(KEYS, 2, answer=None), {"labels_have_either_answer_or_reason", *UNLABELED}),
    (edit(KEYS, 2, reason="no usable answer"), {"labels_have_either_answer_or_reason"}),
    (edit(KEYS, 2, answer="B"), NO_NUMBER),
    (edit(KEYS, 2, answer="0"), NO_NUMBER),
    (edit(KEYS, 2, answer="5"), NO_OPTION),
    (
        lambda rows: rows[KEYS].pop(at(rows, KEYS, WORK, 4)),
        {"kept_questions_labeled_at_every_checkpoint", *UNLABELED},
    ),
    (
        edit(KEYS, 4, visible=11),
        {"visible_message_count_never_decreases", "probes_see_same_messages_as_labels"},
    ),
    (edit(KEYS, 4, visible=25), UNSEEN),
    (edit(KEYS, 1, visible=7), UNSEEN),
    (
        add_label_with_fewer_messages,
        {"annotators_see_same_messages", "kept_questions_labeled_at_every_checkpoint"},
    ),
    (drop_question, {"dropped_questions_have_no_probes"}),
    (lose(PROBES), {"kept_questions_have_probes"}),
    (lambda rows: rows[PROBES].pop(at(rows, PROBES, WORK, 3)), {"questions_have_probes_at_every_checkpoint"}),
    (lose(KEYS), UNLABELED),
    (
        edit(PROBES, 3, options=lambda rows: probe_at(rows, 3).options[::-1]),
        {"same_options_at_every_checkpoint"},
    ),
    (edit(PROBES, 3, gold=lambda rows: probe_at(rows, 1).gold), {"gold_matches_final_label"}),
    (edit(PROBES, 0, gold=lambda rows: probe_at(rows, 4).gold), {"gold_matches_final_label"}),
    (edit(PROBES, 3, after="ana/1.0", evidence=[]), {"probes_see_same_messages_as_labels"}),
    (edit(PROBES, 3, after="ana/1.99", evidence=[]), {"probes_see_same_messages_as_labels"}),
    (edit(PROBES, 1, evidence=["ana/2.8"]), {"evidence_messages_precede_probe"}),
    (edit(PROBES, 1, evidence=message_of_other_context), {"evidence_messages_precede_probe"}),
    (edit(PROBES, 0, revealed="by bus"), {"no_gold_context_or_evidence_at_checkpoint_0"}),
    (
        edit(KEYS, 1, visible=0),
        {"rule_labels_unknown_before_first_message", "probes_see_same_messages_as_labels"},
    ),
]


@pytest.mark.parametrize(("damage", "checks"), DAMAGES)
def test_corrupted_rows_fail_expected_comem_checks(rows: Rows, damage: Damage, checks: set[str]):
    damage(rows)
    assert set(failed(rows)) == checks


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


def test_every_comem_check_has_a_corruption_test():
    warned = {
        "verifier_is_not_the_annotator",
        "constant_answer_accuracy_at_most_50_percent",
        "no_context_accuracy_not_above_chance",
    }
    found = set().union(*(sentences for _, sentences in DAMAGES)) | warned
    # Those of speakers have theirs in test_speakers.py, and the examiner in test_examiner.py.
    elsewhere = ("speaker", "true_of", "rule_based_gold")
    here = [each for each in EXPECTED if not any(part in each.name for part in elsewhere)]
    assert found == {each.name for each in here}
    assert warned == {each.name for each in here if each.severity == "warn"}
