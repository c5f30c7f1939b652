"""Output types of the judge's prompts. The reason field comes before the score, so that the judge reasons first."""

from enum import Enum
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

Reason = Annotated[str, StringConstraints(max_length=600)]
Label = Literal["A", "B", "C", "D"]
"""What a text is called where several are ranked: three hypotheses and the real idea."""
LABELS: tuple[Label, ...] = ("A", "B", "C", "D")
MOST_QUESTIONS = 20
"""Of a checklist; the longest published has 7."""


class Judged(BaseModel):
    """Whether an answer is right (DialSim)."""

    correct: bool


class Share(Enum):
    """How far a question is answered with yes."""

    no = 0.0
    little = 0.25
    half = 0.5
    mostly = 0.75
    yes = 1.0


class CheckedItem(BaseModel):
    """One question of a checklist."""

    number: Annotated[int, Field(ge=1, le=MOST_QUESTIONS)]
    reason: Annotated[str, StringConstraints(max_length=300)]
    score: Share


class Checked(BaseModel):
    """Every question of a checklist, in order (HelloBench)."""

    items: Annotated[list[CheckedItem], Field(min_length=1, max_length=MOST_QUESTIONS)]


class Scored(BaseModel):
    """A score from 1 to 10, and why (WritingBench, IdeaBench's overlap)."""

    reason: Reason
    score: Annotated[int, Field(ge=1, le=10)]


class Solved(BaseModel):
    """How far a question is solved, from 1 to 5 (NF-Cats)."""

    score: Annotated[int, Field(ge=1, le=5)]


class Merged(BaseModel):
    """Several measures in one score from 1 to 10 (A.1.2)."""

    score: Annotated[int, Field(ge=1, le=10)]


class Ranking(BaseModel):
    """The labels of all texts, best first (IdeaBench)."""

    reason: Reason
    order: Annotated[list[Label], Field(min_length=2, max_length=len(LABELS))]


class InAspect(BaseModel):
    """Whether a limitation is of an aspect (LimitGen)."""

    belongs: bool


class Kind(BaseModel):
    """Which kind a limitation is of, by number; 0 is none of them (LimitGen)."""

    number: Annotated[int, Field(ge=0, le=9)]


class Found(BaseModel):
    """How well a limitation tells the real one, from 0 to 5, and why (LimitGen)."""

    reason: Reason
    score: Annotated[int, Field(ge=0, le=5)]
