"""The plain sentences in which lives are told and asked about, a file for each language. No rule of plans here.

They are patterns: `$who` is whom or what they are about, `$value` an attribute's value. The simulator words anew what
comes of them.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.membench.generation.lives.graphs import Node
from memflow.benchmarks.membench.generation.lives.vocabulary import Language

Sort = Literal["people", "events", "items", "places"]
SORTS: tuple[Sort, ...] = ("people", "events", "items", "places")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Attribute(_Part):
    """How an attribute is told, how it is asked for, and how what has a value of it is named by that."""

    told: str
    asked: str
    which: str


class Counts(_Part):
    """How a number of them is said."""

    one: str
    many: str

    def say(self, count: int) -> str:
        """The number with what is counted."""
        return filled(self.one if count == 1 else self.many, count=count)


class Counted(_Part):
    """Of how many something is to be counted, and how the count is said."""

    counts: Counts = Counts(one="$count", many="$count")


class About(Counted):
    """What is said of one sort. `named` gives the name, `who` does not.

    `compared` asks which of two has more of an attribute, `counted` how many have so much of it, `processed` for what
    follows from it.
    """

    who: str
    named: str
    attributes: dict[str, Attribute]
    compared: dict[str, str] = {}
    counted: dict[str, str] = {}
    processed: dict[str, str] = {}


class Mixed(_Part):
    """What is asked of people and events together."""

    compared: dict[str, str]
    same: str
    different: str
    counted: str
    counts: Counts


class Sentences(_Part):
    """What one language says."""

    people: About
    events: About
    items: About
    places: About
    mixed: Mixed
    corrected: str
    """What is told once more, and rightly."""
    both: str
    """That neither of two has more."""
    hours: str
    people_in_figures: str
    seasons: tuple[str, ...]
    months: tuple[str, ...]

    def of(self, sort: Sort) -> About:
        """What is said of a sort."""
        about: About = getattr(self, sort)
        return about


@cache
def sentences(language: Language) -> Sentences:
    """Our own sentences in a language."""
    path = files("memflow.benchmarks.membench") / "sample" / f"sentences_{language}.yaml"
    return Sentences.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def filled(pattern: str, **values: object) -> str:
    """A pattern with its values."""
    return Template(pattern).substitute({name: str(value) for name, value in values.items()})


def sentence(pattern: str, **values: object) -> str:
    """The sentence of a pattern: it begins with a capital letter."""
    text = filled(pattern, **values)
    return text[:1].upper() + text[1:]


def called(pattern: str, node: Node) -> str:
    """What a node is called, by the pattern."""
    own: Mapping[str, str] = {**node.attributes, "name": node.name, "relationship": node.relationship}
    return Template(pattern).substitute(own)
