"""The fields of own dialogues: messages, questions and dialogues, and the messages about invalid fields.

These models are the only declaration of the fields: JSON keys and the columns of CSV files are their names.
A null or missing field has its default value.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from memflow.benchmarks.models import StrictModel
from memflow.suggestions import unknown_name

LONGEST_NAME = 200
"""Characters of an id, a session or a name."""
MOST_OPTIONS = 10
OpenMetric = Literal["exact_match", "f1", "rouge_l", "judge"]
"""The metrics of an open question."""
LONGEST_SHOWN = 60
_SURROGATE = re.compile("[\ud800-\udfff]")


def _shown(value: Any) -> str:
    """Return a value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _scalar(value: Any) -> str:
    """Return a text or number as text. Raises ValueError for other values."""
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise ValueError("the text has half of a surrogate pair, such as \\ud83d; replace the character")
        return value
    if value is None:
        raise ValueError("the field is missing; add it")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{_shown(value)} is not a text; write it in quotation marks")
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _name(value: Any) -> str:
    text = _scalar(value)
    if not text.strip() or text != text.strip():
        raise ValueError("the name is blank, or begins or ends with a space; remove the spaces")
    if len(text) > LONGEST_NAME:
        raise ValueError(f"the name has {len(text):,} characters; use at most {LONGEST_NAME}")
    if "/" in text or not text.isprintable():
        raise ValueError(f"the name {_shown(text)} contains `/` or a control character; rename it")
    return text


def _text(value: Any) -> str:
    text = _scalar(value)
    if not text.strip():
        raise ValueError("the text is blank; write a text, or remove the item")
    return text


def _moment(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is not a date{_ISO}")
    time_span(value)
    return value.strip()


_ISO = " in ISO 8601; write it as 2024-03-31 or 2024-03-31T18:30"


@lru_cache(maxsize=4096)
def time_span(text: str) -> tuple[datetime, datetime]:
    """Return the first and last moment of an ISO 8601 date or time, in UTC. A time without a zone is in UTC.

    Raises ValueError.
    """
    plain = text.strip()
    try:
        found = datetime.fromisoformat(plain)
    except ValueError as wrong:
        raise ValueError(f"{_shown(text)} is not a date{_ISO}") from wrong
    try:
        start = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError as wrong:
        raise ValueError(f"the year of {_shown(text)} is out of range; fix the date") from wrong
    if "T" in plain or ":" in plain or " " in plain or found.time() != time():
        return start, start
    return start, start + (timedelta(days=1) - timedelta(microseconds=1))


def _answers(value: Any) -> tuple[str | int, ...]:
    """Return gold answers: integers stay integers, since they can be numbers of options."""
    values = value if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise ValueError("the list is empty; give an answer, or `abstain`: true where there is none")
    return tuple(
        int(each)
        if isinstance(each, (int, float))
        and not isinstance(each, bool)
        and _scalar(each).lstrip("-").isdigit()
        else _text(each)
        for each in values
    )


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, (str, int, float)) and not isinstance(value, bool) else value


Name = Annotated[str, BeforeValidator(_name)]
"""A text or number of at most 200 printable characters without `/`."""
Text = Annotated[str, BeforeValidator(_text)]
"""A text that is not blank, kept unchanged. A number becomes a text."""
Moment = Annotated[str, BeforeValidator(_moment)]
"""A date or time in ISO 8601."""
Answers = Annotated[tuple[str | int, ...], BeforeValidator(_answers)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed)]
Language = Literal["en", "zh"]


class MessageFields(StrictModel):
    """A message. Without an id, its number in the dialogue is its id, from 1."""

    id: Name | None = None
    text: Text
    speaker: Name | None = None
    role: Literal["user", "assistant"] | None = None
    time: Moment | None = None
    session: Name | None = None


class QuestionFields(StrictModel):
    """A question. With `options`, it is multiple choice.

    It is asked after the message `after`, the session `session` or the date `date`, otherwise at the end.
    """

    id: Name | None = None
    question: Text
    options: tuple[Text, ...] = ()
    gold: Answers | None = None
    rubric: Text | None = None
    abstain: bool = False
    after: Name | None = None
    session: Name | None = None
    date: Moment | None = None
    evidence: Names = ()
    metric: Literal["accuracy", "exact_match", "f1", "rouge_l", "judge", "abstention"] | None = None
    type: Name | None = None
    slices: dict[Name, Name] = Field({})
    language: Language | None = None


class DialogueFields(StrictModel):
    """A dialogue with its messages and questions. messages and questions are validated one by one."""

    id: Name
    language: Language | None = None
    messages: list[Any]
    questions: list[Any] = Field([])


class MessageRow(MessageFields):
    """A message in a table of messages, with the id of its dialogue."""

    dialogue: Name


class QuestionRow(QuestionFields):
    """A question in a table of questions, with the id of its dialogue."""

    dialogue: Name


ROWS: Mapping[str, type[BaseModel]] = {
    "dialogue": DialogueFields,
    "question": QuestionRow,
    "message": MessageRow,
}
"""The model of each kind of row."""
MARKS = {"dialogue": "messages", "question": "question", "message": "text"}
"""The field by which a kind of row is recognized, in this order."""
LISTS = ("options", "evidence", "gold", "slices")
"""The fields whose cells in a CSV file may hold a list."""


def faults(wrong: ValidationError, model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield the field and the message of every error of a failed validation.

    A missing field is not reported beside an unknown field with a similar name, which is reported.
    """
    errors = wrong.errors(include_url=False)
    unknown = [str(error["loc"][0]) for error in errors if error["type"] == "extra_forbidden"]
    for error in errors:
        if error["type"] == "missing" and get_close_matches(str(error["loc"][0]), unknown, 1):
            continue
        location = [str(part) for part in error["loc"] if not str(part).startswith("function-")]
        field = ".".join(
            location[:1] + [str(int(part) + 1) if part.isdigit() else part for part in location[1:2]]
        )
        yield field, _message(error["type"], error["msg"], error.get("input"), field, model)


def _message(kind: str, text: str, given: Any, field: str, model: type[BaseModel]) -> str:
    if kind == "missing":
        return "the field is missing; add it"
    if kind == "extra_forbidden":
        return unknown_name("field", field, model.model_fields)
    if kind == "value_error":
        return text.removeprefix("Value error, ")
    if kind == "literal_error":
        allowed = text.removeprefix("Input should be ").replace("'", "")
        return f"{_shown(given)} is not allowed; use {allowed}"
    return f"{_shown(given)}{_WRONG_TYPES.get(kind, f': {text[0].lower()}{text[1:]}')}"


_WRONG_TYPES = {
    "bool_parsing": " is neither true nor false",
    "bool_type": " is neither true nor false",
    "dict_type": " is not a JSON object; write it in braces",
    "list_type": " is not a list; write it in square brackets",
    "tuple_type": " is not a list; write it in square brackets",
}
"""The messages about values of a wrong type, by pydantic's kind of error."""
