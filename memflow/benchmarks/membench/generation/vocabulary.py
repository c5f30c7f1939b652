"""Vocabulary for user graphs (names, occupations, events, items, places), one file per language.

Names of events, items and places, and reviews, fit every type, so they do not reveal the type.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, StringConstraints

from memflow.benchmarks.models import StrictModel
from memflow.benchmarks.packaged import load_yaml

MAX_PEOPLE, MAX_EVENTS, THING_COUNT = 10, 12, 4
"""Maximum numbers of people and events in a domain, and the number of items and of places."""
OPTIONS = 4
"""Options of a question."""
PACKAGE = "memflow.benchmarks.membench"
"""The package with the data files, in the folder `sample`."""
Language = Literal["en", "zh"]
Gender = Literal["male", "female"]
W = TypeVar("W", bound=StrictModel)
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


def _latin(value: Any) -> Any:
    """Return a list of Latin words as a mapping of each word to its lower-case form."""
    return {word: word.lower() for word in value} if isinstance(value, list) else value


def words_loader(shape: type[W], path: str) -> Callable[[Language], W]:
    """Return the cached loader of the words of a language, from the data file `PATH_LANGUAGE.yaml`."""
    return cache(lambda language: shape.model_validate(load_yaml(PACKAGE, f"{path}_{language}.yaml")))


UnitCount = Annotated[int, Field(ge=1, le=9)]
LatinSpellings = Annotated[dict[Words, Words], BeforeValidator(_latin)]
"""Words with their spelling in e-mail addresses."""


class City(StrictModel):
    """A city. `known` describes it without its name; `area` is its area code."""

    name: Words
    area: Words
    known: Words
    big: bool = False
    """Whether it has jobs and events."""


class Occupation(StrictModel):
    """An occupation with its education and employers. `duty` describes it without its name."""

    name: Words
    field: Words
    education: tuple[Words, ...] = Field(min_length=1)
    positions: tuple[Words, ...]
    seniors: tuple[Words, ...]
    """Positions of supervisors."""
    companies: tuple[Words, ...] = Field(min_length=1)
    duty: Words


class Relation(StrictModel):
    """A relationship to the user, with the minimum and maximum age difference in years."""

    name: Words
    ages: tuple[int, int]
    gender: Gender | None = None
    surname: bool = False
    """Whether they share the user's family name."""
    senior: bool = False


class EventType(StrictModel):
    """An event type, with contents, and units of scale and duration.

    `scale_counts` and `duration_counts` are the minimum and maximum numbers of units, between 1 and 9, and leave enough
    values for the options of a question.
    """

    type: Words
    content: Words
    scale: Literal["ten", "hundred", "thousand"]
    duration: Literal["day", "week", "month"]
    scale_counts: tuple[UnitCount, UnitCount] = (1, 9)
    duration_counts: tuple[UnitCount, UnitCount] = (1, 9)


class ThingType(StrictModel):
    """A type of items or places, with relationships to the user."""

    type: Words
    relationships: tuple[Words, ...] = Field(min_length=1)


class Vocabulary(StrictModel):
    """The word lists of one language, long enough for graphs without repeated words."""

    language: Language
    name: Words
    """Pattern of a full name: `$given $family`."""
    mail: Words
    """Pattern of the local part of an e-mail address: `$given.$family`."""
    attends: Words
    """The user's relationship to an event."""
    labels: dict[str, Words]
    """Attribute names in this language."""
    genders: dict[Gender, Words]
    given: dict[Gender, LatinSpellings]
    family: LatinSpellings
    tags: LatinSpellings
    """Words that distinguish names of companies and events."""
    cities: tuple[City, ...]
    educations: tuple[Words, ...] = Field(min_length=1)
    occupations: tuple[Occupation, ...]
    hobbies: dict[Words, Words]
    """Hobbies with a description that does not contain the name."""
    characters: tuple[Words, ...]
    relatives: tuple[Relation, ...]
    colleagues: tuple[Relation, ...]
    event_names: tuple[Words, ...] = Field(min_length=1)
    """Patterns of names of events: `$tag Project`."""
    item_names: tuple[Words, ...]
    place_names: tuple[Words, ...]
    reviews: tuple[Words, ...]
    """Reviews of items and places."""
    work_events: tuple[EventType, ...]
    rest_events: tuple[EventType, ...]
    items: tuple[ThingType, ...]
    places: tuple[ThingType, ...]

    def city(self, name: str) -> City:
        """Return the city with this name. Raises KeyError for an unknown name."""
        return {city.name: city for city in self.cities}[name]

    def occupation(self, name: str) -> Occupation:
        """Return the occupation with this name. Raises KeyError for an unknown name."""
        return {occupation.name: occupation for occupation in self.occupations}[name]


bundled_vocabulary = words_loader(Vocabulary, "sample/vocabulary")
"""Returns the bundled vocabulary of a language."""
