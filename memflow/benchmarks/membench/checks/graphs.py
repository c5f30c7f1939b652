"""What must hold of lives that were drawn, as data. Published users are as they are: nothing here is about them.

What plans and questions rest on is an error and blocks. What depends on the words that a life was drawn from, or on how
many people and events are set, is a warning.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from datetime import datetime

from memflow.benchmarks.membench.checks.generated import where_generated
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.generation import personal_data as personal
from memflow.benchmarks.membench.generation import values as told
from memflow.benchmarks.membench.generation.graphs import EVENT, ITEM, PLACE, ROLE
from memflow.benchmarks.membench.generation.preferences import TOPICS
from memflow.benchmarks.membench.generation.vocabulary import THINGS, Relation, shipped
from memflow.checks.rules import Expectation, PerDomain, Rule, WholeTable, each_valid_row
from memflow.errors import BadInput
from memflow.records import Entity

PEOPLE, EVENTS = ("self", "relative", "colleague"), ("work_event", "rest_event")
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "self": (*ROLE, *personal.OF_THE_USER, *TOPICS),
    "relative": ROLE,
    "colleague": ROLE,
    "work_event": EVENT,
    "rest_event": EVENT,
    "item": ITEM,
    "place": PLACE,
}
_APART: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (tuple(_ATTRIBUTES), ("name",)),
    (PEOPLE, ("relationship", "birthday", "hobby", "character", "position", "phone", "email")),
    (EVENTS, ("event_type", "content", "time")),
    (("item",), ("item_type",)),
    (("place",), ("place_type",)),
)
"""Kinds of entities, and of what no two of them in one life have the same."""
_SHARED = {"relative": ("hometown",), "colleague": ("work_location", "education", "occupation", "company")}
"""Kinds of people, and what they share with the user."""


def _drawn(rule: Callable[[Parameters], Rule]) -> PerDomain:
    """A rule of generated domains, by their parameters."""
    return where_generated(lambda domain: rule(parameters_of(domain)))


def _values(row: Entity) -> dict[str, str]:
    return {**json.loads(row.attributes), "name": row.name, "relationship": row.relationship}


def _complete(row: Entity) -> bool:
    """Whether an entity has the attributes of its kind, each with something said."""
    attributes = json.loads(row.attributes)
    return set(attributes) == set(_ATTRIBUTES.get(row.kind, ())) and all(
        isinstance(value, str) and value.strip() for value in attributes.values()
    )


def _marked(row: Entity) -> bool:
    """Whether what would be personal data is marked, and nothing else."""
    wanted = {*personal.OF_ALL, *personal.OF_THE_USER} & set(json.loads(row.attributes))
    return len(row.synthetic) == len(set(row.synthetic)) and set(row.synthetic) == wanted


def _nobodys(row: Entity) -> bool:
    """Whether all personal data is of ranges that nobody is given."""
    attributes = json.loads(row.attributes)
    return all(
        personal.is_reserved(name, attributes[name])
        for name in (*personal.OF_ALL, *personal.OF_THE_USER)
        if name in attributes
    )


def _readable(row: Entity) -> bool:
    """Whether numbers and times are told so that they can be compared."""
    values = _values(row)
    readers: dict[str, Callable[[str], object]] = {
        "age": told.years_of,
        "height": told.centimetres_of,
        "birthday": told.month_and_day_of,
        "scale": told.people_of,
        "duration": told.days_of,
        "time": lambda text: told.moment_of(text, datetime(2024, 10, 1)),
    }
    try:
        for name, read in readers.items():
            if name in values:
                read(values[name])
    except BadInput:
        return False
    return True


def _by_user(entities: Sequence[Entity]) -> Iterator[list[tuple[int, Entity]]]:
    """The sound rows of each user, with their positions."""
    found: dict[str, list[tuple[int, Entity]]] = defaultdict(list)
    for at, row in enumerate(entities):
        if row.reason is None:
            found[row.user_id].append((at, row))
    yield from found.values()


def _confused(entities: Sequence[Entity]) -> list[int]:
    """Entities that have something in common with another of their life that has to tell them apart."""
    found: set[int] = set()
    for held in _by_user(entities):
        for kinds, names in _APART:
            for name in names:
                places: dict[Hashable, list[int]] = defaultdict(list)
                for at, row in held:
                    if row.kind in kinds:
                        places[_values(row).get(name)].append(at)
                found.update(at for same in places.values() if len(same) > 1 for at in same)
    return sorted(found)


def _without_one_self(entities: Sequence[Entity]) -> list[int]:
    """Entities of users of whom there is not one themselves."""
    return [
        at for held in _by_user(entities) if sum(row.kind == "self" for _, row in held) != 1 for at, _ in held
    ]


def _out_of_place(entities: Sequence[Entity]) -> list[int]:
    """Relatives of another hometown than the user's, and colleagues of another place, job or education."""
    found = []
    for held in _by_user(entities):
        user = next((_values(row) for _, row in held if row.kind == "self"), {})
        for at, row in held:
            values = _values(row)
            if any(values.get(name) != user.get(name) for name in _SHARED.get(row.kind, ())):
                found.append(at)
    return found


def _of_another_age(parameters: Parameters) -> Callable[[Sequence[Entity]], Collection[int]]:
    """People who are too young or too old for what they are to the user, as our own words have it."""
    words = shipped(parameters.language)
    known: dict[str, Relation] = {each.name: each for each in (*words.relatives, *words.colleagues)}

    def find_violations(entities: Sequence[Entity]) -> list[int]:
        found = []
        for held in _by_user(entities):
            ages = {at: _age(row) for at, row in held if row.kind in PEOPLE}
            own = next((ages[at] for at, row in held if row.kind == "self"), None)
            for at, row in held:
                relation = known.get(row.relationship)
                age = ages.get(at)
                if relation is None or own is None or age is None:
                    continue
                low, high = relation.ages
                if not low <= age - own <= high:
                    found.append(at)
        return found

    return find_violations


def _age(row: Entity) -> int | None:
    try:
        return told.years_of(_values(row).get("age", ""))
    except BadInput:
        return None


def _miscounted(parameters: Parameters) -> Callable[[Sequence[Entity]], Collection[int]]:
    """Entities of users who have more or fewer of something than is set."""
    wanted = {
        "self": 1,
        "relative": parameters.roles - parameters.roles // 2,
        "colleague": parameters.roles // 2,
        "work_event": parameters.events - parameters.events // 2,
        "rest_event": parameters.events // 2,
        "item": THINGS,
        "place": THINGS,
    }

    def find_violations(entities: Sequence[Entity]) -> list[int]:
        return [
            at
            for held in _by_user(entities)
            if Counter(row.kind for _, row in held) != wanted
            for at, _ in held
        ]

    return find_violations


_MUST: dict[str, Rule] = {
    "every_user_is_in_their_life_once": WholeTable(_without_one_self),
    "entities_have_the_attributes_of_their_kind": each_valid_row(_complete),
    "personal_data_is_marked_as_invented": each_valid_row(_marked),
    "personal_data_is_of_ranges_that_nobody_is_given": each_valid_row(_nobodys),
    "what_questions_name_is_told_apart_in_a_life": WholeTable(_confused),
    "numbers_and_times_are_told_so_that_they_compare": each_valid_row(_readable),
    "relatives_share_a_hometown_and_colleagues_their_work": WholeTable(_out_of_place),
}

EXPECTED: tuple[Expectation, ...] = (
    *(Expectation("state.entities", name, where_generated(rule)) for name, rule in _MUST.items()),
    Expectation(
        "state.entities",
        "ages_fit_what_people_are_to_the_user",
        _drawn(lambda parameters: WholeTable(_of_another_age(parameters))),
        "warn",
    ),
    Expectation(
        "state.entities",
        "lives_have_as_many_people_and_events_as_set",
        _drawn(lambda parameters: WholeTable(_miscounted(parameters))),
        "warn",
    ),
)
"""What is expected of lives that were drawn."""
