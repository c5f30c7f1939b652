"""The gold and the metric of a question: which combinations of fields are valid, and what they mean."""

import re

from memflow.benchmarks.dialogues.schema import MOST_OPTIONS, QuestionFields
from memflow.benchmarks.multiple_choice import LETTERS
from memflow.benchmarks.packaged import load_yaml

_WORDS = load_yaml("memflow.benchmarks.dialogues", "no_answer.yaml")
NO_ANSWER: dict[str, str] = _WORDS["answer"]
"""The answer that an assistant is asked to give where the messages do not contain the answer, by language."""
DECLINING = frozenset(_WORDS["declining"])
"""Answers and options that state that there is no answer: in lower case, without punctuation at the end."""
_CLAUSE = re.compile(r"[.!,;:\n。！，；：]")


class InvalidQuestion(ValueError):
    """The exception for fields of a question that do not fit together."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def declines(text: str) -> bool:
    """Return whether a text states that there is no answer, and nothing else."""
    plain = " ".join(text.replace("’", "'").casefold().split()).strip("\"'“”「」 ")
    return plain.rstrip(".!。！ \"'”") in DECLINING


def abstains(answer: str) -> bool:
    """Return whether an answer states that there is no answer, in its first clause or as a whole."""
    return declines(answer) or declines(_CLAUSE.split(answer.strip(), maxsplit=1)[0])


def is_abstention(fields: QuestionFields) -> bool:
    """Return whether the gold of an open question is that there is no answer: by `abstain`, or in the words of gold."""
    if fields.abstain:
        return True
    worded = fields.gold is not None and all(declines(str(each)) for each in fields.gold)
    return worded and fields.rubric is None and fields.metric in (None, "abstention", "judge")


def resolve_gold(fields: QuestionFields) -> tuple[int | None, tuple[str, ...]]:
    """Return the number of the correct option, from 1, and the correct answers of an open question.

    The number is None for an open question. An abstention or a question with only a rubric gives `(None, ())`. Raises
    InvalidQuestion for fields that do not fit together.
    """
    if fields.options:
        return _option(fields), ()
    golds = tuple(str(each) for each in fields.gold or ())
    if fields.abstain:
        if golds:
            raise InvalidQuestion("gold", "a question with `abstain` has no gold; remove one of the two")
        return None, ()
    if is_abstention(fields):
        return None, ()
    if not golds and fields.rubric is None:
        raise InvalidQuestion("gold", "the question has no gold; add `gold`, `rubric`, or `abstain`: true")
    return None, golds


def _option(fields: QuestionFields) -> int:
    options = fields.options
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise InvalidQuestion("options", f"there are {len(options)} options; give 2 to {MOST_OPTIONS}")
    plain = [option.strip() for option in options]
    if len(set(plain)) < len(plain):
        twice = next(each for each in plain if plain.count(each) > 1)
        raise InvalidQuestion("options", f"the option {twice[:60]!r} occurs twice; reword one of them")
    if fields.rubric is not None:
        raise InvalidQuestion("rubric", "a question with options has no rubric; remove one of the two")
    if fields.gold is None:
        none = [number for number, each in enumerate(options, start=1) if declines(each)]
        if fields.abstain and len(none) == 1:
            return none[0]
        if fields.abstain:
            text = (
                'no option states that there is no answer; add one, such as "no answer", or name it by `gold`'
            )
            raise InvalidQuestion("options", text)
        raise InvalidQuestion(
            "gold", "the question has options but no gold; add the number or text of an option"
        )
    if len(fields.gold) > 1:
        raise InvalidQuestion("gold", "the question has options and several golds; keep one")
    number = _number(fields.gold[0], plain)
    if fields.abstain and not declines(plain[number - 1]):
        text = f"the gold is {plain[number - 1][:60]!r}, but `abstain` states that there is no answer; fix one of them"
        raise InvalidQuestion("gold", text)
    return number


def _number(gold: str | int, options: list[str]) -> int:
    """Return the number of the option that `gold` names: by its text, its number from 1, or its letter."""
    text = str(gold).strip()
    by_text = options.index(text) + 1 if text in options else None
    by_number = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else None
    if by_number is not None and not 1 <= by_number <= len(options):
        by_number = None
    if by_text is not None and by_number not in (None, by_text):
        both = f"is the text of option {by_text} and the number of option {by_number}"
        raise InvalidQuestion("gold", f"{text!r} {both}; reword the options, or name the gold by its letter")
    by_letter = LETTERS.index(text) + 1 if text and text in LETTERS[: len(options)] else None
    if by_text is not None and by_letter not in (None, by_text):
        both = f"is the text of option {by_text} and the letter of option {by_letter}"
        raise InvalidQuestion("gold", f"{text!r} {both}; reword the options, or name the gold by its number")
    found = by_text or by_number or by_letter
    if found is None:
        raise InvalidQuestion(
            "gold",
            f"{text[:60]!r} is neither the text of an option nor a number from 1 to {len(options)}; fix the gold",
        )
    return found


RESERVED_SLICES = ("all", "category", "checkpoint", "dataset", "gold", "kind")
"""Names of slices that every domain of the benchmark has."""


def check_slices(fields: QuestionFields) -> None:
    """Raise InvalidQuestion for a slice whose name is reserved or has a space, which separates it from its value."""
    for name in fields.slices:
        if name in RESERVED_SLICES:
            raise InvalidQuestion("slices", f"the name {name!r} is reserved; rename the slice")
        if " " in name:
            raise InvalidQuestion("slices", f"the name {name!r} contains a space; write `_` instead")


def check_metric(fields: QuestionFields) -> None:
    """Raise InvalidQuestion if the metric does not fit the kind of the question."""
    metric = fields.metric
    if metric is None:
        return
    if fields.options:
        allowed: tuple[str, ...] = ("accuracy",)
    elif is_abstention(fields):
        allowed = ("abstention", "judge")
    elif fields.rubric is not None:
        allowed = ("judge",)
    else:
        allowed = ("exact_match", "f1", "rouge_l", "judge")
    if metric not in allowed:
        raise InvalidQuestion("metric", f"{metric} does not fit this question; use {' or '.join(allowed)}")
