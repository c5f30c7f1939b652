"""Preference categories of films, food and books, with the items of each category.

A category is a high-level preference; users mention its items (paper, section 3.1). An item belongs to one category
only, so items determine the preference. `sample/` contains our categories; a user's YAML file can replace those of a
topic.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import Field

from memflow.benchmarks.membench.generation.vocabulary import PACKAGE, FrozenModel, Language, Words
from memflow.benchmarks.packaged import load_yaml
from memflow.errors import BadInput

Topic = Literal["movie", "food", "book"]
TOPICS: tuple[Topic, ...] = ("movie", "food", "book")
MIN_ITEMS, MAX_ITEMS = 5, 50
"""Minimum and maximum number of items per category."""
MIN_CATEGORIES = 4
"""Minimum number of categories per topic, so that a question has four options."""


class Category(FrozenModel):
    """A category of a topic. `weight` is the number of users with this preference, or 1 if no counts exist."""

    topic: Topic
    name: Words
    items: tuple[Words, ...] = Field(min_length=MIN_ITEMS, max_length=MAX_ITEMS)
    weight: int = Field(1, ge=0)


@dataclass(frozen=True)
class Preferences:
    """The categories of all topics."""

    categories: tuple[Category, ...]

    def of(self, topic: Topic) -> dict[str, tuple[str, ...]]:
        """Return the items of a topic, by name of the category."""
        return {category.name: category.items for category in self.categories if category.topic == topic}

    def draw(self, topic: Topic, rng: random.Random) -> str:
        """Return a random category of a topic, weighted by the number of users who prefer the category."""
        categories = [category for category in self.categories if category.topic == topic]
        return rng.choices(categories, [each.weight for each in categories])[0].name

    def replace_topics(self, other: "Preferences") -> "Preferences":
        """Return a copy in which the topics of `other` replace the topics of the same name."""
        replaced = {category.topic for category in other.categories}
        return Preferences(
            (*(each for each in self.categories if each.topic not in replaced), *other.categories)
        )


def build_preferences(categories: Iterable[Category]) -> Preferences:
    """Return validated categories of all topics. Raises BadInput for too few categories or for repeated items."""
    found = Preferences(tuple(categories))
    for topic in {category.topic: None for category in found.categories}:
        by_name = found.of(topic)
        if len(by_name) < MIN_CATEGORIES:
            raise BadInput(
                f"preferences: {topic} has {len(by_name)} categories, but at least {MIN_CATEGORIES} are "
                "needed. Add categories."
            )
        if not any(each.weight for each in found.categories if each.topic == topic):
            raise BadInput(
                f"preferences: the weights of all categories of {topic} are 0. Give at least one category "
                "a weight."
            )
        items = [item for each in by_name.values() for item in each]
        if twice := next((item for item in items if items.count(item) > 1), None):
            raise BadInput(
                f"preferences: the item {twice!r} of {topic} is in two categories. Remove it from one."
            )
    return found


def parse_categories(lists: Mapping[Topic, Mapping[str, list[str]]]) -> list[Category]:
    """Convert items by topic and category, in the format of the sample files. Raises ValidationError."""
    return [
        Category(topic=topic, name=name, items=tuple(items))
        for topic, categories in lists.items()
        for name, items in categories.items()
    ]


@cache
def bundled_preferences(language: Language) -> Preferences:
    """Return the preference categories and their items that memflow ships for a language."""
    return build_preferences(parse_categories(load_yaml(PACKAGE, f"sample/preferences_{language}.yaml")))
