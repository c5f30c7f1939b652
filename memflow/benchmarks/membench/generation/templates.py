"""The plain sentences in which lives are told and asked about, a file for each language. No rule of plans here.

They are patterns: `$who` is whom or what they are about, `$value` an attribute's value. The simulator words anew what
comes of them.
"""

import random
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.membench.generation.graphs import Node
from memflow.benchmarks.membench.generation.preferences import Topic
from memflow.benchmarks.membench.generation.vocabulary import Language, Words

SubjectType = Literal["people", "events", "items", "places"]
SUBJECT_TYPES: tuple[SubjectType, ...] = ("people", "events", "items", "places")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AttributeTemplates(_Part):
    """How an attribute is told, how it is asked for, and how what has a value of it is named by that."""

    told: str
    asked: str
    which: str


class CountTemplates(_Part):
    """How a number of them is said."""

    one: str
    many: str

    def say(self, count: int) -> str:
        """The number with what is counted."""
        return fill(self.one if count == 1 else self.many, count=count)


class CountedTemplates(_Part):
    """Of how many something is to be counted, and how the count is said."""

    counts: CountTemplates = CountTemplates(one="$count", many="$count")


class SubjectTemplates(CountedTemplates):
    """What is said of one sort. `named` gives the name, `who` does not.

    `compared` asks which of two has more of an attribute, `counted` how many have so much of it, `processed` for what
    follows from it.
    """

    who: str
    named: str
    attributes: dict[str, AttributeTemplates]
    compared: dict[str, str] = {}
    counted: dict[str, str] = {}
    processed: dict[str, str] = {}


class MixedTemplates(_Part):
    """What is asked of people and events together."""

    compared: dict[str, str]
    same: str
    different: str
    counted: str
    counts: CountTemplates


class FactTemplates(_Part):
    """What one language says."""

    people: SubjectTemplates
    events: SubjectTemplates
    items: SubjectTemplates
    places: SubjectTemplates
    mixed: MixedTemplates
    corrected: str
    """What is told once more, and rightly."""
    both: str
    """That neither of two has more."""
    hours: str
    people_in_figures: str
    seasons: tuple[str, ...]
    months: tuple[str, ...]

    def of(self, sort: SubjectType) -> SubjectTemplates:
        """What is said of a sort."""
        about: SubjectTemplates = getattr(self, sort)
        return about


@cache
def fact_templates(language: Language) -> FactTemplates:
    """Our own sentences in a language."""
    path = files("memflow.benchmarks.membench") / "sample" / f"sentences_{language}.yaml"
    return FactTemplates.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def fill(pattern: str, **values: object) -> str:
    """A pattern with its values."""
    return Template(pattern).substitute({name: str(value) for name, value in values.items()})


def fill_sentence(pattern: str, **values: object) -> str:
    """The sentence of a pattern: it begins with a capital letter."""
    text = fill(pattern, **values)
    return text[:1].upper() + text[1:]


def name_of(pattern: str, node: Node) -> str:
    """What a node is called, by the pattern."""
    own: Mapping[str, str] = {**node.attributes, "name": node.name, "relationship": node.relationship}
    return Template(pattern).substitute(own)


Variants = Annotated[tuple[Words, ...], Field(min_length=1)]


class TopicTemplates(_Part):
    """What is said of one topic. `plural` is what the questions call it.

    The user likes an item, or likes it too, or does not; or wants one, which the assistant recommends and the user
    accepts or rejects. The questions ask which category is preferred, and what was recommended.
    """

    plural: Words
    liked: Variants
    liked_too: Variants
    disliked: Variants
    wanted: Variants
    recommended: Variants
    accepted: Variants
    rejected: Variants
    preference: Words
    recommendations: Words


class PreferenceTemplates(_Part):
    """What one language says. `comma` stands between the items of a list."""

    comma: str
    all_recommendations: Words
    topics: dict[Topic, TopicTemplates]


@cache
def preference_templates(language: Language) -> PreferenceTemplates:
    """What a language says of likings."""
    source = files("memflow.benchmarks.membench") / "sample" / f"sayings_{language}.yaml"
    return PreferenceTemplates.model_validate(yaml.safe_load(source.read_text(encoding="utf-8")))


def fill_any(ways: Variants, rng: random.Random, **things: str) -> str:
    """A pattern of these by chance, filled in."""
    return Template(rng.choice(ways)).substitute(things)
