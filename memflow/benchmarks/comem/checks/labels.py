"""The checks of question.keys: complete, valid, and based on past messages only. Functions return row positions."""

from collections import defaultdict
from collections.abc import Sequence

from memflow.benchmarks.comem.annotation.labels import labels_by_question
from memflow.benchmarks.comem.checks.rows import KEYS, TURNS, MessagePositions, per_config
from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig
from memflow.checks.rules import Across, Each, Expectation, Rule, Together
from memflow.records import GoldLabel, Turn


def _has_answer_or_reason(key: GoldLabel) -> bool:
    """Return whether a label has an answer or a reason, but not both; a dropped question may keep its answers."""
    if key.reason is not None:
        return key.answer is None
    return key.answer is not None or key.dropped is not None


def _is_valid_answer(key: GoldLabel) -> bool:
    """Return whether the answer is a number from 1, or `unknown`."""
    answer = key.answer
    return answer is None or answer == UNKNOWN or (answer.isascii() and answer.isdigit() and answer[0] != "0")


def labels_missing_at_checkpoint(config: CoMemConfig) -> Rule:
    """Build the rule that an annotator labels a kept question at every checkpoint but 0."""
    due = set(range(1, len(config.checkpoints) + 1))

    def at_fault(keys: Sequence[GoldLabel]) -> set[int]:
        held: dict[tuple[str, str], set[int]] = defaultdict(set)
        for key in keys:
            held[key.question_id, key.made_by].add(key.checkpoint)
        whole = {
            question
            for question, rows in labels_by_question(keys).items()
            if all(row.reason is None and row.dropped is None for row in rows)
        }
        return {
            at
            for at, key in enumerate(keys)
            if key.question_id in whole and held[key.question_id, key.made_by] != due
        }

    return Together(at_fault)


def labels_with_fewer_messages(keys: Sequence[GoldLabel]) -> set[int]:
    """Find labels that see fewer messages than an earlier label of the same question and annotator."""
    found: set[int] = set()
    most: dict[tuple[str, str], int] = {}
    for at, key in sorted(enumerate(keys), key=lambda each: each[1].checkpoint):
        mine = key.question_id, key.made_by
        if key.visible < most.get(mine, 0):
            found.add(at)
        most[mine] = max(key.visible, most.get(mine, 0))
    return found


def labels_with_future_messages(keys: Sequence[GoldLabel], turns: Sequence[Turn]) -> list[int]:
    """Find labels whose number of visible messages is negative or larger than at their checkpoint."""
    places = MessagePositions(turns)
    return [
        at
        for at, key in enumerate(keys)
        if not 0 <= key.visible <= places.said(key.episode_id, key.checkpoint)
    ]


def labels_with_other_context(keys: Sequence[GoldLabel]) -> list[int]:
    """Find labels at checkpoints where another annotator saw a different number of messages."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for key in keys:
        seen[key.question_id, key.checkpoint].add(key.visible)
    return [at for at, key in enumerate(keys) if len(seen[key.question_id, key.checkpoint]) > 1]


def labels_verified_by_annotator(keys: Sequence[GoldLabel]) -> list[int]:
    """Find labels of a verifier that is the annotator's model, or whose label has no annotator."""
    first = {
        (key.question_id, key.checkpoint): key.model
        for key in keys
        if key.made_by == "annotator" and key.model is not None
    }
    return [
        at
        for at, key in enumerate(keys)
        if key.made_by == "verifier"
        and key.model is not None
        and first.get((key.question_id, key.checkpoint), key.model) == key.model
    ]


_ERRORS: dict[str, Rule] = {
    "labels_have_answer_or_reason": Each(_has_answer_or_reason),
    "labels_are_option_numbers_or_unknown": Each(_is_valid_answer),
    "kept_questions_labeled_at_every_checkpoint": per_config(labels_missing_at_checkpoint),
    "visible_messages_never_decrease": Together(labels_with_fewer_messages),
    "labels_see_no_future_messages": Across((KEYS, TURNS), labels_with_future_messages),
    "annotators_see_same_messages": Together(labels_with_other_context),
}
_WARNINGS: dict[str, Rule] = {"annotator_and_verifier_differ": Together(labels_verified_by_annotator)}

EXPECTED = (
    *(Expectation(KEYS, name, rule) for name, rule in _ERRORS.items()),
    *(Expectation(KEYS, name, rule, "warn") for name, rule in _WARNINGS.items()),
)
"""The checks of question.keys."""
