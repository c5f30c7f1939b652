"""What must hold of keys by themselves, and of what was said by then, as data."""

from collections import defaultdict
from collections.abc import Sequence

from memflow.benchmarks.comem.annotation.labels import by_question
from memflow.benchmarks.comem.checks.rows import KEYS, TURNS, Places, by_parameters
from memflow.benchmarks.comem.config import UNKNOWN, Parameters
from memflow.checks.rules import Across, Each, Expectation, Rule, Together
from memflow.records import GoldLabel, Turn


def _says_something(key: GoldLabel) -> bool:
    """An answer, or why there is none: not both, but that a dropped question's answers are kept."""
    if key.reason is not None:
        return key.answer is None
    return key.answer is not None or key.dropped is not None


def _is_an_answer(key: GoldLabel) -> bool:
    """A number from 1, or `unknown`. Whether there is such an option is told where the options are."""
    answer = key.answer
    return answer is None or answer == UNKNOWN or (answer.isascii() and answer.isdigit() and answer[0] != "0")


def without_a_key(parameters: Parameters) -> Rule:
    """A hand's keys of a question that is asked and at which nobody failed are one for every checkpoint but 0."""
    due = set(range(1, len(parameters.checkpoints) + 1))

    def at_fault(keys: Sequence[GoldLabel]) -> set[int]:
        held: dict[tuple[str, str], set[int]] = defaultdict(set)
        for key in keys:
            held[key.question_id, key.made_by].add(key.checkpoint)
        whole = {
            question
            for question, rows in by_question(keys).items()
            if all(row.reason is None and row.dropped is None for row in rows)
        }
        return {
            at
            for at, key in enumerate(keys)
            if key.question_id in whole and held[key.question_id, key.made_by] != due
        }

    return Together(at_fault)


def shrinking(keys: Sequence[GoldLabel]) -> set[int]:
    """Keys that see less than those of their question and hand at an earlier checkpoint."""
    found: set[int] = set()
    most: dict[tuple[str, str], int] = {}
    for at, key in sorted(enumerate(keys), key=lambda each: each[1].checkpoint):
        mine = key.question_id, key.made_by
        if key.visible < most.get(mine, 0):
            found.add(at)
        most[mine] = max(key.visible, most.get(mine, 0))
    return found


def seeing_ahead(keys: Sequence[GoldLabel], turns: Sequence[Turn]) -> list[int]:
    """Keys that see less than nothing, or more than has been said at their checkpoint."""
    places = Places(turns)
    return [
        at
        for at, key in enumerate(keys)
        if not 0 <= key.visible <= places.said(key.episode_id, key.checkpoint)
    ]


def seeing_otherwise(keys: Sequence[GoldLabel]) -> list[int]:
    """Keys at a checkpoint at which another hand saw more or less of the same context."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for key in keys:
        seen[key.question_id, key.checkpoint].add(key.visible)
    return [at for at, key in enumerate(keys) if len(seen[key.question_id, key.checkpoint]) > 1]


def verifying_itself(keys: Sequence[GoldLabel]) -> list[int]:
    """Keys of a verifier that is the model which annotated, or that nobody annotated before."""
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


_MUST: dict[str, Rule] = {
    "keys_have_an_answer_or_say_why_not": Each(_says_something),
    "keys_are_numbers_of_options_or_unknown": Each(_is_an_answer),
    "questions_that_are_kept_have_a_key_at_every_checkpoint": by_parameters(without_a_key),
    "later_keys_see_no_less": Together(shrinking),
    "keys_see_nothing_after_their_checkpoint": Across((KEYS, TURNS), seeing_ahead),
    "all_hands_saw_the_same": Together(seeing_otherwise),
}
_SHOULD: dict[str, Rule] = {"two_models_annotated": Together(verifying_itself)}

EXPECTED = (
    *(Expectation(KEYS, name, rule) for name, rule in _MUST.items()),
    *(Expectation(KEYS, name, rule, "warn") for name, rule in _SHOULD.items()),
)
"""What is expected of keys."""
