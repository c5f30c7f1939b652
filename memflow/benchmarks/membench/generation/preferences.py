"""What people like: of films, food and books, the categories and the items that belong to each.

A category is a high-level preference, its items are what a user tells of (paper, section 3.1). One category has many
items, and an item one category, so that what is told leads to one preference. Ours are in sample/; what rating data
has, ratings.py makes of it.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.membench.generation.vocabulary import Language, Words
from memflow.errors import BadInput

Topic = Literal["movie", "food", "book"]
TOPICS: tuple[Topic, ...] = ("movie", "food", "book")
MIN_ITEMS, MAX_ITEMS = 5, 50
"""How many items a category has, at least and at most."""
MIN_CATEGORIES = 4
"""How many categories a topic has at least, so that one can be asked for among four."""


class Category(BaseModel):
    """A category of a topic. `weight` is how many users like it best; 1 where nobody was counted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: Topic
    name: Words
    items: tuple[Words, ...] = Field(min_length=MIN_ITEMS, max_length=MAX_ITEMS)
    weight: int = Field(1, ge=0)


@dataclass(frozen=True)
class Preferences:
    """The categories of every topic."""

    categories: tuple[Category, ...]

    def of(self, topic: Topic) -> dict[str, tuple[str, ...]]:
        """The categories of a topic with their items, in order."""
        return {each.name: each.items for each in self.categories if each.topic == topic}

    def draw(self, topic: Topic, rng: random.Random) -> str:
        """A category of a topic, each as probable as users like it best."""
        held = [each for each in self.categories if each.topic == topic]
        return rng.choices(held, [each.weight for each in held])[0].name

    def but(self, other: "Preferences") -> "Preferences":
        """These, but of the topics that `other` has, those of `other`."""
        replaced = {each.topic for each in other.categories}
        return Preferences(
            (*(each for each in self.categories if each.topic not in replaced), *other.categories)
        )


def build_preferences(categories: Iterable[Category]) -> Preferences:
    """The categories together. Raises BadInput where a topic has too few, or an item stands twice in one."""
    found = Preferences(tuple(categories))
    for topic in {each.topic: None for each in found.categories}:
        held = found.of(topic)
        if len(held) < MIN_CATEGORIES:
            raise BadInput(f"preferences: {topic} has {len(held)} categories; {MIN_CATEGORIES} are needed")
        if not any(each.weight for each in found.categories if each.topic == topic):
            raise BadInput(f"preferences: nobody likes any category of {topic}; give one of them a weight")
        items = [item for each in held.values() for item in each]
        if twice := next((item for item in items if items.count(item) > 1), None):
            raise BadInput(f"preferences: {twice!r} of {topic} is in two categories; leave it in one")
    return found


def parse_categories(lists: Mapping[Topic, Mapping[str, list[str]]]) -> list[Category]:
    """Lists of items by topic and category, as a file of ours has them. Raises ValidationError."""
    return [
        Category(topic=topic, name=name, items=tuple(items))
        for topic, held in lists.items()
        for name, items in held.items()
    ]


@cache
def bundled_preferences(language: Language) -> Preferences:
    """Our own categories and items in a language."""
    path = files("memflow.benchmarks.membench") / "sample" / f"preferences_{language}.yaml"
    return build_preferences(parse_categories(yaml.safe_load(path.read_text(encoding="utf-8"))))
