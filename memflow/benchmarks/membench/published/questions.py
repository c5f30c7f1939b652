"""Questions in published MemBench and MemDaily files: schema, validation, and conversion to ChoiceQuestion.

An invalid question is quarantined with a reason; other questions of the trajectory remain valid.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from memflow.benchmarks.membench.turns import ChoiceQuestion, Trajectory, is_noise
from memflow.benchmarks.models import PublishedModel
from memflow.benchmarks.multiple_choice import LETTERS
from memflow.benchmarks.partial import OR_INVALID, InvalidPart
from memflow.benchmarks.published_file import Said

OPTIONS = 4
"""Options per question."""
_FAILED = re.compile(r"\[ERROR[QAC]\]")


def join_answer(text: str | list[str]) -> str:
    """Return an answer as one text. Titles in a list are joined with semicolons, as they can contain commas."""
    return text if isinstance(text, str) else "; ".join(text)


def _options(value: dict[str, str | list[str]] | str) -> dict[str, str | list[str]] | str:
    """Return the choices unchanged. Raise ValueError if the choices are a text without the authors' error mark."""
    if isinstance(value, str) and not _FAILED.search(value):
        raise ValueError("the choices are a single text; write a list with one text per option")
    return value


def _targets(value: Any) -> Any:
    """Return the published evidence steps as lists, [step] or [step, session]. Null becomes an empty list."""
    if not isinstance(value, list):
        return [] if value is None else value
    return [target if isinstance(target, list) else [target] for target in value]


class PublishedQuestion(PublishedModel):
    """A published question with its answer, its options and its evidence (`target_step_id`)."""

    question: Said
    answer: str | list[str]
    target_step_id: Annotated[list[list[int]], BeforeValidator(_targets)] = Field([])
    choices: Annotated[dict[str, str | list[str]] | str, AfterValidator(_options)]
    ground_truth: str
    time: Said


QuestionOrInvalid = Annotated[PublishedQuestion | InvalidPart, OR_INVALID]
"""A question, or the fault of a question of another schema, for example with a null as answer."""


def choice_question(of: Trajectory, question: PublishedQuestion | InvalidPart) -> ChoiceQuestion:
    """Return a published question as a ChoiceQuestion. An invalid question gets a reason."""
    if isinstance(question, InvalidPart):
        return invalid_question(question.fault)
    options = question.choices if isinstance(question.choices, dict) else {}
    letters = sorted(options)
    targets = [target[0] for target in question.target_step_id if target and 0 <= target[0] < len(of.steps)]
    return ChoiceQuestion(
        question=question.question,
        asked_at=question.time,
        options=tuple(join_answer(options[letter]).strip() for letter in letters),
        gold=1 + letters.index(question.ground_truth) if question.ground_truth in letters else 0,
        answer=join_answer(question.answer).strip(),
        evidence=tuple(dict.fromkeys(of.evidence_id(target) for target in targets)),
        reason=next(_faults(of, question), None),
    )


def invalid_question(reason: str) -> ChoiceQuestion:
    """Return a quarantined question that cannot be read."""
    return ChoiceQuestion("", None, (), 0, "", (), reason)


def _faults(of: Trajectory, question: PublishedQuestion) -> Iterator[str]:
    """Yield all faults of a question. The authors' error marks come first."""
    marks = [
        f"{found[0]} for its {what}"
        for what, text in (
            ("question", question.question),
            ("answer", question.answer),
            ("choices", question.choices),
        )
        if (found := _FAILED.search(str(text)))
    ]
    if marks:
        yield f"it has {', '.join(marks)}: its makers failed at it"
    if isinstance(question.choices, dict):
        yield from _of_options(question, question.choices)
    yield from _of_targets(of, question.target_step_id)


def _of_options(question: PublishedQuestion, options: dict[str, str | list[str]]) -> Iterator[str]:
    if sorted(options) != list(LETTERS[:OPTIONS]):
        yield f"its options are {', '.join(sorted(options)) or 'none'}, and not A to {LETTERS[OPTIONS - 1]}"
    by_text: dict[tuple[str, ...], str] = {}
    for letter, text in sorted(options.items()):
        # Lists in another order say the same.
        said = (text.strip(),) if isinstance(text, str) else tuple(sorted(each.strip() for each in text))
        if said in by_text:
            yield f"its options {by_text[said]} and {letter} say the same: {join_answer(text)}"
        by_text[said] = letter
    gold = options.get(question.ground_truth)
    if gold is None:
        yield f"its gold {question.ground_truth!r} is none of its options"
    elif join_answer(gold).strip() != join_answer(question.answer).strip():
        yield f"its gold's option is {join_answer(gold)!r}, its answer {join_answer(question.answer)!r}"


def _of_targets(of: Trajectory, targets: list[list[int]]) -> Iterator[str]:
    if not targets:
        yield "it names no step that its answer rests on"
    for target in targets:
        if not 1 <= len(target) <= 2:
            yield f"it rests on {target}, which is neither a step nor a step and its session"
        elif not 0 <= target[0] < len(of.steps):
            yield f"it rests on step {target[0]}, and there are steps 0 to {len(of.steps) - 1}"
        elif is_noise(of.evidence_id(target[0])):
            yield f"it rests on step {target[0]}, which is noise"
        elif len(target) == 2 and target[1] != (session := of.steps[target[0]].session):
            yield f"it rests on step {target[0]} in session {target[1]}, and that step is in session {session}"
