"""The checks of question.probes against gold labels and messages. Public functions return positions of rows."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from memflow.benchmarks.comem.annotation.labels import final_labels, labels_by_question
from memflow.benchmarks.comem.checks.rows import (
    KEYS,
    PROBES,
    TURNS,
    MessagePositions,
    dropped_questions,
    per_config,
)
from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig
from memflow.benchmarks.comem.contexts import unknown_option
from memflow.checks.rules import AcrossTables, EachRow, Expectation, Rule, WholeTable, each_valid_row
from memflow.records import GoldLabel, Probe, Turn


def probes_of_dropped_questions(probes: Sequence[Probe], labels: Sequence[GoldLabel]) -> list[int]:
    """Return the positions of probes of questions whose gold labels are dropped."""
    gone = dropped_questions(labels)
    return [at for at, probe in enumerate(probes) if probe.question_id in gone]


def labels_without_probe(labels: Sequence[GoldLabel], probes: Sequence[Probe]) -> list[int]:
    """Return the positions of labels of questions that have no probe although they are not dropped."""
    gone, asked = dropped_questions(labels), {probe.question_id for probe in probes}
    return [at for at, label in enumerate(labels) if label.question_id not in {*gone, *asked}]


def probes_without_label(probes: Sequence[Probe], labels: Sequence[GoldLabel]) -> list[int]:
    """Return the positions of valid probes after checkpoint 0 that have no label."""
    known = {(label.question_id, label.checkpoint) for label in labels if label.answer is not None}
    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None and probe.checkpoint and (probe.question_id, probe.checkpoint) not in known
    ]


def probes_missing_at_checkpoint(config: CoMemConfig) -> Rule:
    """Return the rule that every question has a probe at every checkpoint, including 0."""
    due = set(range(len(config.checkpoints) + 1))

    def find_violations(probes: Sequence[Probe]) -> list[int]:
        asked: dict[str | None, set[int]] = defaultdict(set)
        for probe in probes:
            asked[probe.question_id].add(probe.checkpoint)
        return [at for at, probe in enumerate(probes) if asked[probe.question_id] != due]

    return WholeTable(find_violations)


def probes_with_changed_options(probes: Sequence[Probe]) -> list[int]:
    """Return the positions of probes that violate the check `same_options_at_every_checkpoint`."""
    asked: dict[str | None, set[tuple[str, ...]]] = defaultdict(set)
    for probe in probes:
        asked[probe.question_id].add((probe.question, *probe.options))
    return [at for at, probe in enumerate(probes) if len(asked[probe.question_id]) > 1]


def probes_with_wrong_gold(config: CoMemConfig) -> Rule:
    """Return the rule that gold is the final label of the checkpoint.

    At checkpoint 0, gold is the label of the checkpoint that the parameter `guess_key` names.
    """
    guess = 1 if config.guess_key == "first" else len(config.checkpoints)

    def find_violations(probes: Sequence[Probe], labels: Sequence[GoldLabel]) -> list[int]:
        last = {question: final_labels(rows) for question, rows in labels_by_question(labels).items()}
        return [
            at
            for at, probe in enumerate(probes)
            if probe.reason is None
            and probe.gold != _gold(probe, last.get(probe.question_id or "", {}), probe.checkpoint or guess)
        ]

    return AcrossTables((PROBES, KEYS), find_violations)


def _gold(probe: Probe, labels: Mapping[int, GoldLabel], checkpoint: int) -> str | None:
    answer = labels[checkpoint].answer if checkpoint in labels else None
    return str(unknown_option(probe.options)) if answer == UNKNOWN else answer


def labels_outside_options(labels: Sequence[GoldLabel], probes: Sequence[Probe]) -> list[int]:
    """Return the positions of labels whose answer is not an option of their question."""
    numbers = {probe.question_id: {str(1 + at) for at in range(len(probe.options))} for probe in probes}
    return [
        at
        for at, label in enumerate(labels)
        if label.question_id in numbers and label.answer not in (None, UNKNOWN, *numbers[label.question_id])
    ]


def probes_with_other_context(
    probes: Sequence[Probe], labels: Sequence[GoldLabel], turns: Sequence[Turn]
) -> list[int]:
    """Return the positions of probes that violate the check `probes_see_same_messages_as_labels`."""
    seen: dict[tuple[str | None, int], int] = {
        (label.question_id, label.checkpoint): label.visible for label in labels
    }
    places = MessagePositions(turns)
    return [
        at
        for at, probe in enumerate(probes)
        if (probe.question_id, probe.checkpoint) in seen
        and places.asked_after(probe) != seen[probe.question_id, probe.checkpoint]
    ]


def probes_with_future_evidence(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes with evidence that is missing, quarantined, or later than the probe."""
    places = MessagePositions(turns)
    lost = {turn.message_id for turn in turns if turn.reason is not None}

    def is_said(probe: Probe, message: str, by: int) -> bool:
        place = places.place(probe.episode_id, message)
        return message not in lost and place is not None and place < by

    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None
        and not all(is_said(probe, message, places.asked_after(probe) or 0) for message in probe.evidence)
    ]


def rule_labels_before_any_message(labels: Sequence[GoldLabel], probes: Sequence[Probe]) -> Collection[int]:
    """Return the positions of labels that violate the check `rule_labels_unknown_before_first_message`."""
    untold = {probe.question_id: unknown_option(probe.options) for probe in probes}
    return [
        at
        for at, label in enumerate(labels)
        if label.made_by == "rule"
        and not label.visible
        and label.answer not in (None, UNKNOWN, str(untold.get(label.question_id)))
    ]


def _unknown_option_has_no_speaker(probe: Probe) -> bool:
    untold = unknown_option(probe.options)
    return untold is None or not any(probe.true_of[untold - 1 : untold])


def probes_with_absent_speakers(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes with an option about a speaker who has no message in the episode."""
    speakers: dict[str, set[str]] = defaultdict(set)
    for turn in turns:
        speakers[turn.episode_id].add(turn.speaker or "")
    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None and not speakers[probe.episode_id] >= set(filter(None, probe.true_of))
    ]


_ERRORS: dict[str, Rule] = {
    "dropped_questions_have_no_probes": AcrossTables((PROBES, KEYS), probes_of_dropped_questions),
    "kept_questions_have_probes": AcrossTables((KEYS, PROBES), labels_without_probe),
    "probes_after_checkpoint_0_have_labels": AcrossTables((PROBES, KEYS), probes_without_label),
    "questions_have_probes_at_every_checkpoint": per_config(probes_missing_at_checkpoint),
    "same_options_at_every_checkpoint": WholeTable(probes_with_changed_options),
    "gold_matches_final_label": per_config(probes_with_wrong_gold),
    "label_answers_in_options": AcrossTables((KEYS, PROBES), labels_outside_options),
    "probes_see_same_messages_as_labels": AcrossTables((PROBES, KEYS, TURNS), probes_with_other_context),
    "evidence_messages_precede_probe": AcrossTables((PROBES, TURNS), probes_with_future_evidence),
    "rule_labels_unknown_before_first_message": AcrossTables((KEYS, PROBES), rule_labels_before_any_message),
    "no_gold_context_or_evidence_at_checkpoint_0": EachRow(
        lambda probe: probe.checkpoint > 0 or not (probe.revealed or probe.previous or probe.evidence)
    ),
    "true_of_has_one_item_per_option": each_valid_row(
        lambda probe: len(probe.true_of) in (0, len(probe.options))
    ),
    "unknown_option_has_no_speaker": each_valid_row(_unknown_option_has_no_speaker),
}

EXPECTED = (
    *(Expectation(PROBES, name, rule) for name, rule in _ERRORS.items()),
    Expectation(
        PROBES,
        "option_speakers_in_episode",
        AcrossTables((PROBES, TURNS), probes_with_absent_speakers),
        "warn",
    ),
)
"""The checks of question.probes. Those of `true_of` pass where a benchmark does not set it."""
