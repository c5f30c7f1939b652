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
        """The triplet as a text to embed."""
        return f"{self.source} {self.relation} {self.target}"

    @property
    def line(self) -> str:
        """The triplet as a line of the notes."""
        return f"{self.source} -- {self.relation} -> {self.target}"


class Graph:
    """The live entities and relations of a store; names with a cosine of `same` or more share a node."""

    def __init__(self, store: EntryStore, same: float) -> None:
        self.store = store
        self.same = same
        self.entities = Dense(store, ENTITY)
        self.relations = Dense(store, RELATION)

    def meet(self, entities: Sequence[Entity], vectors: Mapping[str, Vector]) -> dict[str, Node]:
        """Return the node of each entity by name; nodes are created for unknown entities."""
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

    def ends(self, relation: Item) -> set[str]:
        """Return the ids of a relation's nodes; nodes are never revised."""
        return {relation.meta["source"], relation.meta["target"]}

    def touching(self, nodes: set[str], text: Vector, most: int) -> list[Item]:
        """Return up to `most` relations of the nodes nearest to a text."""
        ranked = self.relations.search(text, len(self.store))
        return [item for item in ranked if self.ends(item) & nodes][:most]

    def resolving(
        self, drawn: Sequence[Triplet], met: Mapping[str, Node], vectors: Mapping[str, Vector], similar: int
    ) -> "RelationUpdate":
        """Return the update that resolves contradictions between a passage's triplets and old relations."""
        joined, old = [], {}
        for triplet in drawn:
            source, target = met[triplet.source], met[triplet.target]
            if source.name == target.name:
                continue  # Two names of one node: nothing stands between them.
            joined.append(
                JoinedTriplet(replace(triplet, source=source.name, target=target.name), source, target)
            )
            nodes = {node.item.entry_id for node in (source, target) if node.item is not None}
            for item in self.touching(nodes, vectors[triplet.text], similar):
                old[item.entry_id] = item
        again = {known.entry_id for each in joined if (known := self.known(each)) is not None}
        contested = sorted((old[key] for key in old.keys() - again), key=lambda item: item.order)
        return RelationUpdate(self, joined, contested)

    def known(self, new: "JoinedTriplet") -> Item | None:
        """Return the live relation with the same label between the same nodes, or None."""
        if new.source.item is None or new.target.item is None:
            return None
        wanted = (new.source.item.entry_id, new.target.item.entry_id, new.triplet.relation.casefold())
        for item in self.store.live(RELATION):
            if (item.meta["source"], item.meta["target"], item.meta["relation"].casefold()) == wanted:
                return item
        return None

    def around(
        self, query: Vector, names: Sequence[Vector], anchor: float, relevant: float
    ) -> list[SearchHit]:
        """Return the relations relevant to a query.

        A relation is relevant if a node is similar to a name (cosine >= `anchor`), or if the relation is similar to the
        query (cosine >= `relevant`).
        """
        anchors = {
            found.item.entry_id
            for name in names
            for found in self.entities.scored(name, len(self.store))
            if found.score >= anchor
        }
        ranked = self.relations.scored(query, len(self.store))
        return [found for found in ranked if found.score >= relevant or self.ends(found.item) & anchors]


@dataclass(frozen=True)
class JoinedTriplet:
    """A triplet with the nodes of its two entities."""

    triplet: Triplet
    source: Node
    target: Node


@dataclass(frozen=True)
class RelationUpdate:
    """A StoreChange: new relations, and the old relations that they may contradict."""

    graph: Graph
    new: Sequence[JoinedTriplet]
    old: Sequence[Item]

    @property
    def ask(self) -> PromptRequest | None:
        """Return the request for obsolete relations; None if the nodes have no other relation."""
        if not self.new or not self.old:
            return None
        fields = {
            "old": number_lines(item.text for item in self.old),
            "new": number_lines(with_date(each.triplet.line, each.triplet.date) for each in self.new),
        }
        sources = dict.fromkeys(source for each in self.new for source in each.triplet.sources)
        return PromptRequest("resolve", fields, tuple(sources), self.wrong)

    def wrong(self, answer: Obsolete) -> str | None:
        """Return the error if an answer has invalid numbers, or None."""
        for number in answer.obsolete:
            if number > len(self.old):
                return f"there is no old relation {number}; the last is {len(self.old)}"
        return None

    def texts(self, answer: Obsolete | None) -> list[str]:
        """Return the texts to embed: the triplets and the names of new nodes."""
        nodes = [node.name for each in self.new for node in (each.source, each.target) if node.item is None]
        return [*(each.triplet.text for each in self.new), *nodes]

    def apply(self, answer: Obsolete | None, vectors: Mapping[str, Vector]) -> None:
        """Retire obsolete relations and add the new ones."""
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
        """Add a relation, or add sources to an equal existing one."""
        triplet, store = new.triplet, self.graph.store
        known = self.graph.known(new)
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
