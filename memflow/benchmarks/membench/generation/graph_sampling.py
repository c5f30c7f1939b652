"""A life drawn by seed: what is drawn, and what follows from what (paper, section 3.1; MemSim's dependencies).

The n-th life depends on the seed, n, the numbers of people and events and the words alone. No model is asked.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from string import Template
from typing import Generic, TypeVar

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.generation import personal_data as personal
from memflow.benchmarks.membench.generation import values as told
from memflow.benchmarks.membench.generation.graphs import Graph, Node, Sort, rows
from memflow.benchmarks.membench.generation.preferences import TOPICS, Preferences
from memflow.benchmarks.membench.generation.user_sources import likes_of, words_of
from memflow.benchmarks.membench.generation.vocabulary import (
    THINGS,
    Gender,
    Happening,
    Occupation,
    Relation,
    Thing,
    Vocabulary,
)
from memflow.fingerprint import seeded
from memflow.records import Record

T = TypeVar("T")

AGES = (24, 42)
"""The user's age, at least and at most."""
HEIGHTS = {"male": 170, "female": 164}
SPREAD, LOWEST, HIGHEST = 8, 150, 190
"""Heights are normal about these with this deviation, in cm, and clipped."""
HOMETOWN, WORKPLACE = 0.1, 0.8
"""How probably an event is in the user's hometown, or where the user works; else in a big city."""
RELATIVE = 0.5
"""How probably the time of an event is told from when it is told."""
AHEAD = (10, 16)
"""How many days after the start an event with a fixed time is, at least and at most."""
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def sample(
    seed: int, number: int, parameters: Parameters, vocabulary: Vocabulary, preferences: Preferences
) -> Graph:
    """The life of user `number` from 0: `parameters.roles` people and `parameters.events` events, half of work."""
    return _Life(random.Random(seeded(seed, "life", number)), parameters, vocabulary, preferences).graph(
        f"u{number:04}"
    )


class _Bag(Generic[T]):
    """Things drawn by chance, none twice."""

    def __init__(self, chance: random.Random, things: Iterable[T]) -> None:
        left = list(things)
        self._left = chance.sample(left, len(left))

    def take(self) -> T:
        return self._left.pop()


@dataclass(frozen=True)
class _Work:
    """What those who work together share."""

    location: str
    education: str
    occupation: Occupation
    company: str
    address: str


class _Life:
    """A life that is being drawn, with what of it is taken already."""

    def __init__(
        self,
        chance: random.Random,
        parameters: Parameters,
        vocabulary: Vocabulary,
        preferences: Preferences,
    ) -> None:
        self.chance, self.parameters, self.words, self.preferences = (
            chance,
            parameters,
            vocabulary,
            preferences,
        )
        self.given = {gender: _Bag(chance, words) for gender, words in vocabulary.given.items()}
        self.family, self.tags = _Bag(chance, vocabulary.family), _Bag(chance, vocabulary.tags)
        self.hobbies, self.characters = (
            _Bag(chance, vocabulary.hobbies),
            _Bag(chance, vocabulary.characters),
        )
        self.taken: set[str] = set()
        self.occupations: set[str] = set()

    def graph(self, user_id: str) -> Graph:
        """The whole life."""
        chance, words, roles, events = (
            self.chance,
            self.words,
            self.parameters.roles,
            self.parameters.events,
        )
        work = self._work()
        seats = _Bag(chance, work.occupation.positions)
        seniors = _Bag(chance, work.occupation.seniors)
        home = chance.choice(words.cities).name
        surname = self.family.take()
        gender = self._gender()
        years = chance.randint(*AGES)
        user = self._person("self", "self", "self", gender, surname, years, home, work, seats.take())
        user = replace(user, attributes={**user.attributes, **self._documents(user), **self._likes()})
        user = replace(user, synthetic=(*user.synthetic, *personal.OF_THE_USER))
        nodes = [user]
        for number, relation in enumerate(chance.sample(words.relatives, roles - roles // 2)):
            own = self._work()
            seat = chance.choice(own.occupation.positions + own.occupation.seniors)
            nodes.append(
                self._kin(f"relative{number}", "relative", relation, surname, years, home, own, seat)
            )
        for number, relation in enumerate(chance.sample(words.colleagues, roles // 2)):
            seat = (seniors if relation.senior else seats).take()
            away = chance.choice(words.cities).name
            nodes.append(
                self._kin(f"colleague{number}", "colleague", relation, surname, years, away, work, seat)
            )
        for number, happening in enumerate(chance.sample(words.work_events, events - events // 2)):
            nodes.append(self._event(f"work_event{number}", "work_event", happening, user))
        for number, happening in enumerate(chance.sample(words.rest_events, events // 2)):
            nodes.append(self._event(f"rest_event{number}", "rest_event", happening, user))
        for number, thing in enumerate(chance.sample(words.items, THINGS)):
            nodes.append(self._thing(f"item{number}", "item", thing))
        for number, thing in enumerate(chance.sample(words.places, THINGS)):
            nodes.append(self._thing(f"place{number}", "place", thing))
        return Graph(user_id, tuple(nodes))

    def _work(self) -> _Work:
        """A job that nobody else has, with an education that it takes, in a big city."""
        chance, words = self.chance, self.words
        free = [each for each in words.occupations if each.name not in self.occupations]
        education = chance.choice(
            [name for name in words.educations if any(name in each.education for each in free)]
        )
        occupation = chance.choice([each for each in free if education in each.education])
        self.occupations.add(occupation.name)
        city = chance.choice([each for each in words.cities if each.big])
        tag = self.tags.take()
        company = Template(chance.choice(occupation.companies)).substitute(tag=tag)
        return _Work(city.name, education, occupation, company, words.tags[tag])

    def _kin(
        self,
        entity_id: str,
        kind: Sort,
        relation: Relation,
        surname: str,
        years: int,
        home: str,
        work: _Work,
        seat: str,
    ) -> Node:
        """A person whose age follows from what they are to the user, who is `years` old."""
        gender = relation.gender or self._gender()
        family = surname if relation.surname else self.family.take()
        older = self.chance.randint(*relation.ages)
        return self._person(entity_id, kind, relation.name, gender, family, years + older, home, work, seat)

    def _person(
        self,
        entity_id: str,
        kind: Sort,
        relationship: str,
        gender: Gender,
        family: str,
        years: int,
        home: str,
        work: _Work,
        seat: str,
    ) -> Node:
        chance, words, language = self.chance, self.words, self.words.language
        given = self.given[gender].take()
        area = words.city(work.location).area
        local = Template(words.mail).substitute(given=words.given[gender][given], family=words.family[family])
        attributes = {
            "gender": words.genders[gender],
            "age": told.age(years, language),
            "height": told.height(self._height(gender), language),
            "birthday": self._new(lambda: told.birthday(*self._birthday(), language)),
            "hometown": home,
            "work_location": work.location,
            "education": work.education,
            "occupation": work.occupation.name,
            "position": seat,
            "company": work.company,
            "hobby": self.hobbies.take(),
            "character": self.characters.take(),
            "phone": self._new(lambda: personal.phone(chance, area, language)),
            "email": self._new(lambda: personal.email(chance, local, work.address)),
        }
        name = Template(words.name).substitute(given=given, family=family)
        return Node(entity_id, kind, name, relationship, attributes, personal.OF_ALL)

    def _gender(self) -> Gender:
        return self.chance.choice(list(self.words.genders))

    def _height(self, gender: Gender) -> int:
        return min(max(round(self.chance.gauss(HEIGHTS[gender], SPREAD)), LOWEST), HIGHEST)

    def _birthday(self) -> tuple[int, int]:
        month = self.chance.randint(1, 12)
        return month, self.chance.randint(1, _MONTHS[month - 1])

    def _documents(self, user: Node) -> dict[str, str]:
        year = self.parameters.start.year - told.years_of(user["age"])
        born = (year, *told.month_and_day_of(user["birthday"]))
        return personal.documents(self.chance, born, self.words.language)

    def _likes(self) -> dict[str, str]:
        return {topic: self.preferences.draw(topic, self.chance) for topic in TOPICS}

    def _event(self, entity_id: str, kind: Sort, happening: Happening, user: Node) -> Node:
        chance, language = self.chance, self.words.language
        field = self.words.occupation(user["occupation"]).field
        name = Template(chance.choice(happening.names)).substitute(tag=self.tags.take())
        attributes = {
            "event_type": happening.type,
            "content": Template(happening.content).substitute(field=field, hobby=user["hobby"]),
            "location": self._where(user),
            "time": self._new(self._time),
            "scale": told.scale(chance.randint(1, 9), happening.scale, language),
            "duration": told.duration(chance.randint(1, 9), happening.duration, language),
        }
        return Node(entity_id, kind, name, self.words.attends, attributes)

    def _where(self, user: Node) -> str:
        drawn = self.chance.random()
        if drawn < HOMETOWN:
            return user["hometown"]
        if drawn < HOMETOWN + WORKPLACE:
            return user["work_location"]
        return self.chance.choice([city.name for city in self.words.cities if city.big])

    def _time(self) -> str:
        chance = self.chance
        hour = chance.choice(told.HOURS)
        if chance.random() < RELATIVE:
            return told.coming(chance.randint(1, 2), chance.randrange(7), hour, self.words.language)
        day = self.parameters.start + timedelta(days=chance.randint(*AHEAD))
        return told.fixed(day.replace(hour=hour, minute=0))

    def _thing(self, entity_id: str, kind: Sort, thing: Thing) -> Node:
        chance = self.chance
        attributes = {f"{kind}_type": thing.type, "review": chance.choice(thing.reviews)}
        return Node(
            entity_id, kind, chance.choice(thing.names), chance.choice(thing.relationships), attributes
        )

    def _new(self, make: Callable[[], str]) -> str:
        """A value that nobody and nothing of this life has yet."""
        while (value := make()) in self.taken:
            pass
        self.taken.add(value)
        return value


def make_states(domain: Domain, records: Sequence[Record]) -> States:
    """The profiles and entities of `graphs` users, of fewer with a limit: the first. Raises BadInput, BadSettings."""
    parameters = parameters_of(domain)
    words, likes = words_of(domain, records), likes_of(domain, records)
    wanted = parameters.graphs or 0
    found = States([])
    for number in range(min(wanted, domain.limit or wanted)):
        life = sample(domain.seed, number, parameters, words, likes)
        profile, entities = rows(life, domain.name, words, parameters.start.date())
        found.profiles.append(profile)
        found.entities.extend(entities)
    return found
