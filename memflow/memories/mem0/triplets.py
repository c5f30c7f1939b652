"""The graph of `mem0_graph`: entities as nodes, relations as triplets (section 2.2).

Entities with similar names share a node, which has the first name. A contradicted relation is retired; the paper marks
it as invalid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.mem0.answers import Entity, Obsolete
from memflow.memories.mem0.passages import number_lines
from memflow.memories.memory import PromptRequest
from memflow.memories.search import Dense, SearchHit
from memflow.memories.verbatim import with_date

ENTITY, RELATION = "entity", "relation"


@dataclass(frozen=True)
class Node:
    """An entity of the graph; `item` is None until the entity is stored."""

    name: str
    type: str
    item: Item | None = None


@dataclass(frozen=True, slots=True)
class Triplet:
    """An extracted relation: the names of its two entities, the messages that state it, and the last message's date."""

    source: str
    relation: str
    target: str
    sources: tuple[str, ...]
    date: str | None

    @property
    def text(self) -> str:
        """The triplet as text for the embedder."""
        return f"{self.source} {self.relation} {self.target}"

    @property
    def line(self) -> str:
        """The triplet as a line of text for prompts."""
        return f"{self.source} -- {self.relation} -> {self.target}"


class Graph:
    """The graph of a store's live entities and relations. Entities with a name cosine >= `same` share a node."""

    def __init__(self, store: EntryStore, same_node: float) -> None:
        self.store = store
        self.same = same_node
        self.entities = Dense(store, ENTITY)
        self.relations = Dense(store, RELATION)

    def nodes_of(self, entities: Sequence[Entity], vectors: Mapping[str, Vector]) -> dict[str, Node]:
        """Return the node of each entity, by entity name. An entity without a similar node gets a new node."""
        nodes: dict[str, Node] = {}
        new_nodes: list[Node] = []
        for entity in entities:
            vector = vectors[entity.name]
            hits = self.entities.scored(vector, 1)
            new_matches = [node for node in new_nodes if _cosine(vectors[node.name], vector) >= self.same]
            if hits and hits[0].score >= self.same:
                item = hits[0].item
                nodes[entity.name] = Node(item.text, str(item.meta["type"]), item)
            elif new_matches:
                nodes[entity.name] = new_matches[0]
            else:
                nodes[entity.name] = Node(entity.name, entity.type)
                new_nodes.append(nodes[entity.name])
        return nodes

    def node_ids(self, relation: Item) -> set[str]:
        """Return the entry ids of the two nodes of a relation; they are stable, since nodes are never revised."""
        return {relation.meta["source"], relation.meta["target"]}

    def relations_of(self, nodes: set[str], vector: Vector, limit: int) -> list[Item]:
        """Return up to `limit` relations of these nodes, those nearest to `vector`, nearest first."""
        relations = self.relations.search(vector, len(self.store))
        return [item for item in relations if self.node_ids(item) & nodes][:limit]

    def relation_update(
        self,
        triplets: Sequence[Triplet],
        nodes: Mapping[str, Node],
        vectors: Mapping[str, Vector],
        similar: int,
    ) -> "RelationUpdate":
        """Return the update that adds a passage's triplets and retires the old relations that they contradict."""
        joined_triplets = []
        similar_relations: dict[str, Item] = {}
        for triplet in triplets:
            source, target = nodes[triplet.source], nodes[triplet.target]
            if source.name == target.name:
                continue  # Two names of one node have no relation.
            joined_triplets.append(
                JoinedTriplet(replace(triplet, source=source.name, target=target.name), source, target)
            )
            stored_nodes = {node.item.entry_id for node in (source, target) if node.item is not None}
            for item in self.relations_of(stored_nodes, vectors[triplet.text], similar):
                similar_relations[item.entry_id] = item
        # A relation that a new triplet repeats is not contradicted.
        for triplet_with_nodes in joined_triplets:
            equal_relation = self.find_equal(triplet_with_nodes)
            if equal_relation is not None:
                similar_relations.pop(equal_relation.entry_id, None)
        contested_relations = sorted(similar_relations.values(), key=lambda item: item.order)
        return RelationUpdate(self, joined_triplets, contested_relations)

    def find_equal(self, joined: "JoinedTriplet") -> Item | None:
        """Return the live relation with the nodes and the label (without case) of a new relation, or None."""
        if joined.source.item is None or joined.target.item is None:
            return None
        key = (joined.source.item.entry_id, joined.target.item.entry_id, joined.triplet.relation.casefold())
        for item in self.store.live(RELATION):
            if (item.meta["source"], item.meta["target"], item.meta["relation"].casefold()) == key:
                return item
        return None

    def search(
        self, query: Vector, names: Sequence[Vector], min_anchor: float, min_relevance: float
    ) -> list[SearchHit]:
        """Return the relations relevant to a query, with their cosines.

        A relation is relevant if one of its nodes is similar to a name in `names` (cosine >= `min_anchor`), or if the
        relation is similar to the query (cosine >= `min_relevance`).
        """
        anchors = {
            hit.item.entry_id
            for name in names
            for hit in self.entities.scored(name, len(self.store))
            if hit.score >= min_anchor
        }
        hits = self.relations.scored(query, len(self.store))
        return [hit for hit in hits if hit.score >= min_relevance or self.node_ids(hit.item) & anchors]


@dataclass(frozen=True)
class JoinedTriplet:
    """A triplet with the nodes of its two entities."""

    triplet: Triplet
    source: Node
    target: Node


@dataclass(frozen=True)
class RelationUpdate:
    """A change of the store that adds new relations and retires the old relations that they contradict."""

    graph: Graph
    additions: Sequence[JoinedTriplet]
    old_relations: Sequence[Item]

    @property
    def request(self) -> PromptRequest | None:
        """The request to name the obsolete relations; None if no old relation can be obsolete."""
        if not self.additions or not self.old_relations:
            return None
        fields = {
            "old": number_lines(item.text for item in self.old_relations),
            "new": number_lines(
                with_date(addition.triplet.line, addition.triplet.date) for addition in self.additions
            ),
        }
        sources = dict.fromkeys(source for addition in self.additions for source in addition.triplet.sources)
        numbers = {"obsolete": len(self.old_relations)}
        return PromptRequest("resolve", fields, tuple(sources), self.find_error, numbers=numbers)

    def find_error(self, number: int, accepted: Sequence[int]) -> str | None:
        """Return an error message if no old relation has this number, or None."""
        if number > len(self.old_relations):
            return f"there is no old relation {number}; the last is {len(self.old_relations)}"
        return None

    def texts(self, answer: Obsolete | None) -> list[str]:
        """Return the texts to embed: the triplets and the names of new nodes."""
        nodes = [
            node.name
            for addition in self.additions
            for node in (addition.source, addition.target)
            if node.item is None
        ]
        return [*(addition.triplet.text for addition in self.additions), *nodes]

    def apply(self, answer: Obsolete | None, vectors: Mapping[str, Vector]) -> None:
        """Retire the obsolete relations and add the new relations."""
        for number in dict.fromkeys(answer.obsolete if answer else ()):
            self.graph.store.retire(self.old_relations[number - 1].entry_id)
        added_nodes: dict[str, Item] = {}
        for addition in self.additions:
            stored_nodes = []
            for node in (addition.source, addition.target):
                item = node.item or added_nodes.get(node.name) or self._node(node, addition.triplet, vectors)
                stored_nodes.append(Node(item.text, str(item.meta["type"]), item))
                added_nodes[item.text] = item
            source, target = stored_nodes
            self._join(JoinedTriplet(addition.triplet, source, target), vectors)

    def _node(self, node: Node, triplet: Triplet, vectors: Mapping[str, Vector]) -> Item:
        return self.graph.store.add(
            ENTITY, node.name, sources=triplet.sources, vector=vectors[node.name], meta={"type": node.type}
        )

    def _join(self, joined: JoinedTriplet, vectors: Mapping[str, Vector]) -> None:
        """Add a relation to the store; if an equal relation exists, add the source messages to that relation."""
        triplet, store = joined.triplet, self.graph.store
        equal_relation = self.graph.find_equal(joined)
        if equal_relation is not None:
            sources = tuple(dict.fromkeys((*equal_relation.sources, *triplet.sources)))
            store.revise(equal_relation, sources=sources)
            return
        assert joined.source.item is not None and joined.target.item is not None
        meta = {
            "source": joined.source.item.entry_id,
            "target": joined.target.item.entry_id,
            "relation": triplet.relation,
        }
        text = with_date(triplet.line, triplet.date)
        store.add(RELATION, text, sources=triplet.sources, vector=vectors[triplet.text], meta=meta)


def _cosine(vector: Vector, other_vector: Vector) -> float:
    return float(np.einsum("i,i->", vector, other_vector))
