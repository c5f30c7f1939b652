"""The checks of question.keys: labels are complete, valid, and based on earlier messages only.

Each function whose name begins with `labels` returns the positions of the rows that violate a check.
"""

from collections import defaultdict
from collections.abc import Sequence

from memflow.benchmarks.comem.annotation.labels import labels_by_question
from memflow.benchmarks.comem.checks.rows import KEYS, TURNS, MessagePositions, per_config
from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig
from memflow.checks.rules import AcrossTables, EachRow, Expectation, Rule, WholeTable
from memflow.records import GoldLabel, Turn


def _has_answer_or_reason(label: GoldLabel) -> bool:
    """Return whether a label has either an answer or a reason. A dropped question may keep its answers."""
    if label.reason is not None:
        return label.answer is None
    return label.answer is not None or label.dropped is not None


def _is_valid_answer(label: GoldLabel) -> bool:
    """Return whether the answer is an option number, from 1, or `unknown`."""
    answer = label.answer
    return answer is None or answer == UNKNOWN or (answer.isascii() and answer.isdigit() and answer[0] != "0")


def labels_missing_at_checkpoint(config: CoMemConfig) -> Rule:
    """Return the rule that each annotator labels each kept question at every checkpoint except 0."""
    due = set(range(1, len(config.checkpoints) + 1))

    def find_violations(labels: Sequence[GoldLabel]) -> set[int]:
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        for label in labels:
            found[label.question_id, label.made_by].add(label.checkpoint)
        whole = {
            question
            for question, rows in labels_by_question(labels).items()
            if all(row.reason is None and row.dropped is None for row in rows)
        }
        return {
            at
            for at, label in enumerate(labels)
            if label.question_id in whole and found[label.question_id, label.made_by] != due
        }

    return WholeTable(find_violations)


def labels_with_fewer_messages(labels: Sequence[GoldLabel]) -> set[int]:
    """Return the positions of labels that violate the check `visible_message_count_never_decreases`."""
    found: set[int] = set()
    most: dict[tuple[str, str], int] = {}
    for at, label in sorted(enumerate(labels), key=lambda each: each[1].checkpoint):
        mine = label.question_id, label.made_by
        if label.visible < most.get(mine, 0):
            found.add(at)
        most[mine] = max(label.visible, most.get(mine, 0))
    return found


def labels_with_future_messages(labels: Sequence[GoldLabel], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of labels that violate the check `labels_use_no_future_messages`."""
    places = MessagePositions(turns)
    return [
        at
        for at, label in enumerate(labels)
        if not 0 <= label.visible <= places.said(label.episode_id, label.checkpoint)
    ]


def labels_with_other_context(labels: Sequence[GoldLabel]) -> list[int]:
    """Return the positions of labels that violate the check `annotators_see_same_messages`."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for label in labels:
        seen[label.question_id, label.checkpoint].add(label.visible)
    return [at for at, label in enumerate(labels) if len(seen[label.question_id, label.checkpoint]) > 1]


def labels_verified_by_annotator(labels: Sequence[GoldLabel]) -> list[int]:
    """Return the positions of labels that violate the check `verifier_is_not_the_annotator`."""
    first = {
        (label.question_id, label.checkpoint): label.model
        for label in labels
        if label.made_by == "annotator" and label.model is not None
    }
    return [
        at
        for at, label in enumerate(labels)
        if label.made_by == "verifier"
        and label.model is not None
        and first.get((label.question_id, label.checkpoint), label.model) == label.model
    ]


_ERRORS: dict[str, Rule] = {
    "labels_have_either_answer_or_reason": EachRow(_has_answer_or_reason),
    "label_is_option_number_or_unknown": EachRow(_is_valid_answer),
    "kept_questions_labeled_at_every_checkpoint": per_config(labels_missing_at_checkpoint),
    "visible_message_count_never_decreases": WholeTable(labels_with_fewer_messages),
    "labels_use_no_future_messages": AcrossTables((KEYS, TURNS), labels_with_future_messages),
    "annotators_see_same_messages": WholeTable(labels_with_other_context),
}
_WARNINGS: dict[str, Rule] = {"verifier_is_not_the_annotator": WholeTable(labels_verified_by_annotator)}

EXPECTED = (
    *(Expectation(KEYS, name, rule) for name, rule in _ERRORS.items()),
    *(Expectation(KEYS, name, rule, "warn") for name, rule in _WARNINGS.items()),
)
"""The checks of question.keys."""
