"""A user's relation graph: the user and the people, events, items and places of their life; and its rows.

How one is drawn is sampling.py. What a trajectory tells of it, and asks, is a matter of plans.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from memflow.benchmarks.api import States
from memflow.benchmarks.membench.generation.vocabulary import Vocabulary
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
"""What is known of every person."""
EVENT_ATTRIBUTES = ("event_type", "content", "location", "time", "scale", "duration")
ITEM_ATTRIBUTES = ("item_type", "review")
PLACE_ATTRIBUTES = ("place_type", "review")
"""What is known of an event, an item and a place. What the user likes besides, preferences.TOPICS."""


@dataclass(frozen=True)
class Node:
    """An entity of a life: a person, an event, an item or a place. `attributes` are values as they are told.

    `relationship` is what it is to the user: `self`, `aunt`, `owns`; of an event, `attends` or what that is in the
    language. `synthetic` names the attributes that would be personal data.
    """

    entity_id: str
    kind: EntityKind
    name: str
    relationship: str
    attributes: Mapping[str, str]
    synthetic: tuple[str, ...] = ()

    def __getitem__(self, attribute: str) -> str:
        """The value of an attribute; `name` and `relationship` count as such. Raises KeyError."""
        own = {"name": self.name, "relationship": self.relationship}
        return own[attribute] if attribute in own else self.attributes[attribute]


@dataclass(frozen=True)
class Graph:
    """One user's life.

    So that a question has one answer, in one graph no two nodes have the same name, no two people the same
    relationship, birthday, hobby, character, position, phone or e-mail, no two events the same type, content or time,
    and no two items or two places the same type. Other values may be shared, and some must be: hometown by relatives,
    work_location, education, occupation and company by colleagues. A question that names somebody by such a value asks
    `having` first whether it is theirs alone.
    """

    user_id: str
    nodes: tuple[Node, ...]

    @property
    def user(self) -> Node:
        """The user."""
        return self._of("self")[0]

    @property
    def roles(self) -> tuple[Node, ...]:
        """The other people: relatives, then colleagues."""
        return self.relatives + self.colleagues

    @property
    def relatives(self) -> tuple[Node, ...]:
        """The user's relatives."""
        return self._of("relative")

    @property
    def colleagues(self) -> tuple[Node, ...]:
        """Those that the user works with."""
        return self._of("colleague")

    @property
    def events(self) -> tuple[Node, ...]:
        """The events: those of work, then the others."""
        return self._of("work_event") + self._of("rest_event")

    @property
    def items(self) -> tuple[Node, ...]:
        """What the user owns."""
        return self._of("item")

    @property
    def places(self) -> tuple[Node, ...]:
        """Where the user lives or goes."""
        return self._of("place")

    def node(self, entity_id: str) -> Node:
        """The node of that id. Raises KeyError."""
        return {node.entity_id: node for node in self.nodes}[entity_id]

    def _of(self, kind: EntityKind) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.kind == kind)


def nodes_with(nodes: Sequence[Node], **values: str) -> list[Node]:
    """Those of the nodes that have all these values, by attribute."""
    return [node for node in nodes if all(_has(node, name, value) for name, value in values.items())]


def graph_rows(
    graph: Graph, domain: str, vocabulary: Vocabulary, start: date
) -> tuple[Profile, list[Entity]]:
    """The graph as rows of a domain: the user's profile, without what would be personal data, and every node."""
    user = graph.user
    told = {"name": user.name, **user.attributes}
    profile = Profile(
        domain=domain,
        user_id=graph.user_id,
        name=user.name,
        profile="\n".join(
            f"{vocabulary.labels[name]}: {value}"
            for name, value in told.items()
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


def load_graph(states: States, user_id: str) -> Graph:
    """The graph of a user as the rows have it; rows with a reason are left out. Raises BadInput where there is none."""
    held = [row for row in states.entities if row.user_id == user_id and row.reason is None]
    return _graph(user_id, held)


def load_graphs(states: States) -> list[Graph]:
    """The graphs of all users that are not quarantined, in the order of their profiles."""
    held: dict[str, list[Entity]] = {row.user_id: [] for row in states.profiles if row.reason is None}
    for row in states.entities:
        if row.reason is None and row.user_id in held:
            held[row.user_id].append(row)
    return [_graph(user_id, entities) for user_id, entities in held.items()]


def _graph(user_id: str, entities: Sequence[Entity]) -> Graph:
    if sum(row.kind == "self" for row in entities) != 1:
        raise BadInput(f"user {user_id} has no graph with one `self` in it; materialize the states again")
    return Graph(user_id, tuple(map(_node, entities)))


def _node(row: Entity) -> Node:
    if row.kind not in get_args(EntityKind):
        raise BadInput(
            f"{row.user_id}/{row.entity_id} is a {row.kind!r}; known are {', '.join(get_args(EntityKind))}"
        )
    return Node(
        row.entity_id,
        row.kind,  # type: ignore[arg-type]
        row.name,
        row.relationship,
        json.loads(row.attributes),
        tuple(row.synthetic),
    )


def _has(node: Node, attribute: str, value: str) -> bool:
    known = {**node.attributes, "name": node.name, "relationship": node.relationship}
    return known.get(attribute) == value
