"""A user's life as plans are drawn from it: the entities of the user's relation graph, and what they are called."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memflow.benchmarks.benchmark import States
from memflow.records import Entity


@dataclass(frozen=True)
class Thing:
    """A person, event, item or place, with its attributes read."""

    entity_id: str
    kind: str
    name: str
    relationship: str
    attributes: Mapping[str, str]


@dataclass(frozen=True)
class Life:
    """One user's entities, in the order of the graph."""

    user_id: str
    language: str
    things: Sequence[Thing]

    @cached_property
    def self(self) -> Thing:
        """The user."""
        return next(thing for thing in self.things if thing.kind == "self")

    def of(self, *kinds: str) -> list[Thing]:
        """The entities of these kinds."""
        return [thing for thing in self.things if thing.kind in kinds]

    @property
    def people(self) -> list[Thing]:
        return self.of("relative", "colleague")

    @property
    def events(self) -> list[Thing]:
        return self.of("work_event", "rest_event")

    @property
    def places(self) -> list[str]:
        """Where the user speaks from: home and work."""
        held = self.self.attributes
        return list(dict.fromkeys((held["hometown"], held["work_location"])))


def lives(states: States, language: str) -> list[Life]:
    """A life for every user that is not quarantined; entities with a reason are no part of it."""
    held: dict[str, list[Thing]] = {row.user_id: [] for row in states.profiles if row.reason is None}
    for row in states.entities:
        if row.reason is None and row.user_id in held:
            held[row.user_id].append(thing_of(row))
    return [Life(user_id, language, things) for user_id, things in held.items()]


def thing_of(row: Entity) -> Thing:
    """An entity's row, read."""
    return Thing(row.entity_id, row.kind, row.name, row.relationship, json.loads(row.attributes))
