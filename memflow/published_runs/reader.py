"""Reading of published answers from files of a form.

Answers are matched with questions by position, never by text. Nothing is dropped silently: what is left out is a fault.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memflow.errors import BadInput
from memflow.published_runs.blocks import with_blocks
from memflow.published_runs.cleaning import (
    with_cuts,
    with_question_ids,
    without_labels_of_no_judge,
    without_repeats,
)
from memflow.published_runs.files import ResultsFile
from memflow.published_runs.forms import Form, Missing, RawRow
from memflow.published_runs.layouts import Layout, layout_of
from memflow.published_runs.rows import (
    LEFT_OUT,
    NO_LABEL,
    NOT_JUDGED,
    PublishedAnswer,
    PublishedRun,
)

_LABELS = {
    **dict.fromkeys(("CORRECT", "PASS", "YES", "TRUE"), 1.0),
    **dict.fromkeys(("WRONG", "FAIL", "NO", "FALSE"), 0.0),
}
_SKIPPED = {"SKIP", "SKIPPED"}
_NUMBER_AT_END = re.compile(r"\d+$")


def read_files(
    files: Sequence[ResultsFile],
    form: Form,
    choice: str | None = None,
    layout: Layout | None = None,
    blocks: ResultsFile | None = None,
    conversation: str = "",
) -> PublishedRun:
    """Return the answers in files of a form. `layout` is that of the benchmark's published data if omitted.

    `conversation` is that of all rows, where the rows do not name it.
    """
    answers, faults, notes = [], [], []
    layout = layout or layout_of(form.benchmark)
    for file in files:
        faults += file.faults
    rows = [row for file in files for row in file.rows(form)]
    chosen, others = _choose(rows, form, choice)
    notes += [f"the results of {other} are not read, only those of {chosen}" for other in others]
    if form.choice and not form.choice.endswith("*"):
        rows = [row for row in rows if row.value(form.choice) == chosen]
    for row in rows:
        try:
            answers.append(_answer(row, form, chosen))
        except _Invalid as error:
            faults.append(f"{row.place}: {error}")
            answers.append(_placeholder(row, form))
    if conversation:
        answers = [replace(answer, conversation=conversation) for answer in answers]
    answers = without_repeats(with_question_ids(answers, form, layout, faults), faults)
    answers = without_labels_of_no_judge(answers, form, layout, faults)
    answers = with_cuts(answers, notes)
    if form.blocks:
        answers = with_blocks(answers, form, blocks, notes)
    contents = "".join(file.digest for file in files)
    return PublishedRun(
        form=form.name,
        benchmark=form.benchmark,
        contract=form.contract,
        files=tuple(file.name for file in files),
        digest=hashlib.sha256(contents.encode()).hexdigest()[:16],
        answers=tuple(answers),
        choice=chosen,
        header=_header(files[0], form) if files else {},
        faults=tuple(faults),
        notes=tuple(notes),
    )


class _Invalid(ValueError):
    """A row is not an answer."""


def _choose(rows: Sequence[RawRow], form: Form, choice: str | None) -> tuple[str | None, list[str]]:
    """Return the choice that is read, by default the largest number, and the other choices. Raises BadInput."""
    if not form.choice:
        return None, []
    keys: dict[str, None] = {}
    for row in rows:
        if form.choice.endswith(".*"):
            value = row.value(form.choice.removesuffix(".*"))
            keys.update(dict.fromkeys(value if isinstance(value, Mapping) else ()))
        elif isinstance(value := row.value(form.choice), str):
            keys[value] = None
    if choice is not None and choice not in keys:
        raise BadInput(f"the file has no {choice}. Choose one of: {', '.join(keys) or 'none'}.")
    if choice is None and len(keys) > 1 and max(map(_number, keys)) < 0:
        raise BadInput(
            f"the file has results of {', '.join(keys)}. Choose one by its name behind the file: FILE#{min(keys)}."
        )
    chosen = choice or max(keys, key=_number, default=None)
    return chosen, [key for key in keys if key != chosen]


def _number(key: str) -> int:
    match = _NUMBER_AT_END.search(key)
    return int(match[0]) if match else -1


def _placeholder(row: RawRow, form: Form) -> PublishedAnswer:
    """Return an answer without a place, so that an invalid row does not shift the positions of others."""
    name = row.value(form.conversation) if form.conversation else ""
    return PublishedAnswer(
        question_id="", conversation="" if isinstance(name, Missing) else str(name), category=""
    )


def _answer(row: RawRow, form: Form, choice: str | None) -> PublishedAnswer:
    """Return a row as an answer whose `question_id` is the id or number in the file. Raises _Invalid."""
    if not isinstance(row.content, Mapping):
        raise _Invalid("not an object")

    def value(path: str) -> Any:
        found = row.value(path, choice) if path else None
        return None if isinstance(found, Missing) else found

    category = value(form.category)
    votes = tuple(float(vote) for vote in _listed(value(form.votes)) if isinstance(vote, bool | int | float))
    label, reason = _label(row.value(form.label, choice) if form.label else value(form.votes), form, votes)
    texts = value(form.texts)
    if isinstance(texts, str):
        texts = [part.strip() for part in re.split(form.split, texts)] if form.split else [texts]
    retrieved = value(form.retrieved)
    conversation, question_id = value(form.conversation), value(form.id)
    if form.pattern:
        match = re.fullmatch(form.pattern, str(question_id))
        if match is None:
            raise _Invalid(f"the id {_printable(question_id)} is not of the form {form.pattern}")
        conversation, question_id = match["conversation"], match["question"]
    elif form.number:
        question_id = value(form.number)
    return PublishedAnswer(
        question_id="" if question_id is None else _printable(question_id),
        conversation="" if conversation is None else _printable(conversation),
        category=str(form.categories.get(str(category), category)),
        question=_text(value(form.question)) or "",
        answer=_text(value(form.answer)),
        gold=_text(value(form.gold)),
        label=label,
        label_reason=reason,
        votes=votes,
        judge=_printable(value(form.judges) or ""),
        rubric=tuple(_numbers(_listed(value(form.rubric)))),
        metrics=_measures(form.metrics, value),
        texts=tuple(text for text in map(str, texts or ()) if text.strip()),
        messages=tuple(map(str, _listed(value(form.messages)))),
        sessions=tuple(str(name).removeprefix("session_") for name in _listed(value(form.sessions))),
        recorded_evidence=tuple(map(str, _listed(value(form.evidence)))),
        has_context=any(value(path) is not None for path in (form.texts, form.messages, form.sessions)),
        retrieved=retrieved if isinstance(retrieved, int) else None,
        seconds={
            name: number / (1000 if form.seconds[name].endswith("ms") else 1)
            for name, number in _measures(form.seconds, value).items()
        },
        tokens={name: int(number) for name, number in _measures(form.tokens, value).items()},
        place=row.place,
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _numbers(values: Sequence[Any]) -> list[float]:
    return [float(value) for value in values if isinstance(value, int | float)]


def _measures(paths: Mapping[str, str], value: Any) -> dict[str, float]:
    numbers = {name: _numbers([value(path)]) for name, path in paths.items()}
    return {name: found[0] for name, found in numbers.items() if found}


def _text(value: Any) -> str | None:
    """Return a text; numbers become texts, and several texts are separated by line breaks. Raises _Invalid."""
    if isinstance(value, list):
        return "\n".join(text for text in map(_text, value) if text is not None)
    if value is None or isinstance(value, bool | dict):
        return None
    text = str(value).strip()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _Invalid("a text has half of a surrogate pair, so it is not Unicode") from None
    return text


def _label(value: Any, form: Form, votes: Sequence[float]) -> tuple[float | None, str | None]:
    """Return the label of a row, or None with the reason. Raises _Invalid."""
    if votes:
        return float(2 * sum(votes) > len(votes)), None
    if isinstance(value, Missing) or not (form.label or form.votes):
        return None, NOT_JUDGED
    if value is None or value == []:
        return None, NO_LABEL
    if isinstance(value, str):
        value = form.labels.get(value, value)
    if isinstance(value, str):
        label = _LABELS.get(value.strip().upper())
        if label is None:
            reason = LEFT_OUT if value.strip().upper() in _SKIPPED else f"{NO_LABEL}: {_printable(value)}"
            return None, reason
        return label, None
    if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
        raise _Invalid(f"the label {_printable(value)} is not between 0 and 1")
    return float(value), None


def _header(file: ResultsFile, form: Form) -> dict[str, str]:
    values = {name: RawRow(file.data, (), (), "").value(path) for name, path in form.header.items()}
    return {name: _printable(value) for name, value in values.items() if isinstance(value, str | int | float)}


def _printable(value: Any) -> str:
    return str(value)[:80].encode(errors="backslashreplace").decode()
