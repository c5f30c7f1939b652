"""What values of the vocabulary reveal about each other: an occupation its employers, a relationship its ages.

The words and numbers are those of the bundled vocabulary; which questions the generator avoids is not known here.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from string import Template

from memflow.benchmarks.membench.examination.lexicon import Lexicon, normalize
from memflow.benchmarks.membench.generation.graph_sampling import AGES
from memflow.benchmarks.membench.generation.vocabulary import Language, bundled_vocabulary

Worlds = Mapping[str, frozenset[str]]
"""What is possible, by aspect: jobs, relations, types of events, types of things, cities and tags of companies."""
CLOSED = ("age", "scale", "duration", "work_location")
"""Attributes whose values are all known."""
_SIZES, _DAYS = {"ten": 10, "hundred": 100, "thousand": 1000}, {"day": 1, "week": 7, "month": 30}


def possible_worlds(attribute: str, value: str, words: Lexicon) -> Worlds:
    """Return what is possible by a value of an attribute: a text, or the number of a scale, a duration or an age."""
    key = normalize(value)
    if attribute == "phone":
        key = key.partition("-")[0]
    elif attribute == "email":
        key = key.rpartition("@")[2]
    elif attribute in CLOSED and not key.isdigit() and attribute != "work_location":
        key = str(words.measure(attribute, value))
    elif attribute == "name":
        given = bundled_vocabulary(words.language).given.values()
        names = [
            name for group in given for name in group if value.endswith(name) or value.startswith(f"{name} ")
        ]
        key = next(
            (normalize(name) for name in names if value.split(maxsplit=1)[0] == name or value.endswith(name)),
            "",
        )
    return _index(words.language).get((attribute, key), {})


def event_amounts(types: Iterable[str], attribute: str, language: Language) -> list[int]:
    """Return the scales in people, or the durations in days, of event types."""
    return [
        int(value)
        for (name, value), worlds in _index(language).items()
        if name == attribute and worlds.get("event", frozenset()) & set(types)
    ]


def told_types(text: str, aspect: str, words: Lexicon) -> frozenset[str]:
    """Return the types of events or of things that a text names, or else those of which words in the text tell."""
    vocabulary = bundled_vocabulary(words.language)
    events = [event.type for event in (*vocabulary.work_events, *vocabulary.rest_events)]
    types = {name: cue for name, cue in words.cues.telling.items() if (name in events) is (aspect == "event")}
    named = frozenset(name for name in types if name in text.casefold())
    return named or frozenset(name for name, cue in types.items() if cue.search(text))


def intersect(worlds: Iterable[Worlds]) -> Worlds:
    """Return what is possible by all of these; an aspect that nothing is possible for is left out."""
    found: dict[str, frozenset[str]] = {}
    for each in worlds:
        for aspect, possible in each.items():
            found[aspect] = found.get(aspect, possible) & possible
    return {aspect: possible for aspect, possible in found.items() if possible}


@cache
def _index(language: Language) -> Mapping[tuple[str, str], Worlds]:
    """Return what is possible by each value, by attribute and normalized value."""
    words = bundled_vocabulary(language)
    relations = (*words.relatives, *words.colleagues)
    found: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def add(attribute: str, values: Iterable[str], aspect: str, possible: Iterable[str]) -> None:
        for value in values:
            found[attribute, normalize(value)][aspect].update(possible)

    for job in words.occupations:
        add("education", job.education, "job", [job.name])
        add("occupation", [job.name], "job", [job.name])
        add("position", [*job.positions, *job.seniors], "job", [job.name])
        for senior, positions in ((False, job.positions), (True, job.seniors)):
            holders = [relation.name for relation in words.colleagues if relation.senior is senior]
            add(
                "position",
                positions,
                "relation",
                [*holders, *(relation.name for relation in words.relatives)],
            )
        for tag, spelling in words.tags.items():
            companies = [Template(company).substitute(tag=tag) for company in job.companies]
            add("company", companies, "job", [job.name])
            add("company", companies, "tag", [spelling])
    for relation in relations:
        add("relation", [relation.name], "relation", [relation.name])
        ages = range(AGES[0] + relation.ages[0], AGES[1] + relation.ages[1] + 1)
        add("age", map(str, ages), "relation", [relation.name])
        for gender, names in words.given.items():
            add("name", names if relation.gender in (None, gender) else (), "relation", [relation.name])
    for event in (*words.work_events, *words.rest_events):
        for attribute, unit, (least, most) in (
            ("scale", _SIZES[event.scale], event.scale_counts),
            ("duration", _DAYS[event.duration], event.duration_counts),
        ):
            add(attribute, (str(unit * count) for count in range(least, most + 1)), "event", [event.type])
    for city in words.cities:
        add("phone", [city.area], "city", [city.name])
        add("work_location", [city.name] if city.big else [], "city", [city.name])
    for spelling in words.tags.values():
        add("email", [f"{spelling}.example"], "tag", [spelling])
    return {
        key: {aspect: frozenset(possible) for aspect, possible in worlds.items()}
        for key, worlds in found.items()
    }
