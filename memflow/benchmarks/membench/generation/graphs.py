"""A user's relation graph (people, events, items and places) and its conversion to and from rows.

`graph_sampling.py` samples graphs. Plans select the part of a graph that a trajectory uses.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from memflow.benchmarks.api import States
from memflow.benchmarks.membench.generation.vocabulary import Vocabulary
from memflow.benchmarks.packaged import load_toml
from memflow.records import Entity, Profile

EntityKind = Literal["self", "relative", "colleague", "work_event", "rest_event", "item", "place"]
SubjectType = Literal["people", "events", "items", "places"]
KINDS_OF_TYPE: Mapping[SubjectType, tuple[EntityKind, ...]] = {
    "people": ("relative", "colleague"),
    "events": ("work_event", "rest_event"),
    "items": ("item",),
    "places": ("place",),
}
SUBJECT_TYPES = tuple(KINDS_OF_TYPE)

ATTRIBUTES = load_toml(__package__, "attributes.toml")
"""The attributes of entities by their part in sentences and questions, and by entity type."""


@dataclass(frozen=True)
class Node:
    """An entity: a person, an event, an item or a place, with formatted attribute values.

    `relationship` is relative to the user: for example `self`, `aunt`, `owns`, and `attends` for events. `synthetic`
    lists the attributes that would be personal data of a real person.
    """

    entity_id: str
    kind: EntityKind
    name: str
    relationship: str
    attributes: Mapping[str, str]
    synthetic: tuple[str, ...] = ()

    def __getitem__(self, attribute: str) -> str:
        """Return an attribute value, the `name` or the `relationship`. Raises KeyError for an unknown attribute."""
        own = {"name": self.name, "relationship": self.relationship}
        return own[attribute] if attribute in own else self.attributes[attribute]


@dataclass(frozen=True)
class Graph:
    """The relation graph of one user.

    Values that identify an entity are unique, so that answers are unique. No two nodes share a name. No two people
    share relationship, birthday, hobby, character, position, phone or e-mail. No two events share type, content or
    time. No two items or places share a type. Other values may repeat. Relatives share the hometown; colleagues share
    work location, education, occupation and company.
    """

    user_id: str
    nodes: tuple[Node, ...]

    @property
    def user(self) -> Node:
        """The node of the user."""
        return next(node for node in self.nodes if node.kind == "self")

    def of_type(self, sort: SubjectType) -> tuple[Node, ...]:
        """Return the nodes of a type: people (without the user), events, items or places."""
        return tuple(node for kind in KINDS_OF_TYPE[sort] for node in self.nodes if node.kind == kind)


def graph_rows(
    graph: Graph, domain: str, vocabulary: Vocabulary, start: date
) -> tuple[Profile, list[Entity]]:
    """Return a graph as rows: a profile without synthetic personal data, and one entity per node."""
    user = graph.user
    profile = Profile(
        domain=domain,
        user_id=graph.user_id,
        name=user.name,
        profile="\n".join(
            f"{vocabulary.labels[name]}: {value}"
            for name, value in {"name": user.name, **user.attributes}.items()
            if name not in user.synthetic
        ),
        start_date=start.isoformat(),
    )
    entities = [
        Entity(
            domain=domain,
            user_id=graph.user_id,
            entity_id=node.entity_id,
            kind=node.kind,
            name=node.name,
            relationship=node.relationship,
            attributes=json.dumps(dict(node.attributes), ensure_ascii=False),
            synthetic=list(node.synthetic),
        )
        for node in graph.nodes
    ]
    return profile, entities


def load_graphs(states: States) -> list[Graph]:
    """Return the graphs of all users that are not quarantined, in the order of their profiles."""
    graphs: dict[str, list[Entity]] = {row.user_id: [] for row in states.profiles if row.reason is None}
    for row in states.entities:
        if row.reason is None and row.user_id in graphs:
            graphs[row.user_id].append(row)
    return [Graph(user_id, tuple(map(_node, entities))) for user_id, entities in graphs.items()]


def _node(row: Entity) -> Node:
    return Node(
        row.entity_id,
        row.kind,  # type: ignore[arg-type]
        row.name,
        row.relationship,
        json.loads(row.attributes),
        tuple(row.synthetic),
    )
