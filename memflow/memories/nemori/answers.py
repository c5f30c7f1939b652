"""What a model answers for Nemori: where topics begin, an episode's story, what it expected, what was news."""

from typing import Annotated

from pydantic import BaseModel, Field

Line = Annotated[int, Field(ge=1, le=999)]
"""The number that a message is shown under."""


class Boundary(BaseModel):
    """A message that begins another topic. `confidence` is in percent."""

    line: Line
    confidence: Annotated[int, Field(ge=0, le=100)]


class Boundaries(BaseModel):
    """Where other topics begin: nowhere, where the conversation keeps to its topic."""

    boundaries: Annotated[list[Boundary], Field(max_length=12)]


class Narration(BaseModel):
    """An episode as it is remembered."""

    title: Annotated[str, Field(min_length=1, max_length=80)]
    narrative: Annotated[str, Field(min_length=1, max_length=800)]


class Prediction(BaseModel):
    """What was expected of an episode, knowing its title."""

    prediction: Annotated[str, Field(min_length=1, max_length=600)]


class Statement(BaseModel):
    """Something of lasting use that was not expected, and the messages that say so."""

    statement: Annotated[str, Field(min_length=1, max_length=160)]
    lines: Annotated[list[Line], Field(min_length=1, max_length=3)]


class Statements(BaseModel):
    """What was not expected: none, where everything was."""

    statements: Annotated[list[Statement], Field(max_length=6)]
