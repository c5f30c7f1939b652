"""Every check of CoMem's rows passes on the demo, and fails on corrupted rows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from factories import verdict

from memflow.benchmarks.comem.checks import EXPECTED, speakers
from memflow.benchmarks.domains import Domain, find
from memflow.checks.evaluation import check_rows
from memflow.records import Record

KEYS, PROBES, TURNS, VERDICTS = "question.keys", "question.probes", "utterance.turns", "score.verdicts"
TABLES = (KEYS, PROBES, VERDICTS)
Rows = dict[str, list[Any]]


@pytest.fixture(scope="module")
def made(build: Callable[..., Any], demo: Domain, records: list[Record]) -> Rows:
    """The demo's rows, and verdicts with every fourth answer correct."""
    rows: Rows = dict(zip((TURNS, KEYS, PROBES), map(list, build(demo, records)), strict=True))
    rows[VERDICTS] = [
        verdict(
            domain=demo.name,
            assistant="none",
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            checkpoint=probe.checkpoint,
            dataset=probe.dataset,
            value=float(number % 4 == 0),
        )
        for number, probe in enumerate(rows[PROBES])
    ]
    return rows


@pytest.fixture
def rows(made: Rows) -> Rows:
    return {table: list(held) for table, held in made.items()}


def failed(rows: Rows, domain: str = "comem_demo") -> dict[str, int]:
    """The sentences that do not hold, and of how many rows."""
    outcomes = [
        outcome
        for table in TABLES
        for outcome in check_rows(
            table,
            rows[table],
            [each for each in EXPECTED if each.table == table],
            rows.__getitem__,
            find(domain),
        )
    ]
    return {outcome.name: outcome.unexpected for outcome in outcomes if not outcome.passed}


def at(rows: Rows, table: str, question: str, checkpoint: int) -> int:
    return next(
        place
        for place, row in enumerate(rows[table])
        if (row.question_id, row.checkpoint) == (question, checkpoint)
    )


def change(rows: Rows, table: str, question: str, checkpoint: int, **values: Any) -> None:
    place = at(rows, table, question, checkpoint)
    rows[table][place] = replace(rows[table][place], **values)


def change_all(rows: Rows, table: str, question: str, **values: Any) -> None:
    rows[table] = [replace(row, **values) if row.question_id == question else row for row in rows[table]]


def test_valid_rows_pass_every_check(rows: Rows):
    assert failed(rows) == {}


def test_other_benchmarks_are_skipped(rows: Rows):
    rows[KEYS] = [replace(row, answer="elf", visible=-1) for row in rows[KEYS]]
    rows[PROBES] = [replace(row, gold="9", revealed="everything") for row in rows[PROBES]]
    assert failed(rows, "amemgym_demo") == {}


# "ana/work": by bus from message 3 of 24 on, by bicycle from 9, on foot from 17; messages are seen 6, 12, 18 and 24.
WORK = "ana/work"
Damage = Callable[[Rows], None]


def _again(rows: Rows) -> Any:
    return rows[KEYS][at(rows, KEYS, WORK, 1)]


DAMAGES: dict[str, tuple[Damage, set[str]]] = {
    "a key says nothing": (
        lambda rows: change(rows, KEYS, WORK, 2, answer=None),
        {"labels_have_answer_or_reason", "probes_have_labels", "gold_matches_final_label"},
    ),
    "a key has an answer and a failure": (
        lambda rows: change(rows, KEYS, WORK, 2, reason="no usable answer"),
        {"labels_have_answer_or_reason"},
    ),
    "a key is a letter": (
        lambda rows: change(rows, KEYS, WORK, 2, answer="B"),
        {
            "labels_are_option_numbers_or_unknown",
            "labels_in_options",
            "gold_matches_final_label",
        },
    ),
    "a key is option 0": (
        lambda rows: change(rows, KEYS, WORK, 2, answer="0"),
        {
            "labels_are_option_numbers_or_unknown",
            "labels_in_options",
            "gold_matches_final_label",
        },
    ),
    "a key is an option that there is not": (
        lambda rows: change(rows, KEYS, WORK, 2, answer="5"),
        {"labels_in_options", "gold_matches_final_label"},
    ),
    "a checkpoint has no key": (
        lambda rows: rows[KEYS].pop(at(rows, KEYS, WORK, 4)),
        {
            "kept_questions_labeled_at_every_checkpoint",
            "probes_have_labels",
            "gold_matches_final_label",
        },
    ),
    "a later key sees less": (
        lambda rows: change(rows, KEYS, WORK, 4, visible=11),
        {"visible_messages_never_decrease", "probes_see_same_messages_as_labels"},
    ),
    "a key sees more than was said": (
        lambda rows: change(rows, KEYS, WORK, 4, visible=25),
        {
            "labels_see_no_future_messages",
            "probes_see_same_messages_as_labels",
        },
    ),
    "a key sees what comes after its checkpoint": (
        lambda rows: change(rows, KEYS, WORK, 1, visible=7),
        {
            "labels_see_no_future_messages",
            "probes_see_same_messages_as_labels",
        },
    ),
    "another hand saw less, and only once": (
        lambda rows: rows[KEYS].insert(0, replace(_again(rows), made_by="published", visible=5)),
        {"annotators_see_same_messages", "kept_questions_labeled_at_every_checkpoint"},
    ),
    "a dropped question is asked": (
        lambda rows: change_all(rows, KEYS, WORK, dropped="two hands disagree"),
        {"no_probes_of_dropped_questions"},
    ),
    "a kept question is not asked": (
        lambda rows: rows.update(
            {PROBES: [probe for probe in rows[PROBES] if probe.question_id != WORK]}
        ),
        {"kept_questions_have_probes"},
    ),
    "a question is not asked at a checkpoint": (
        lambda rows: rows[PROBES].pop(at(rows, PROBES, WORK, 3)),
        {"probes_at_every_checkpoint"},
    ),
    "a question has no keys": (
        lambda rows: rows.update({KEYS: [key for key in rows[KEYS] if key.question_id != WORK]}),
        {"probes_have_labels", "gold_matches_final_label"},
    ),
    "options change places": (
        lambda rows: change(
            rows, PROBES, WORK, 3, options=rows[PROBES][at(rows, PROBES, WORK, 3)].options[::-1]
        ),
        {"same_options_at_every_checkpoint"},
    ),
    "the gold is not the key's": (
        lambda rows: change(
            rows, PROBES, WORK, 3, gold=rows[PROBES][at(rows, PROBES, WORK, 1)].gold
        ),
        {"gold_matches_final_label"},
    ),
    "a guess is graded by the last key": (
        lambda rows: change(
            rows, PROBES, WORK, 0, gold=rows[PROBES][at(rows, PROBES, WORK, 4)].gold
        ),
        {"gold_matches_final_label"},
    ),
    "a question is asked too early": (
        lambda rows: change(rows, PROBES, WORK, 3, after="ana/1.0", evidence=[]),
        {"probes_see_same_messages_as_labels"},
    ),
    "a question is asked after what was never said": (
        lambda rows: change(rows, PROBES, WORK, 3, after="ana/1.99", evidence=[]),
        {"probes_see_same_messages_as_labels"},
    ),
    "evidence comes later": (
        lambda rows: change(rows, PROBES, WORK, 1, evidence=["ana/2.8"]),
        {"evidence_before_probe"},
    ),
    "evidence is another dialogue's": (
        lambda rows: change(
            rows, PROBES, WORK, 1, evidence=[next(
                turn.message_id for turn in rows[TURNS] if turn.episode_id != "ana"
            )]
        ),
        {"evidence_before_probe"},
    ),
    "checkpoint 0 tells the answer": (
        lambda rows: change(rows, PROBES, WORK, 0, revealed="by bus"),
        {"nothing_revealed_at_checkpoint_0"},
    ),
    "a rule knows of nothing": (
        lambda rows: change(rows, KEYS, WORK, 1, visible=0),
        {"rule_labels_unknown_before_first_message", "probes_see_same_messages_as_labels"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_corruption_fails_named_checks(rows: Rows, damage: str):
    apply, sentences = DAMAGES[damage]
    apply(rows)
    assert set(failed(rows)) == sentences


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
        (("a", "a"), {"annotator_and_verifier_differ"}),
        ((None, "b"), {"annotator_and_verifier_differ"}),
    ],
)
def test_verifier_of_own_labels_warns(rows: Rows, models: tuple[str | None, str | None], sentences: set[str]):
    annotate(rows, models)
    assert set(failed(rows)) == sentences
    assert {each.severity for each in EXPECTED if each.name == "annotator_and_verifier_differ"} == {"warn"}


def test_constant_gold_warns(rows: Rows):
    first = rows[PROBES][0].gold
    rows[KEYS] = [replace(row, answer=first) for row in rows[KEYS]]
    rows[PROBES] = [replace(row, gold=first) for row in rows[PROBES]]
    assert failed(rows) == {"constant_answer_below_50_percent": 4 * 22}


def test_unknown_option_is_constant_at_any_position(rows: Rows):
    untold = ("I don't know.", "a", "b", "c")
    rows[PROBES] = [
        replace(
            row,
            options=[*untold[number % 4 :], *untold[: number % 4]],
            gold=str(1 + untold[number % 4 :].index(untold[0])) if number % 4 == 0 else str(5 - number % 4),
        )
        for number, row in enumerate(rows[PROBES])
    ]
    outcome = failed(rows)
    assert outcome["constant_answer_below_50_percent"] == 4 * 22


def no_telling(rows: Rows) -> set[str]:
    """The probes whose key is that there is no telling, in English or Chinese."""
    return {
        probe.probe_id
        for probe in rows[PROBES]
        if probe.options[int(probe.gold) - 1] in ("I don't know.", "我不知道。")
    }


def test_correct_no_context_answers_warn(rows: Rows):
    untold = no_telling(rows)
    guesses = [row for row in rows[VERDICTS] if row.checkpoint == 0]
    rows[VERDICTS] = [replace(row, value=1.0) if row.checkpoint == 0 else row for row in rows[VERDICTS]]
    told = [row for row in guesses if row.probe_id not in untold]
    assert untold and failed(rows) == {"no_context_accuracy_near_chance": len(told)}


def test_unknown_option_is_no_guess(rows: Rows):
    unknown_option = no_telling(rows)
    rows[VERDICTS] = [
        replace(row, value=float(row.probe_id in unknown_option)) if row.checkpoint == 0 else row
        for row in rows[VERDICTS]
    ]
    assert failed(rows) == {}


def test_every_check_has_a_corruption():
    warned = {
        "annotator_and_verifier_differ",
        "constant_answer_below_50_percent",
        "no_context_accuracy_near_chance",
    }
    found = set().union(*(sentences for _, sentences in DAMAGES.values())) | warned
    # Those of speakers have theirs in test_speakers.py.
    elsewhere = {each.name for each in speakers.EXPECTED}
    here = [each for each in EXPECTED if each.name not in elsewhere]
    assert found == {each.name for each in here}
    assert warned == {each.name for each in here if each.severity == "warn"}
