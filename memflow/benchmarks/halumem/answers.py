"""The output types of the judges' prompts. Numbers and booleans may also be texts, as published judges write them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, StringConstraints

Reason = Annotated[str, StringConstraints(max_length=2000)]


def _number(value: Any) -> Any:
    """Return a score that is a text, or a number without a fraction, as an integer; other values as they are."""
    if isinstance(value, bool):
        return None  # which would be 0 or 1
    if isinstance(value, str) and value.strip() in ("0", "1", "2"):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _flag(value: Any) -> Any:
    return value.strip().lower() == "true" if isinstance(value, str) and value.strip() else value


Score = Annotated[Literal[0, 1, 2], BeforeValidator(_number)]


class Integrity(BaseModel):
    """How well the texts of a session cover a point."""

    reason: Reason
    score: Score


class Accuracy(BaseModel):
    """How far the dialogue or the points support a text, and whether all its fields are among those of the points."""

    reason: Reason
    score: Score
    included: Annotated[bool, BeforeValidator(_flag)]


class Update(BaseModel):
    """Whether a search shows the new state of an updated point."""

    reason: Reason
    result: Literal["Correct", "Hallucination", "Omission", "Other"]


class QuestionAnswer(BaseModel):
    """Whether an answer is right, invented or incomplete."""

    reason: Reason
    result: Literal["Correct", "Hallucination", "Omission"]
