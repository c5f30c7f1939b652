"""Sentence templates of messages and questions, one file per language.

`sentences_*` has templates of facts: `$who` is the entity, `$value` the value, `$a_value` the value after `a` or `an`.
`sayings_*` has templates of preferences: `$item` is the item and `$before` the previous item. The simulator rewords the
sentences.
"""

import random
import re
from collections.abc import Mapping
from string import Template
from typing import Annotated

from pydantic import Field

from memflow.benchmarks.membench.generation.graphs import Node, SubjectType
from memflow.benchmarks.membench.generation.preferences import Topic
from memflow.benchmarks.membench.generation.vocabulary import Words, words_loader
from memflow.benchmarks.models import StrictModel

_VOWEL_SOUND = re.compile(r"(?!uni|us[eu]|eu|one\b)[aeiou]|hour|honest|heir", re.IGNORECASE)
"""The beginning of an English word that takes `an`."""


class AttributeTemplates(StrictModel):
    """Templates that state an attribute, ask for the attribute, and identify an entity by the attribute."""

    told: str
    asked: str
    which: str


class CountTemplates(StrictModel):
    """Templates of a number with a noun, in singular and plural."""

    one: str
    many: str

    def say(self, count: int) -> str:
        """Return the number with the noun in singular or plural."""
        return fill(self.one if count == 1 else self.many, count=count)


class SubjectTemplates(StrictModel):
    """Templates of one entity type. `named` contains the name, `who` does not.

    `compared` asks which of two entities has more; `counted` asks how many have a value; `processed` asks for a derived
    value.
    """

    who: str
    named: str
    attributes: dict[str, AttributeTemplates]
    compared: dict[str, str] = Field({})
    counted: dict[str, str] = Field({})
    processed: dict[str, str] = Field({})
    counts: CountTemplates = CountTemplates(one="$count", many="$count")


class MixedTemplates(StrictModel):
    """Templates of questions that compare a person with an event."""

    compared: dict[str, str]
    same: str
    different: str
    counted: str
    counts: CountTemplates


class FactTemplates(StrictModel):
    """The templates of sentences and questions about facts, in one language."""

    people: SubjectTemplates
    events: SubjectTemplates
    items: SubjectTemplates
    places: SubjectTemplates
    mixed: MixedTemplates
    corrected: str
    """Template of a correction."""
    ahead: str
    """Option that names the entity with more of an attribute, and the value."""
    hours: str
    people_in_figures: str
    seasons: tuple[str, ...]
    months: tuple[str, ...]

    def of(self, sort: SubjectType) -> SubjectTemplates:
        """Return the fact templates of an entity type."""
        about: SubjectTemplates = getattr(self, sort)
        return about


fact_templates = words_loader(FactTemplates, "sample/sentences")
"""Returns the bundled fact templates of a language."""


def fill(pattern: str, **values: object) -> str:
    """Return a template with its placeholders filled."""
    return Template(pattern).substitute({name: str(value) for name, value in values.items()})


def fill_sentence(pattern: str, **values: object) -> str:
    """Return a filled template with a capital first letter."""
    text = fill(pattern, **values)
    return text[:1].upper() + text[1:]


def with_article(word: str) -> str:
    """Return an English noun after its indefinite article: `an accountant`, `a university lecturer`."""
    return f"{'an' if _VOWEL_SOUND.match(word) else 'a'} {word}"


def name_of(pattern: str, node: Node) -> str:
    """Return a template that is filled with the attributes of a node."""
    own: Mapping[str, str] = {**node.attributes, "name": node.name, "relationship": node.relationship}
    return Template(pattern).substitute(own)


Variants = Annotated[tuple[Words, ...], Field(min_length=1)]


class TopicTemplates(StrictModel):
    """Templates of one topic. `plural` is the name of the topic in questions.

    The statements are that the user likes an item, also likes an item, dislikes an item, wants an item, and accepts or
    rejects a recommendation. The questions ask for the preferred category and for the recommendations.
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


class PreferenceTemplates(StrictModel):
    """The templates of sentences and questions about preferences, in one language. `comma` separates list items."""

    comma: str
    all_recommendations: Words
    topics: dict[Topic, TopicTemplates]


preference_templates = words_loader(PreferenceTemplates, "sample/sayings")
"""Returns the bundled preference templates of a language."""


def fill_any(ways: Variants, rng: random.Random, **things: str) -> str:
    """Return a randomly chosen template with its placeholders filled."""
    return Template(rng.choice(ways)).substitute(things)
