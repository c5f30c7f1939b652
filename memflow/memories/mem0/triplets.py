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

    def __init__(self, store: EntryStore, same: float) -> None:
        self.store = store
        self.same = same
        self.entities = Dense(store, ENTITY)
        self.relations = Dense(store, RELATION)

    def nodes_of(self, entities: Sequence[Entity], vectors: Mapping[str, Vector]) -> dict[str, Node]:
        """Return the node of each entity, by entity name. An entity without a similar node gets a new node."""
        met: dict[str, Node] = {}
        new: list[Node] = []
        for entity in entities:
            vector = vectors[entity.name]
            near = self.entities.scored(vector, 1)
            alike = [node for node in new if _cosine(vectors[node.name], vector) >= self.same]
            if near and near[0].score >= self.same:
                item = near[0].item
                met[entity.name] = Node(item.text, str(item.meta["type"]), item)
            elif alike:
                met[entity.name] = alike[0]
            else:
                met[entity.name] = Node(entity.name, entity.type)
                new.append(met[entity.name])
        return met

    def node_ids(self, relation: Item) -> set[str]:
        """Return the entry ids of the two nodes of a relation; they are stable, since nodes are never revised."""
        return {relation.meta["source"], relation.meta["target"]}

    def relations_of(self, nodes: set[str], text: Vector, most: int) -> list[Item]:
        """Return the `most` relations of these nodes that are nearest to the vector `text`, nearest first."""
        ranked = self.relations.search(text, len(self.store))
        return [item for item in ranked if self.node_ids(item) & nodes][:most]

    def relation_update(
        self, drawn: Sequence[Triplet], met: Mapping[str, Node], vectors: Mapping[str, Vector], similar: int
    ) -> "RelationUpdate":
        """Return the update that adds a passage's triplets and retires the old relations that they contradict."""
        joined, old = [], {}
        for triplet in drawn:
            source, target = met[triplet.source], met[triplet.target]
            if source.name == target.name:
                continue  # Two names of one node: nothing stands between them.
            joined.append(
                JoinedTriplet(replace(triplet, source=source.name, target=target.name), source, target)
            )
            nodes = {node.item.entry_id for node in (source, target) if node.item is not None}
            for item in self.relations_of(nodes, vectors[triplet.text], similar):
                old[item.entry_id] = item
        again = {known.entry_id for each in joined if (known := self.find_equal(each)) is not None}
        contested = sorted((old[key] for key in old.keys() - again), key=lambda item: item.order)
        return RelationUpdate(self, joined, contested)

    def find_equal(self, new: "JoinedTriplet") -> Item | None:
        """Return the live relation that equals a new relation in its nodes and its label, or None."""
        if new.source.item is None or new.target.item is None:
            return None
        wanted = (new.source.item.entry_id, new.target.item.entry_id, new.triplet.relation.casefold())
        for item in self.store.live(RELATION):
            if (item.meta["source"], item.meta["target"], item.meta["relation"].casefold()) == wanted:
                return item
        return None

    def search(
        self, query: Vector, names: Sequence[Vector], anchor: float, relevant: float
    ) -> list[SearchHit]:
        """Return the relations relevant to a query, with their cosines.

        A relation is relevant if one of its nodes is similar to a name in `names` (cosine >= `anchor`), or if the
        relation is similar to the query (cosine >= `relevant`).
        """
        anchors = {
            found.item.entry_id
            for name in names
            for found in self.entities.scored(name, len(self.store))
            if found.score >= anchor
        }
        ranked = self.relations.scored(query, len(self.store))
        return [found for found in ranked if found.score >= relevant or self.node_ids(found.item) & anchors]


@dataclass(frozen=True)
class JoinedTriplet:
    """A triplet with the nodes of its two entities."""

    triplet: Triplet
    source: Node
    target: Node


@dataclass(frozen=True)
class RelationUpdate:
    """A StoreChange that adds new relations and retires the old relations that they contradict."""

    graph: Graph
    new: Sequence[JoinedTriplet]
    old: Sequence[Item]

    @property
    def ask(self) -> PromptRequest | None:
        """Return the request to name the obsolete relations; None if no old relation can be obsolete."""
        if not self.new or not self.old:
            return None
        fields = {
            "old": number_lines(item.text for item in self.old),
            "new": number_lines(with_date(each.triplet.line, each.triplet.date) for each in self.new),
        }
        sources = dict.fromkeys(source for each in self.new for source in each.triplet.sources)
        return PromptRequest("resolve", fields, tuple(sources), self.find_error)

    def find_error(self, number: int, accepted: Sequence[int]) -> str | None:
        """Return an error message if no old relation has this number, or None."""
        if number > len(self.old):
            return f"there is no old relation {number}; the last is {len(self.old)}"
        return None

    def texts(self, answer: Obsolete | None) -> list[str]:
        """Return the texts to embed: the triplets and the names of new nodes."""
        nodes = [node.name for each in self.new for node in (each.source, each.target) if node.item is None]
        return [*(each.triplet.text for each in self.new), *nodes]

    def apply(self, answer: Obsolete | None, vectors: Mapping[str, Vector]) -> None:
        """Retire the obsolete relations and add the new relations."""
        for number in dict.fromkeys(answer.obsolete if answer else ()):
            self.graph.store.retire(self.old[number - 1].entry_id)
        written: dict[str, Item] = {}
        for each in self.new:
            ends = [
                node.item or written.get(node.name) or self._node(node, each.triplet, vectors)
                for node in (each.source, each.target)
            ]
            written.update((node.text, node) for node in ends)
            nodes = [Node(node.text, str(node.meta["type"]), node) for node in ends]
            self._join(JoinedTriplet(each.triplet, *nodes), vectors)

    def _node(self, node: Node, first: Triplet, vectors: Mapping[str, Vector]) -> Item:
        return self.graph.store.add(
            ENTITY, node.name, sources=first.sources, vector=vectors[node.name], meta={"type": node.type}
        )

    def _join(self, new: JoinedTriplet, vectors: Mapping[str, Vector]) -> None:
        """Add a relation to the store; if an equal relation exists, add the source messages to that relation."""
        triplet, store = new.triplet, self.graph.store
        known = self.graph.find_equal(new)
        if known is not None:
            sources = tuple(dict.fromkeys((*known.sources, *triplet.sources)))
            store.revise(known, sources=sources)
            return
        assert new.source.item is not None and new.target.item is not None
        meta = {
            "source": new.source.item.entry_id,
            "target": new.target.item.entry_id,
            "relation": triplet.relation,
        }
        text = with_date(triplet.line, triplet.date)
        store.add(RELATION, text, sources=triplet.sources, vector=vectors[triplet.text], meta=meta)


def _cosine(one: Vector, other: Vector) -> float:
    return float(np.einsum("i,i->", one, other))
