"""Checks of generated user graphs. Published graphs are not checked.

A property that questions require is an error. A property that depends on the vocabulary or the settings is a warning.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from datetime import datetime

from memflow.benchmarks.membench.checks.generated import if_generated
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.generation import personal_data
from memflow.benchmarks.membench.generation import values as attribute_values
from memflow.benchmarks.membench.generation.graphs import (
    EVENT_ATTRIBUTES,
    ITEM_ATTRIBUTES,
    PERSON_ATTRIBUTES,
    PLACE_ATTRIBUTES,
)
from memflow.benchmarks.membench.generation.preferences import TOPICS
from memflow.benchmarks.membench.generation.vocabulary import THING_COUNT, Relation, bundled_vocabulary
from memflow.checks.rules import Expectation, PerDomain, Rule, WholeTable, each_valid_row
from memflow.errors import BadInput
from memflow.records import Entity

PEOPLE, EVENTS = ("self", "relative", "colleague"), ("work_event", "rest_event")
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "self": (*PERSON_ATTRIBUTES, *personal_data.DOCUMENT_ATTRIBUTES, *TOPICS),
    "relative": PERSON_ATTRIBUTES,
    "colleague": PERSON_ATTRIBUTES,
    "work_event": EVENT_ATTRIBUTES,
    "rest_event": EVENT_ATTRIBUTES,
    "item": ITEM_ATTRIBUTES,
    "place": PLACE_ATTRIBUTES,
}
_UNIQUE_ATTRIBUTES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (tuple(_ATTRIBUTES), ("name",)),
    (PEOPLE, ("relationship", "birthday", "hobby", "character", "position", "phone", "email")),
    (EVENTS, ("event_type", "content", "time")),
    (("item",), ("item_type",)),
    (("place",), ("place_type",)),
)
"""Entity kinds and the attributes that are unique among them in a graph."""
_SHARED = {"relative": ("hometown",), "colleague": ("work_location", "education", "occupation", "company")}
"""Kinds of people and the attributes they share with the user."""


def _if_generated(rule: Callable[[Parameters], Rule]) -> PerDomain:
    """Return a rule for generated domains only, built from the domain's parameters."""
    return if_generated(lambda domain: rule(parameters_of(domain)))


def _values(row: Entity) -> dict[str, str]:
    return {**json.loads(row.attributes), "name": row.name, "relationship": row.relationship}


def _has_all_attributes(row: Entity) -> bool:
    """Return whether an entity has all attributes of its kind and no empty attribute."""
    attributes = json.loads(row.attributes)
    return set(attributes) == set(_ATTRIBUTES.get(row.kind, ())) and all(
        isinstance(value, str) and value.strip() for value in attributes.values()
    )


def _marks_personal_data(row: Entity) -> bool:
    """Return whether `synthetic` lists exactly the attributes with personal data, each once."""
    wanted = {*personal_data.CONTACT_ATTRIBUTES, *personal_data.DOCUMENT_ATTRIBUTES} & set(
        json.loads(row.attributes)
    )
    return len(row.synthetic) == len(set(row.synthetic)) and set(row.synthetic) == wanted


def _has_reserved_personal_data(row: Entity) -> bool:
    """Return whether all personal data of an entity lies in ranges that no real person uses."""
    attributes = json.loads(row.attributes)
    return all(
        personal_data.is_reserved(name, attributes[name])
        for name in (*personal_data.CONTACT_ATTRIBUTES, *personal_data.DOCUMENT_ATTRIBUTES)
        if name in attributes
    )


def _has_parseable_values(row: Entity) -> bool:
    """Return whether all numbers and times in the attributes of an entity can be parsed."""
    values = _values(row)
    readers: dict[str, Callable[[str], object]] = {
        "age": attribute_values.parse_age,
        "height": attribute_values.parse_height,
        "birthday": attribute_values.parse_birthday,
        "scale": attribute_values.parse_scale,
        "duration": attribute_values.parse_duration,
        "time": lambda text: attribute_values.resolve_time(text, datetime(2024, 10, 1)),
    }
    try:
        for name, read in readers.items():
            if name in values:
                read(values[name])
    except BadInput:
        return False
    return True


def _by_user(entities: Sequence[Entity]) -> Iterator[list[tuple[int, Entity]]]:
    """Yield, for each user, the rows that are not quarantined with their positions."""
    found: dict[str, list[tuple[int, Entity]]] = defaultdict(list)
    for at, row in enumerate(entities):
        if row.reason is None:
            found[row.user_id].append((at, row))
    yield from found.values()


def _find_shared_identifiers(entities: Sequence[Entity]) -> list[int]:
    """Return the positions of entities that share an identifying value with another entity in their graph."""
    found: set[int] = set()
    for group in _by_user(entities):
        for kinds, names in _UNIQUE_ATTRIBUTES:
            for name in names:
                places: dict[Hashable, list[int]] = defaultdict(list)
                for at, row in group:
                    if row.kind in kinds:
                        places[_values(row).get(name)].append(at)
                found.update(at for same in places.values() if len(same) > 1 for at in same)
    return sorted(found)


def _find_graphs_without_self(entities: Sequence[Entity]) -> list[int]:
    """Return the positions of the entities of users that do not have exactly one entity of kind `self`."""
    return [
        at
        for group in _by_user(entities)
        if sum(row.kind == "self" for _, row in group) != 1
        for at, _ in group
    ]


def _find_unshared_attributes(entities: Sequence[Entity]) -> list[int]:
    """Return the positions of relatives and colleagues whose shared attributes differ from the user's.

    Relatives share the user's hometown. Colleagues share the user's place of work, job and education.
    """
    found = []
    for group in _by_user(entities):
        user = next((_values(row) for _, row in group if row.kind == "self"), {})
        for at, row in group:
            values = _values(row)
            if any(values.get(name) != user.get(name) for name in _SHARED.get(row.kind, ())):
                found.append(at)
    return found


def _find_wrong_ages(parameters: Parameters) -> Callable[[Sequence[Entity]], Collection[int]]:
    """Return a function that finds people whose age does not fit their relationship, by the bundled vocabulary."""
    words = bundled_vocabulary(parameters.language)
    known: dict[str, Relation] = {each.name: each for each in (*words.relatives, *words.colleagues)}

    def find_violations(entities: Sequence[Entity]) -> list[int]:
        found = []
        for group in _by_user(entities):
            ages = {at: _age(row) for at, row in group if row.kind in PEOPLE}
            own = next((ages[at] for at, row in group if row.kind == "self"), None)
            for at, row in group:
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
        return attribute_values.parse_age(_values(row).get("age", ""))
    except BadInput:
        return None


def _find_wrong_counts(parameters: Parameters) -> Callable[[Sequence[Entity]], Collection[int]]:
    """Return a function that finds the entities of users whose number of entities differs from the parameters."""
    wanted = {
        "self": 1,
        "relative": parameters.roles - parameters.roles // 2,
        "colleague": parameters.roles // 2,
        "work_event": parameters.events - parameters.events // 2,
        "rest_event": parameters.events // 2,
        "item": THING_COUNT,
        "place": THING_COUNT,
    }

    def find_violations(entities: Sequence[Entity]) -> list[int]:
        return [
            at
            for group in _by_user(entities)
            if Counter(row.kind for _, row in group) != wanted
            for at, _ in group
        ]

    return find_violations


_MUST: dict[str, Rule] = {
    "one_user_entity_per_graph": WholeTable(_find_graphs_without_self),
    "entity_has_all_attributes_of_its_kind": each_valid_row(_has_all_attributes),
    "personal_data_marked_as_synthetic": each_valid_row(_marks_personal_data),
    "personal_data_in_reserved_ranges": each_valid_row(_has_reserved_personal_data),
    "identifying_values_unique_per_graph": WholeTable(_find_shared_identifiers),
    "attribute_values_are_parseable": each_valid_row(_has_parseable_values),
    "relatives_share_hometown_and_colleagues_share_job": WholeTable(_find_unshared_attributes),
}

_SHOULD: dict[str, Callable[[Parameters], Rule]] = {
    "ages_fit_relationships_to_user": lambda parameters: WholeTable(_find_wrong_ages(parameters)),
    "entity_counts_as_configured": lambda parameters: WholeTable(_find_wrong_counts(parameters)),
}

EXPECTED: tuple[Expectation, ...] = (
    *(Expectation("state.entities", name, if_generated(rule)) for name, rule in _MUST.items()),
    *(Expectation("state.entities", name, _if_generated(rule), "warn") for name, rule in _SHOULD.items()),
)
"""Checks of generated user graphs."""
