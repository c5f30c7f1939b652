"""Cue words with which the examiner parses messages and questions, one file per language.

The generator's templates (memflow/benchmarks/membench/generation/templates.py) do not use these cues.
"""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from memflow.benchmarks.membench.generation.preferences import Topic
from memflow.benchmarks.membench.generation.vocabulary import words_loader
from memflow.benchmarks.models import StrictModel


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


Cue = Annotated[re.Pattern[str], BeforeValidator(_compiled)]
Derivation = Literal["digit_sum", "mail_domain", "length", "season", "description", "half", "hours"]


class AskedAttribute(StrictModel):
    """A cue of questions about an attribute, or about a value that is derived from the attribute."""

    asks: Cue
    attribute: str
    derives: Derivation | None = None


class Comparison(StrictModel):
    """A cue of questions that compare two entities by an attribute. `lesser`: whether the lesser value is asked for."""

    asks: Cue
    attribute: str
    lesser: bool = False


class Count(StrictModel):
    """A cue of questions that count entities with a value or, with `at_least`, with at least this value."""

    asks: Cue
    attributes: tuple[str, ...] = Field(min_length=1)
    at_least: bool = False


class Cues(StrictModel):
    """The cues of one language.

    `person`, `item` and `place` are patterns of an entity's relationship or type. `attributes` has the cue that a
    statement of the attribute requires; `{value}` in this cue stands for the value.
    """

    person: str
    item: str
    place: str
    attributes: dict[str, str]
    corrected: Cue
    clause_end: Cue
    projected: Cue
    """Clauses about a time other than that of the message: `next year he will be 46 years old`."""
    asked: tuple[AskedAttribute, ...]
    compared: tuple[Comparison, ...]
    compared_places: tuple[Comparison, ...]
    same_place: Cue
    different_places: Cue
    counted: tuple[Count, ...]
    liked: Cue
    disliked: Cue
    recommended: Cue
    topics: dict[Topic, Cue]
    recommendations_asked: Cue
    preference_asked: Cue
    mood_asked: Cue
    moods: dict[str, tuple[str, ...]]
    """Phrases that show a mood, by mood."""


cues = words_loader(Cues, "examination/cues")
"""Returns the cues of a language."""
