"""A user's relation graph (people, events, items and places) and its conversion to and from rows.

`graph_sampling.py` samples graphs. Plans select the part of a graph that a trajectory uses.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from memflow.benchmarks.api import States
from memflow.benchmarks.membench.generation.vocabulary import Vocabulary
from memflow.benchmarks.membench.wording import rerun_advice
from memflow.errors import BadInput
from memflow.records import Entity, Profile

EntityKind = Literal["self", "relative", "colleague", "work_event", "rest_event", "item", "place"]

PERSON_ATTRIBUTES = (
    "gender",
    "age",
    "height",
    "birthday",
    "hometown",
    "work_location",
    "education",
    "occupation",
    "position",
    "company",
    "hobby",
    "character",
    "phone",
    "email",
)
"""Attributes of every person."""


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
        return self._of("self")[0]

    @property
    def roles(self) -> tuple[Node, ...]:
        """The nodes of all people except the user: relatives, then colleagues."""
        return self.relatives + self.colleagues

    @property
    def relatives(self) -> tuple[Node, ...]:
        """The nodes of the user's relatives."""
        return self._of("relative")

    @property
    def colleagues(self) -> tuple[Node, ...]:
        """The nodes of the user's colleagues."""
        return self._of("colleague")

    @property
    def events(self) -> tuple[Node, ...]:
        """The nodes of all events: work events, then other events."""
        return self._of("work_event") + self._of("rest_event")

    @property
    def items(self) -> tuple[Node, ...]:
        """The nodes of the user's items, such as a watch."""
        return self._of("item")

    @property
    def places(self) -> tuple[Node, ...]:
        """The nodes of the places that the user knows, such as a gym or a restaurant."""
        return self._of("place")

    def node(self, entity_id: str) -> Node:
        """Return the node with this id. Raises KeyError if there is none."""
        return {node.entity_id: node for node in self.nodes}[entity_id]

    def _of(self, kind: EntityKind) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.kind == kind)


def nodes_with(nodes: Sequence[Node], **values: str) -> list[Node]:
    """Return the nodes that have all the given attribute values."""
    return [
        node
        for node in nodes
        if values.items() <= {**node.attributes, "name": node.name, "relationship": node.relationship}.items()
    ]


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
    return [_graph(user_id, entities) for user_id, entities in graphs.items()]


def _graph(user_id: str, entities: Sequence[Entity]) -> Graph:
    if sum(row.kind == "self" for row in entities) != 1:
        raise BadInput(
            f"the graph of user {user_id} does not have exactly one entity of kind `self`. {rerun_advice()}"
        )
    return Graph(user_id, tuple(map(_node, entities)))


def _node(row: Entity) -> Node:
    if row.kind not in get_args(EntityKind):
        raise BadInput(
            f"entity {row.user_id}/{row.entity_id} has the unknown kind {row.kind!r}. The kinds are "
            f"{', '.join(get_args(EntityKind))}. {rerun_advice()}"
        )
    return Node(
        row.entity_id,
        row.kind,  # type: ignore[arg-type]
        row.name,
        row.relationship,
        json.loads(row.attributes),
        tuple(row.synthetic),
    )
