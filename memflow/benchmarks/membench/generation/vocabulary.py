"""The words that users' lives are drawn from: names, occupations, events, items, places. A file for each language.

What follows from what when a life is drawn is sampling.py; how numbers and times are told, told.py; what people like,
preferences.py.
"""

from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

MAX_PEOPLE, MAX_EVENTS, THING_COUNT = 10, 12, 4
"""How many people and events a domain may ask for at most (parameters.py), and how many items and places there are."""
Language = Literal["en", "zh"]
Gender = Literal["male", "female"]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


def _latin(value: Any) -> Any:
    """A list of words in Latin letters stands for each with itself in small letters."""
    return {word: word.lower() for word in value} if isinstance(value, list) else value


LatinSpellings = Annotated[dict[Words, Words], BeforeValidator(_latin)]
"""Words, each as an address of e-mail writes it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class City(_Part):
    """A place to live, to work, and of events. `known` describes it without its name; `area` is its dialling code."""

    name: Words
    area: Words
    known: Words
    big: bool = False
    """Whether people work there, and events go there from elsewhere."""


class Occupation(_Part):
    """What somebody does, with which education, and at what kinds of employer. `duty` describes it without its name."""

    name: Words
    field: Words
    education: tuple[Words, ...] = Field(min_length=1)
    positions: tuple[Words, ...]
    seniors: tuple[Words, ...]
    """The positions of those that others work under."""
    companies: tuple[Words, ...] = Field(min_length=1)
    duty: Words


class Relation(_Part):
    """What somebody is to the user, and by how many years older, at least and at most."""

    name: Words
    ages: tuple[int, int]
    gender: Gender | None = None
    surname: bool = False
    """Whether the user's family name is theirs too."""
    senior: bool = False


class EventType(_Part):
    """A type of event: patterns of its name, what it is about, and what it is counted in."""

    type: Words
    names: tuple[Words, ...] = Field(min_length=1)
    content: Words
    scale: Literal["ten", "hundred", "thousand"]
    duration: Literal["day", "week", "month"]


class ThingType(_Part):
    """A type of item or place: what it may be to the user, its names, and what is thought of it."""

    type: Words
    relationships: tuple[Words, ...] = Field(min_length=1)
    names: tuple[Words, ...] = Field(min_length=1)
    reviews: tuple[Words, ...] = Field(min_length=1)


class Vocabulary(_Part):
    """Lists of words in one language, each long enough that nothing need come twice in one life."""

    language: Language
    name: Words
    """How a full name is put together: `$given $family`."""
    mail: Words
    """How an address of e-mail begins, in Latin letters: `$given.$family`."""
    attends: Words
    """What an event is to the user."""
    labels: dict[str, Words]
    """What each attribute is called in the language."""
    genders: dict[Gender, Words]
    given: dict[Gender, LatinSpellings]
    family: LatinSpellings
    tags: LatinSpellings
    """Words that tell names of companies and events apart."""
    cities: tuple[City, ...]
    educations: tuple[Words, ...] = Field(min_length=1)
    occupations: tuple[Occupation, ...]
    hobbies: dict[Words, Words]
    """Each with what it is, described without its name."""
    characters: tuple[Words, ...]
    relatives: tuple[Relation, ...]
    colleagues: tuple[Relation, ...]
    work_events: tuple[EventType, ...]
    rest_events: tuple[EventType, ...]
    items: tuple[ThingType, ...]
    places: tuple[ThingType, ...]

    @model_validator(mode="after")
    def _suffices(self) -> "Vocabulary":
        """One life has the most people and events that a domain may ask for, and each but once."""
        people = 1 + MAX_PEOPLE
        for what, wanted in (
            ("family", people),
            ("tags", people + MAX_EVENTS),
            ("hobbies", people),
            ("characters", people),
            ("occupations", people - MAX_PEOPLE // 2),
            ("relatives", MAX_PEOPLE - MAX_PEOPLE // 2),
            ("colleagues", MAX_PEOPLE // 2),
            ("work_events", MAX_EVENTS - MAX_EVENTS // 2),
            ("rest_events", MAX_EVENTS // 2),
            ("items", THING_COUNT),
            ("places", THING_COUNT),
        ):
            if len(getattr(self, what)) < wanted:
                raise ValueError(f"{what}: {wanted} are needed, and there are {len(getattr(self, what))}")
        seniors = sum(each.senior for each in self.colleagues)
        for each in self.occupations:
            if len(each.seniors) < seniors or len(each.positions) <= len(self.colleagues) - seniors:
                raise ValueError(
                    f"occupations: {each.name} has too few positions for those who work together"
                )
        if not any(city.big for city in self.cities):
            raise ValueError("cities: none is big")
        return self

    @model_validator(mode="after")
    def _tells_apart(self) -> "Vocabulary":
        """What questions name is no two things' in one life."""
        events = self.work_events + self.rest_events
        for what, held in (
            ("cities", [each.name for each in self.cities]),
            ("occupations", [each.name for each in self.occupations]),
            ("positions", [name for each in self.occupations for name in each.positions + each.seniors]),
            ("relations", [each.name for each in self.relatives + self.colleagues]),
            ("types of events", [each.type for each in events]),
            ("contents of events", [each.content for each in events]),
            ("types of items", [each.type for each in self.items]),
            ("types of places", [each.type for each in self.places]),
            ("names of items and places", [name for each in self.items + self.places for name in each.names]),
        ):
            if twice := next((each for each in held if held.count(each) > 1), None):
                raise ValueError(f"{what}: {twice} is there twice")
        return self

    def city(self, name: str) -> City:
        """The city of that name. Raises KeyError."""
        return {each.name: each for each in self.cities}[name]

    def occupation(self, name: str) -> Occupation:
        """The occupation of that name. Raises KeyError."""
        return {each.name: each for each in self.occupations}[name]


@cache
def bundled_vocabulary(language: Language) -> Vocabulary:
    """Our own words in a language."""
    path = files("memflow.benchmarks.membench") / "sample" / f"vocabulary_{language}.yaml"
    return Vocabulary.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
