"""Preference categories of films, food and books, with the items of each category.

A category is a high-level preference; users mention its items (paper, section 3.1). An item belongs to one category
only, so items determine the preference.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import TypeAdapter

from memflow.benchmarks.membench.generation.vocabulary import PACKAGE, Language, Words
from memflow.benchmarks.packaged import load_yaml

Topic = Literal["movie", "food", "book"]
TOPICS: tuple[Topic, ...] = ("movie", "food", "book")
Preferences = Mapping[Topic, Mapping[Words, tuple[Words, ...]]]
"""The items of each category, by topic and name of the category."""


@cache
def bundled_preferences(language: Language) -> Preferences:
    """Return the preference categories and their items in a language."""
    return TypeAdapter(Preferences).validate_python(load_yaml(PACKAGE, f"sample/preferences_{language}.yaml"))
