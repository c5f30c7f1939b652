"""Rules of checks on memory.feedback and on the tables that are built before a memory is evaluated.

Rules about content skip quarantined rows.
"""

import datetime
import json
from collections import Counter, defaultdict
from collections.abc import Sequence

from memflow.benchmarks.domains import Domain
from memflow.checks.rules import (
    AcceptedValues,
    Between,
    EachRow,
    Expectation,
    ForeignKey,
    PerDomain,
    Rule,
    Unique,
    WholeTable,
    each_valid_row,
    expect,
)
from memflow.records import UNASKED, FeedbackRound, PlayedRound, Probe


def _is_iso_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_json(text: str, kind: type = object) -> bool:
    try:
        return isinstance(json.loads(text), kind)
    except ValueError:
        return False


def _gold_in_options(probe: Probe) -> bool:
    """Return whether a choice probe's gold is an option's number and no other option has the same text."""
    if probe.kind != "choice":
        return True
    if not (probe.gold.isascii() and probe.gold.isdigit() and 1 <= int(probe.gold) <= len(probe.options)):
        return False
    texts = [option.strip() for option in probe.options]
    return texts.count(texts[int(probe.gold) - 1]) == 1


def _has_gold(probe: Probe) -> bool:
    return _is_json(probe.gold, dict) if probe.kind == "state" else bool(probe.gold.strip())


def _frequent_gold_positions(probes: Sequence[Probe]) -> set[int]:
    """Return the indices of choice probes whose gold option number is too frequent (by over 3 standard errors).

    A question that is asked at several checkpoints counts once.
    """
    positions: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    questions: set[tuple[str, str, str, tuple[str, ...]]] = set()
    for position, probe in enumerate(probes):
        question = probe.episode_id, probe.question, probe.gold, tuple(probe.options)
        if question in questions:
            continue
        questions.add(question)
        if probe.kind == "choice" and probe.reason is None:
            positions[len(probe.options)][probe.gold].append(position)
    indices: set[int] = set()
    for options, by_gold in positions.items():
        n = sum(map(len, by_gold.values()))
        share = 1 / options if options else 1.0
        bound = share + 3 * (share * (1 - share) / n) ** 0.5
        indices.update(i for group in by_gold.values() if len(group) / n > bound for i in group)
    return indices


def _test_questions_in_training(probes: Sequence[Probe]) -> list[int]:
    """Return the indices of test probes whose question also occurs in a training probe of the same episode."""

    def question(probe: Probe) -> tuple[str, str, str]:
        return probe.dataset, probe.episode_id, probe.question.strip()

    training = {question(probe) for probe in probes if probe.split == "train"}
    return [i for i, probe in enumerate(probes) if probe.split == "test" and question(probe) in training]


def _gaps_between_rounds(rounds: Sequence[FeedbackRound]) -> list[int]:
    """Return the indices of feedback rounds whose number is not one more than in the dialogue's previous round."""
    round_counts: Counter[tuple[str, int]] = Counter()
    indices = []
    for index, round_ in sorted(enumerate(rounds), key=lambda item: item[1].round):
        dialogue = round_.case_id, round_.checkpoint if isinstance(round_, PlayedRound) else 0
        if round_.round != round_counts[dialogue]:
            indices.append(index)
        round_counts[dialogue] += 1
    return sorted(indices)


def _train_test_disjoint(domain: Domain) -> Rule | None:
    """Return the rule that training and test questions are disjoint.

    Return None under the protocols `training` and `same`, which test on training questions.
    """
    overlap = domain.parameters.get("protocol") in ("training", "same")
    return None if overlap else WholeTable(_test_questions_in_training)


ROLES = ("user", "assistant")
ENTITY_KINDS = ("self", "relative", "colleague", "work_event", "rest_event", "item", "place")
_USER = ForeignKey(("user_id",), "state.profiles", ("user_id",))
_FEEDBACK: dict[str, Rule] = {
    "feedback_rounds_are_consecutive": WholeTable(_gaps_between_rounds),
    "satisfaction_between_1_and_10": Between("satisfaction", 1, 10),
    "like_and_dislike_mutually_exclusive": EachRow(lambda row: not (row.liked and row.disliked)),
    "case_id_in_probes": ForeignKey(("case_id",), "question.probes", ("probe_id",)),
}

EXPECTED: tuple[Expectation, ...] = (
    *expect(
        "raw.records",
        {
            "record_content_is_json": EachRow(lambda row: _is_json(row.content)),
            "provenance_fields_not_empty": EachRow(
                lambda row: bool(row.source and row.sha256 and row.licence and row.origin)
            ),
        },
    ),
    *expect(
        "state.profiles",
        {
            "user_name_not_blank": each_valid_row(lambda row: bool(row.name.strip())),
            "start_date_is_iso_date": each_valid_row(lambda row: _is_iso_date(row.start_date)),
        },
    ),
    *expect(
        "state.variables",
        {
            "user_id_in_profiles": _USER,
            "variable_has_at_least_2_distinct_choices": EachRow(
                lambda row: len(row.choices) >= 2 and len(set(row.choices)) == len(row.choices)
            ),
        },
    ),
    *expect(
        "state.changes",
        {
            "new_value_in_choices_of_variable": ForeignKey(
                ("user_id", "variable", "value"), "state.variables", ("user_id", "variable", "choices")
            ),
            "new_value_differs_from_old_value": EachRow(lambda row: row.old != row.value),
            "period_end_is_iso_date": EachRow(lambda row: _is_iso_date(row.period_end)),
        },
    ),
    *expect(
        "state.entities",
        {
            "user_id_in_profiles": _USER,
            "valid_entity_kind": AcceptedValues("kind", ENTITY_KINDS),
            "entity_attributes_are_json_object": EachRow(lambda row: _is_json(row.attributes, dict)),
        },
    ),
    *expect(
        "utterance.turns",
        {
            "unique_message_positions": Unique(("episode_id", "event", "position")),
            "valid_message_role": AcceptedValues("role", ROLES),
            "valid_message_kind": AcceptedValues("kind", ("exchange", "given")),
            "message_text_not_blank": each_valid_row(lambda row: bool(row.text.strip())),
        },
    ),
    *expect(
        "question.probes",
        {
            "valid_probe_kind": AcceptedValues("kind", ("choice", "open", "state", *sorted(UNASKED))),
            "valid_split": AcceptedValues("split", ("test", "train")),
            "question_not_blank": each_valid_row(lambda row: bool(row.question.strip())),
            "gold_not_blank": each_valid_row(_has_gold),
            "gold_in_options": each_valid_row(_gold_in_options),
            "parent_probe_exists": ForeignKey(("parent",), "question.probes", ("probe_id",)),
        },
    ),
    *expect(
        "question.probes",
        {
            "gold_option_positions_balanced": WholeTable(_frequent_gold_positions),
            "train_and_test_disjoint": PerDomain(_train_test_disjoint),  # some sets repeat questions
            "evidence_messages_in_history": ForeignKey(
                ("evidence",), "utterance.turns", ("message_id",), exempt_prefix="feedback/"
            ),
        },
        "warn",
    ),
    *expect("feedback.sessions", _FEEDBACK),
    *expect("memory.feedback", _FEEDBACK),
)
