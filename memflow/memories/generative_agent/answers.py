"""What a model answers when a generative agent rates memories, and when it reflects on them."""

from typing import Annotated

from pydantic import BaseModel, Field

QUESTIONS, INSIGHTS, STATEMENTS = 3, 5, 99
"""The most questions of a reflection, insights for each, and numbered statements that these are drawn from."""


class Rating(BaseModel):
    """How much a memory matters, from 1 (everyday) to 10 (of a lifetime)."""

    importance: Annotated[int, Field(ge=1, le=10)]


class Questions(BaseModel):
    """What is most worth asking about the newest memories."""

    questions: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=160)]], Field(min_length=1, max_length=QUESTIONS)
    ]


class Insight(BaseModel):
    """A conclusion, and the numbers of the statements that it rests on."""

    insight: Annotated[str, Field(min_length=1, max_length=200)]
    because: Annotated[list[Annotated[int, Field(ge=1, le=STATEMENTS)]], Field(min_length=1, max_length=6)]


class Insights(BaseModel):
    """Conclusions from numbered statements: none, where they allow none."""

    insights: Annotated[list[Insight], Field(max_length=INSIGHTS)]
