"""Random user graphs with MemSim's dependencies between attributes (paper, section 3.1).

Graph n depends only on the seed, n, the numbers of people and events, and the vocabulary. No model is called.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from string import Template
from typing import Generic, TypeVar

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.generation import values
from memflow.benchmarks.membench.generation.graphs import EntityKind, Graph, Node, graph_rows
from memflow.benchmarks.membench.generation.preferences import TOPICS, bundled_preferences
from memflow.benchmarks.membench.generation.vocabulary import (
    THING_COUNT,
    EventType,
    Gender,
    Occupation,
    Relation,
    ThingType,
    bundled_vocabulary,
)
from memflow.fingerprint import seeded

T = TypeVar("T")

AGES = (24, 42)
"""Minimum and maximum age of the user."""
HEIGHTS = {"male": 170, "female": 164}
SPREAD, LOWEST, HIGHEST = 8, 150, 190
"""Standard deviation, minimum and maximum of heights, in cm."""
HOMETOWN_SHARE, WORKPLACE_SHARE = 0.1, 0.8
"""Probability that an event is in the user's hometown, or at the user's place of work; else in a big city."""
RELATIVE_TIME_SHARE = 0.5
"""Probability that an event's time is relative to the message."""
DAYS_AHEAD = (10, 16)
"""Minimum and maximum number of days from the start to an event with an absolute time."""
_SELF = Relation(name="self", ages=(0, 0), surname=True)
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def sample_graph(seed: int, number: int, parameters: Parameters) -> Graph:
    """Return a random graph of user `number` with `parameters.roles` people and `parameters.events` events.

    Half of the people are relatives and half are colleagues. Half of the events are work events.
    """
    return _GraphSampler(random.Random(seeded(seed, "life", number)), parameters).graph(f"u{number:04}")


def sample_twin(rng: random.Random, parameters: Parameters, node: Node) -> Node:
    """Return an entity that another random life may have in place of `node`."""
    return _GraphSampler(rng, parameters).twin(node)


class _Deck(Generic[T]):
    """A list from which items are drawn at random without replacement."""

    def __init__(self, rng: random.Random, things: Iterable[T]) -> None:
        self._rng, self._left = rng, list(things)

    def take(self) -> T:
        return self._left.pop(self._rng.randrange(len(self._left)))


@dataclass(frozen=True)
class _Job:
    """The job attributes that all colleagues share."""

    location: str
    education: str
    occupation: Occupation
    company: str
    address: str


class _GraphSampler:
    """The builder of a graph, which records the values that the graph already uses."""

    def __init__(self, rng: random.Random, parameters: Parameters) -> None:
        self.rng, self.parameters = rng, parameters
        self.words = vocabulary = bundled_vocabulary(parameters.language)
        self.given = {gender: _Deck(rng, words) for gender, words in vocabulary.given.items()}
        self.family, self.tags = _Deck(rng, vocabulary.family), _Deck(rng, vocabulary.tags)
        self.names = {"item": _Deck(rng, vocabulary.item_names), "place": _Deck(rng, vocabulary.place_names)}
        self.reviews = _Deck(rng, vocabulary.reviews)
        self.hobbies, self.characters = _Deck(rng, vocabulary.hobbies), _Deck(rng, vocabulary.characters)
        self.taken: set[str] = set()
        self.occupations: set[str] = set()

    def graph(self, user_id: str) -> Graph:
        """Return a graph with sampled people, events, items and places."""
        rng, words, roles, events = self.rng, self.words, self.parameters.roles, self.parameters.events
        work = self._work()
        seats = _Deck(rng, work.occupation.positions)
        seniors = _Deck(rng, work.occupation.seniors)
        home = rng.choice(words.cities).name
        surname = self.family.take()
        years = rng.randint(*AGES)
        user = self._person("self", "self", _SELF, surname, years, home, work, seats.take())
        preferences = bundled_preferences(words.language)
        likes: dict[str, str] = {topic: rng.choice(list(preferences[topic])) for topic in TOPICS}
        user = replace(user, attributes={**user.attributes, **likes})
        nodes = [user]
        for number, relation in enumerate(rng.sample(words.relatives, roles - roles // 2)):
            own = self._work()
            seat = rng.choice(own.occupation.positions + own.occupation.seniors)
            name = f"relative{number}"
            nodes.append(self._person(name, "relative", relation, surname, years, home, own, seat))
        for number, relation in enumerate(rng.sample(words.colleagues, roles // 2)):
            seat = (seniors if relation.senior else seats).take()
            away = rng.choice(words.cities).name
            name = f"colleague{number}"
            nodes.append(self._person(name, "colleague", relation, surname, years, away, work, seat))
        for number, happening in enumerate(rng.sample(words.work_events, events - events // 2)):
            nodes.append(self._event(f"work_event{number}", "work_event", happening, user))
        for number, happening in enumerate(rng.sample(words.rest_events, events // 2)):
            nodes.append(self._event(f"rest_event{number}", "rest_event", happening, user))
        for number, thing in enumerate(rng.sample(words.items, THING_COUNT)):
            nodes.append(self._thing(f"item{number}", "item", thing))
        for number, thing in enumerate(rng.sample(words.places, THING_COUNT)):
            nodes.append(self._thing(f"place{number}", "place", thing))
        return Graph(user_id, tuple(nodes))

    def twin(self, node: Node) -> Node:
        """Return a random entity of the same relationship and gender, of the same event type, or of the same kind."""
        rng, words = self.rng, self.words
        if node.kind in ("item", "place"):
            things = words.items if node.kind == "item" else words.places
            return self._thing(node.entity_id, node.kind, rng.choice(things))
        own, years, home = self._work(), rng.randint(*AGES), rng.choice(words.cities).name
        if node.kind in ("work_event", "rest_event"):
            seat = own.occupation.positions[0]
            user = self._person("self", "self", _SELF, self.family.take(), years, home, own, seat)
            events = {event.type: event for event in words.work_events + words.rest_events}
            return self._event(node.entity_id, node.kind, events[node["event_type"]], user)
        senior = any(node["position"] in occupation.seniors for occupation in words.occupations)
        [relation] = [each for each in words.relatives + words.colleagues if each.name == node.relationship]
        [gender] = [gender for gender, name in words.genders.items() if name == node["gender"]]
        relation = relation.model_copy(update={"gender": gender})
        seat = rng.choice(own.occupation.seniors if senior else own.occupation.positions)
        return self._person(node.entity_id, node.kind, relation, self.family.take(), years, home, own, seat)

    def _work(self) -> _Job:
        """Return an unused random occupation in a big city, with a fitting education."""
        rng, words = self.rng, self.words
        free = [each for each in words.occupations if each.name not in self.occupations]
        education = rng.choice(
            [name for name in words.educations if any(name in each.education for each in free)]
        )
        occupation = rng.choice([each for each in free if education in each.education])
        self.occupations.add(occupation.name)
        city = rng.choice([each for each in words.cities if each.big])
        tag = self.tags.take()
        company = Template(rng.choice(occupation.companies)).substitute(tag=tag)
        return _Job(city.name, education, occupation, company, words.tags[tag])

    def _person(
        self,
        entity_id: str,
        kind: EntityKind,
        relation: Relation,
        surname: str,
        years: int,
        home: str,
        work: _Job,
        seat: str,
    ) -> Node:
        """Return a random person. `surname` and `years` are the user's; the age differs as fits the relationship."""
        rng, words, language = self.rng, self.words, self.words.language
        genders: list[Gender] = [relation.gender] if relation.gender else list(words.genders)
        gender = rng.choice(genders)
        family = surname if relation.surname else self.family.take()
        years += rng.randint(*relation.ages)
        given = self.given[gender].take()
        area = words.city(work.location).area
        local = Template(words.mail).substitute(given=words.given[gender][given], family=words.family[family])
        attributes = {
            "gender": words.genders[gender],
            "age": values.format_age(years, language),
            "height": values.format_height(self._height(gender), language),
            "birthday": self._new(lambda: values.format_birthday(*self._birthday(), language)),
            "hometown": home,
            "work_location": work.location,
            "education": work.education,
            "occupation": work.occupation.name,
            "position": seat,
            "company": work.company,
            "hobby": self.hobbies.take(),
            "character": self.characters.take(),
            "phone": self._new(lambda: values.sample_phone(rng, area, language)),
            "email": self._new(lambda: values.sample_email(rng, local, work.address)),
        }
        name = Template(words.name).substitute(given=given, family=family)
        return Node(entity_id, kind, name, relation.name, attributes, values.CONTACT_ATTRIBUTES)

    def _height(self, gender: Gender) -> int:
        return min(max(round(self.rng.gauss(HEIGHTS[gender], SPREAD)), LOWEST), HIGHEST)

    def _birthday(self) -> tuple[int, int]:
        month = self.rng.randint(1, 12)
        return month, self.rng.randint(1, _MONTHS[month - 1])

    def _event(self, entity_id: str, kind: EntityKind, happening: EventType, user: Node) -> Node:
        rng, language = self.rng, self.words.language
        field = self.words.occupation(user["occupation"]).field
        name = Template(rng.choice(self.words.event_names)).substitute(tag=self.tags.take())
        attributes = {
            "event_type": happening.type,
            "content": Template(happening.content).substitute(field=field, hobby=user["hobby"]),
            "location": self._where(user),
            "time": self._new(self._time),
            "scale": values.format_scale(rng.randint(*happening.scale_counts), happening.scale, language),
            "duration": values.format_duration(
                rng.randint(*happening.duration_counts), happening.duration, language
            ),
        }
        return Node(entity_id, kind, name, self.words.attends, attributes)

    def _where(self, user: Node) -> str:
        drawn = self.rng.random()
        if drawn < HOMETOWN_SHARE:
            return user["hometown"]
        if drawn < HOMETOWN_SHARE + WORKPLACE_SHARE:
            return user["work_location"]
        return self.rng.choice([city.name for city in self.words.cities if city.big])

    def _time(self) -> str:
        rng, language = self.rng, self.words.language
        hour = rng.choice(values.HOURS)
        if rng.random() < RELATIVE_TIME_SHARE:
            return values.format_relative_time(rng.choice(values.RELATIVE_DAYS), hour, language)
        day = self.parameters.start + timedelta(days=rng.randint(*DAYS_AHEAD))
        return values.format_absolute_time(day.replace(hour=hour, minute=0), language)

    def _thing(self, entity_id: str, kind: EntityKind, thing: ThingType) -> Node:
        rng = self.rng
        attributes = {f"{kind}_type": thing.type, "review": self.reviews.take()}
        return Node(entity_id, kind, self.names[kind].take(), rng.choice(thing.relationships), attributes)

    def _new(self, make: Callable[[], str]) -> str:
        """Return the first value from repeated calls of `make` that this graph does not have yet."""
        while (value := make()) in self.taken:
            pass
        self.taken.add(value)
        return value


def sample_states(domain: Domain) -> States:
    """Return the profiles and entities of `graphs` users, up to the domain's limit. Raises BadSettings."""
    parameters = parameters_of(domain)
    words = bundled_vocabulary(parameters.language)
    wanted = parameters.graphs or 0
    found = States([])
    for number in range(min(wanted, domain.limit or wanted)):
        life = sample_graph(domain.seed, number, parameters)
        profile, entities = graph_rows(life, domain.name, words, parameters.start.date())
        found.profiles.append(profile)
        found.entities.extend(entities)
    return found
