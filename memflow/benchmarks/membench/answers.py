"""Output types of MemBench's prompts: bounded, so that a server can hold a model to them."""

from functools import cache
from typing import Annotated

from pydantic import Field, StringConstraints

from memflow.benchmarks.models import StrictModel, narrowed
from memflow.benchmarks.multiple_choice import Choice

__all__ = ["Choice"]

LINE = 200
"""Characters of what is said beside the point, at most: two short sentences."""
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LINE)]
Told = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)]


class Round(StrictModel):
    """What a person says and what the assistant says in return, beside the point of a session."""

    user: Line
    assistant: Line


class Rounds(StrictModel):
    """A conversation."""

    rounds: list[Round] = Field(min_length=1, max_length=40)


class Messages(StrictModel):
    """What a person says, one message after the other."""

    messages: list[Line] = Field(min_length=1, max_length=20)


class ToldRound(StrictModel):
    """What a person tells in their own words, and what the assistant says in return."""

    user: Told
    assistant: Told


class ToldMessage(StrictModel):
    """What a person tells or asks, in their own words."""

    text: Told


@cache
def rounds_of(count: int) -> type[Rounds]:
    """Rounds of exactly so many."""
    return narrowed(Rounds, rounds=(list[Round], Field(min_length=count, max_length=count)))


@cache
def messages_of(count: int) -> type[Messages]:
    """Messages of exactly so many."""
    return narrowed(Messages, messages=(list[Line], Field(min_length=count, max_length=count)))
