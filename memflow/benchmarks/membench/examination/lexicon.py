"""The words that the examiner recognizes: names, types and values of the bundled vocabulary and preferences.

Words of a user's own vocabulary are unknown here, so the examiner does not read them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from string import Template

from memflow.benchmarks.membench.examination import quantities
from memflow.benchmarks.membench.examination.cues import Cues, cues
from memflow.benchmarks.membench.generation.preferences import TOPICS, Topic, bundled_preferences
from memflow.benchmarks.membench.generation.vocabulary import Language, Vocabulary, bundled_vocabulary

Value = int | str | tuple[int, int]
"""The value of an attribute in a form that compares and orders: a number, a normalized text or a day of the year."""

PERSON, EVENT, ITEM, PLACE = "person", "event", "item", "place"
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    PERSON: (
        *("age", "height", "birthday", "hometown", "work_location", "education"),
        *("occupation", "position", "company", "hobby", "phone", "email"),
    ),
    EVENT: ("event_type", "location", "time", "scale", "duration"),
    ITEM: ("review",),
    PLACE: ("review",),
}
"""Attributes that messages state, by sort of entity. Names and types are read from mentions."""


@dataclass(frozen=True)
class Lexicon:
    """The words of one language. `mentions` has the pattern of references to an entity, by (sort, whether by name).

    `values` and `items` have the patterns of values by attribute and of liked items by topic. `educations` are the
    levels of education, lowest first, of which `measure` returns the position.
    """

    language: Language
    cues: Cues
    mentions: Mapping[tuple[str, bool], re.Pattern[str]]
    values: Mapping[str, re.Pattern[str]]
    educations: tuple[str, ...]
    descriptions: Mapping[str, Mapping[str, str]]
    """Descriptions of values by attribute and normalized value."""
    items: Mapping[Topic, re.Pattern[str]]
    categories: Mapping[Topic, Mapping[str, str]]
    """The category of each liked item, by topic and item."""

    def has_cue(self, attribute: str, value: str, text: str) -> bool:
        """Return whether a text has the cue that a statement of this attribute requires; true if none is required."""
        cue = self.cues.attributes.get(attribute)
        if cue is None:
            return True
        return re.search(cue.replace("{value}", re.escape(value)), text, re.IGNORECASE) is not None

    def measure(self, attribute: str, text: str) -> Value:
        """Return the value of an attribute in a text. Raises ValueError."""
        if attribute in ("age", "height", "scale"):
            return quantities.number_in(text)
        if attribute == "duration":
            return quantities.days_in(text)
        if attribute == "birthday":
            return quantities.day_of_year(text)
        if attribute == "education" and normalize(text) in self.educations:
            return self.educations.index(normalize(text))
        return normalize(text)


def normalize(text: str) -> str:
    """Return a text in lower case without final punctuation."""
    return " ".join(text.casefold().split()).rstrip(" .。")


@cache
def lexicon(language: Language) -> Lexicon:
    """Return the lexicon of a language."""
    words, own, likes = bundled_vocabulary(language), cues(language), bundled_preferences(language)
    cities = {normalize(city.name): city.known for city in words.cities}
    return Lexicon(
        language=language,
        cues=own,
        mentions=_mentions(words, own),
        values={
            **{
                name: _pattern([pattern], language) for name, pattern in quantities.PATTERNS[language].items()
            },
            **{name: _words(found, language) for name, found in _value_words(words).items()},
        },
        educations=tuple(map(normalize, words.educations)),
        descriptions={
            **dict.fromkeys(("hometown", "work_location", "location"), cities),
            "occupation": {normalize(occupation.name): occupation.duty for occupation in words.occupations},
            "hobby": {normalize(name): text for name, text in words.hobbies.items()},
        },
        items={
            topic: _words((item for group in likes[topic].values() for item in group), language, exact=True)
            for topic in TOPICS
        },
        categories={
            topic: {item: name for name, group in likes[topic].items() for item in group} for topic in TOPICS
        },
    )


def _mentions(words: Vocabulary, own: Cues) -> dict[tuple[str, bool], re.Pattern[str]]:
    language = words.language
    given = _any({name for names in words.given.values() for name in names})
    name = Template(words.name).substitute(given=given, family=_any(words.family))
    tags = _any(words.tags)
    named = {
        PERSON: [name],
        EVENT: [f"{tags}{_any(name.removeprefix('$tag') for name in words.event_names)}"],
        ITEM: [_any(words.item_names)],
        PLACE: [_any(words.place_names)],
    }
    relations = _any(each.name for each in (*words.relatives, *words.colleagues))
    typed = {
        PERSON: own.person.replace("{relation}", f"({relations})"),
        ITEM: own.item.replace("{type}", f"({_any(each.type for each in words.items)})"),
        PLACE: own.place.replace("{type}", f"({_any(each.type for each in words.places)})"),
    }
    return {
        **{(sort, True): _pattern(patterns, language, exact=True) for sort, patterns in named.items()},
        **{(sort, False): re.compile(pattern, re.IGNORECASE) for sort, pattern in typed.items()},
    }


def _value_words(words: Vocabulary) -> dict[str, list[str]]:
    cities = [city.name for city in words.cities]
    tag_companies = [
        Template(company).substitute(tag=tag)
        for occupation in words.occupations
        for company in occupation.companies
        for tag in words.tags
    ]
    return {
        **dict.fromkeys(("hometown", "work_location", "location"), cities),
        "education": list(words.educations),
        "occupation": [each.name for each in words.occupations],
        "position": [name for each in words.occupations for name in (*each.positions, *each.seniors)],
        "company": tag_companies,
        "hobby": list(words.hobbies),
        "event_type": [event.type for event in (*words.work_events, *words.rest_events)],
        "review": [review.rstrip(".。") for review in words.reviews],
    }


def _longest(texts: Iterable[str]) -> list[str]:
    return sorted(set(texts), key=lambda each: (-len(each), each))


def _any(texts: Iterable[str]) -> str:
    return f"(?:{'|'.join(re.escape(text) for text in _longest(texts))})"


def _words(texts: Iterable[str], language: Language, exact: bool = False) -> re.Pattern[str]:
    return _pattern([_any(texts)], language, exact)


def _pattern(patterns: Iterable[str], language: Language, exact: bool = False) -> re.Pattern[str]:
    """Return a pattern that matches any of the patterns. In English, matches begin and end at word boundaries."""
    whole = f"(?:{'|'.join(patterns)})"
    bounded = rf"(?<!\w){whole}(?!\w)" if language == "en" else whole
    return re.compile(bounded, 0 if exact else re.IGNORECASE)
