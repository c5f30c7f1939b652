"""Mem0^g: Mem0 with a graph of entities and relations besides the facts (section 2.2).

A write extracts entities, then relations; new relations retire the relations that they contradict. A read finds
relations of the query's entities, and relations similar to the query. The default thresholds are those of the published
code; see deviations.yaml.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.mem0.answers import Entities, Names, Relation, Relations
from memflow.memories.mem0.memory import Mem0
from memflow.memories.mem0.passages import Passage, number_lines
from memflow.memories.mem0.triplets import ENTITY, RELATION, Graph, Triplet
from memflow.memories.mem0.updates import FACT
from memflow.memories.memory import Calls, Message, PromptRequest, Recall, parameter
from memflow.memories.notes import recalled
from memflow.tokens import estimate


@dataclass
class Mem0Graph(Mem0):
    """A memory of Mem0's facts and of a graph with entities and their relations."""

    relations: int = parameter(5, "Number of recalled relations.", low=1)
    same: float = parameter(0.9, "Minimum cosine of the names of two entities that share a node.")
    anchor: float = parameter(0.7, "Minimum cosine of a node and an entity of the query.")
    relevant: float = parameter(0.4, "Minimum cosine of a relation and the query.")

    prompt_stems: ClassVar[tuple[str, ...]] = (
        *Mem0.prompt_stems,
        "entities",
        "identify",
        "relations",
        "resolve",
    )
    calls: ClassVar[Calls] = Calls(chat_write=6, chat_read=1, embed_write=2, embed_read=1, per="round")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Mem0.bookkeeping_kinds | {ENTITY}
    derived_kinds: ClassVar[frozenset[str]] = Mem0.derived_kinds | {ENTITY}
    version: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.graph = Graph(self.store, self.same)

    async def write(self, messages: Sequence[Message]) -> None:
        """Extract facts and entities of all message pairs concurrently, then relations; update pair by pair."""
        window, passages = self.add_to_window(messages)
        fact_requests = [self.extraction(passage) for passage in passages]
        entity_requests = [
            PromptRequest("entities", passage.fields(), passage.sources, about=("messages",))
            for passage in passages
        ]
        answers = await self.ask_all([*fact_requests, *entity_requests, *self.summary_requests(window)])
        count = len(passages)
        fact_answers, entity_answers, summaries = (
            answers[:count],
            answers[count : 2 * count],
            answers[2 * count :],
        )
        self.trim_window(window, summaries)
        facts_lists = [
            self.new_facts(passage, answer) for passage, answer in zip(passages, fact_answers, strict=True)
        ]
        entity_lists: list[Entities] = [answer or Entities(entities=[]) for answer in entity_answers]
        triplet_lists = await self._extract_relations(passages, entity_lists)
        vectors = await self.vectors(
            [
                *(fact.text for facts in facts_lists for fact in facts),
                *(entity.name for entities in entity_lists for entity in entities.entities),
                *(triplet.text for triplets in triplet_lists for triplet in triplets),
            ]
        )
        for facts, entities, triplets in zip(facts_lists, entity_lists, triplet_lists, strict=True):
            nodes = self.graph.nodes_of(entities.entities, vectors)
            relation_update = self.graph.relation_update(triplets, nodes, vectors, self.similar)
            vectors = await self.apply_changes([self.fact_update(facts, vectors), relation_update], vectors)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return facts, then relations; the notes list both in the order of writing, the entries by cosine."""
        if not self.store.live(RELATION):
            return await self.recall_facts(query)
        failures: list[str] = []
        answer: Names = await self.ask_to_read("identify", {"query": query}, failed=failures)
        names = list(dict.fromkeys(answer.names))
        vectors = await self.embed([query, *names], "query")
        facts = self.index.scored(vectors[0], self.k) if self.store.live(FACT) else []
        relations = self.graph.search(vectors[0], list(vectors[1:]), self.anchor, self.relevant)
        best_relations = relations[: self.relations]
        fact_notes = recalled([hit.item for hit in facts]).notes
        relation_notes = recalled([hit.item for hit in best_relations]).notes
        notes = "\n".join(text for text in (fact_notes, relation_notes) if text)
        nearest = sorted((*facts, *best_relations), key=lambda hit: -hit.score)
        entries = tuple(hit.item for hit in nearest)
        return Recall(notes, entries=entries, injected_tokens=estimate(notes), failed=tuple(failures))

    async def _extract_relations(
        self, passages: Sequence[Passage], entity_lists: Sequence[Entities]
    ) -> list[list[Triplet]]:
        """Extract relations. Return the triplets of each passage; empty for a passage with fewer than two entities."""
        indexes = [index for index, entities in enumerate(entity_lists) if len(entities.entities) > 1]
        answers = await self.ask_all(
            [self._relation_request(passages[index], entity_lists[index]) for index in indexes]
        )
        triplet_lists: list[list[Triplet]] = [[] for _ in passages]
        for index, answer in zip(indexes, answers, strict=True):
            triplet_lists[index] = _triplets(passages[index], entity_lists[index], answer)
        return triplet_lists

    def _relation_request(self, passage: Passage, entities: Entities) -> PromptRequest:
        """Return the request for the relations between the entities of a passage."""

        def find_error(relation: Relation, accepted: Sequence[Relation]) -> str | None:
            if (number := max(relation.source, relation.target)) > len(entities.entities):
                return f"there is no entity {number}; the last is {len(entities.entities)}"
            if relation.source == relation.target:
                return f"a relation joins entity {relation.source} to itself"
            return passage.find_unknown(relation.messages)

        entity_lines = number_lines(f"{entity.name} ({entity.type})" for entity in entities.entities)
        return PromptRequest(
            "relations",
            {**passage.fields(), "entities": entity_lines},
            passage.sources,
            find_error,
            numbers={
                **dict.fromkeys(("source", "target"), len(entities.entities)),
                "messages": len(passage.said),
            },
            about=("messages", "entities"),
        )


def _triplets(passage: Passage, entities: Entities, answer: Relations | None) -> list[Triplet]:
    """Return the relations of an answer with the names of their entities, their source messages and dates."""
    names = [entity.name for entity in entities.entities]
    return [
        Triplet(
            names[row.source - 1],
            row.relation,
            names[row.target - 1],
            *passage.resolve_citations(row.messages),
        )
        for row in (answer.relations if answer else ())
    ]
