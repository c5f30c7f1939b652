"""The plain sentences in which likings are told, asked for and asked about, a file for each language. No rule here.

They are patterns: $item is what is spoken of, $before what was spoken of before it. The simulator words anew what comes
of them.
"""

import random
from functools import cache
from importlib.resources import files
from string import Template
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.membench.generation.lives.preferences import Topic
from memflow.benchmarks.membench.generation.lives.vocabulary import Language, Words

Ways = Annotated[tuple[Words, ...], Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class About(_Part):
    """What is said of one topic. `plural` is what the questions call it.

    The user likes an item, or likes it too, or does not; or wants one, which the assistant recommends and the user
    accepts or rejects. The questions ask which category is preferred, and what was recommended.
    """

    plural: Words
    liked: Ways
    liked_too: Ways
    disliked: Ways
    wanted: Ways
    recommended: Ways
    accepted: Ways
    rejected: Ways
    preference: Words
    recommendations: Words


class Sayings(_Part):
    """What one language says. `comma` stands between the items of a list."""

    comma: str
    all_recommendations: Words
    topics: dict[Topic, About]


@cache
def sayings(language: Language) -> Sayings:
    """What a language says of likings."""
    source = files("memflow.benchmarks.membench") / "sample" / f"sayings_{language}.yaml"
    return Sayings.model_validate(yaml.safe_load(source.read_text(encoding="utf-8")))


def said(ways: Ways, chance: random.Random, **things: str) -> str:
    """A pattern of these by chance, filled in."""
    return Template(chance.choice(ways)).substitute(things)
