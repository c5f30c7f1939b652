"""Comparison of a published run with the benchmark's own questions: positions that a file does not state, and faults.

Positions decide; texts are compared afterwards. Only files in the order of completion have no position: there the
conversation, category, question and gold decide together, and equal questions are taken in order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from memflow.published_runs.rows import PublishedAnswer, PublishedRun

NEARLY_SAME = 0.9
"""The likeness of two texts of the same question: some vendors correct the spelling."""


@dataclass(frozen=True)
class Question:
    """A question of a benchmark, by its id: its category, text and gold."""

    conversation: str
    category: str
    text: str
    gold: str


def matched(run: PublishedRun, questions: Mapping[str, Question]) -> PublishedRun:
    """Return the run with the answers to `questions`, by id in the benchmark's order.

    A recorded text or category that is not that of the question at its position is a fault. The answer is left out
    unless only the spelling differs.
    """
    positioned, faults = _positioned(run, questions)
    answers: dict[str, PublishedAnswer] = {}
    unknown = 0
    for answer in positioned:
        question = questions.get(answer.question_id)
        if question is None:
            unknown += 1
        elif answer.question and (likeness := _likeness(answer.question, question.text)) < NEARLY_SAME:
            faults.append(f"{answer.place}: the question is not that of {answer.question_id}")
        elif answer.category not in ("None", question.category):
            faults.append(f"{answer.place}: category {answer.category} is not that of {answer.question_id}")
        else:
            answers[answer.question_id] = answer
            if answer.question and likeness < 1:
                faults.append(f"{answer.place}: the question differs in spelling from {answer.question_id}")
    if unknown:
        faults.append(f"{unknown:,} answers to other questions than the {len(questions):,} of the domain")
    return replace(
        run,
        answers=tuple(answers[name] for name in questions if name in answers),
        faults=(*run.faults, *faults),
    )


def _positioned(
    run: PublishedRun, questions: Mapping[str, Question]
) -> tuple[list[PublishedAnswer], list[str]]:
    """Return the answers with ids, and a fault for each answer without a position that has no question."""
    free: dict[tuple[str, ...], list[str]] = {}
    for name, question in questions.items():
        free.setdefault(
            _key(question.conversation, question.category, question.text, question.gold), []
        ).append(name)
    equal = {name for names in free.values() for name in names if len(names) > 1}
    answers, faults, ambiguous = [], [], 0
    for answer in run.answers:
        if answer.question_id:
            answers.append(answer)
            continue
        names = free.get(_key(answer.conversation, answer.category, answer.question, answer.gold or ""))
        if not names:
            faults.append(f"{answer.place}: no question, or more answers than questions")
            continue
        ambiguous += names[0] in equal
        answers.append(replace(answer, question_id=names.pop(0)))
    if ambiguous:
        faults.append(
            f"{ambiguous:,} answers to questions that occur twice in a conversation: the file states no positions, so "
            "each may be exchanged with its double"
        )
    return answers, faults


def _key(conversation: str, category: str, text: str, gold: str) -> tuple[str, ...]:
    return (conversation, category, _plain(text), _plain(gold))


def _likeness(one: str, other: str) -> float:
    """Return 1 for texts that are equal apart from case and spaces, else their share of equal characters."""
    one, other = _plain(one), _plain(other)
    return 1.0 if one == other else min(0.999, SequenceMatcher(None, one, other).ratio())


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
