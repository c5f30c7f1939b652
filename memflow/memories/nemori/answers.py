"""What a model answers for Nemori: where topics begin, an episode's story, what it expected, what was news."""

from typing import Annotated

from pydantic import BaseModel, Field

from memflow.chat.limits import Items, Number, SomeItems, Text


class Boundary(BaseModel):
    """A message that begins another topic. `confidence` is in percent."""

    line: Number
    confidence: Annotated[int, Field(ge=0, le=100)]


class Boundaries(BaseModel):
    """Where other topics begin: nowhere, where the conversation keeps to its topic."""

    boundaries: Items[Boundary]


class Narration(BaseModel):
    """An episode as it is remembered."""

    title: Text
    narrative: Text


class MergeChoice(BaseModel):
    """The number of the episode that a new episode is part of; 0 if it stays an episode of its own."""

    episode: Annotated[int, Field(ge=0, le=9_999)]


class Prediction(BaseModel):
    """What was expected of an episode, knowing its title."""

    prediction: Text


class Statement(BaseModel):
    """Something of lasting use that was not expected, and the messages that say so."""

    statement: Text
    lines: SomeItems[Number]


class Statements(BaseModel):
    """What was not expected: none, where everything was."""

    statements: Items[Statement]
