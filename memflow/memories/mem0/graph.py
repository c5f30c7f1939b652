"""Mem0^g: Mem0 with a graph of entities and relations besides the facts (section 2.2).

A write extracts entities, then relations; new relations retire the relations that they contradict. A read finds
relations of the query's entities, and relations similar to the query. The default thresholds are those of the published
code; see docs/fidelity.md.
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
from memflow.memories.systems import System
from memflow.tokens import estimate


@dataclass
class Mem0Graph(Mem0):
    """A memory of Mem0's facts and of a graph with entities and their relations."""

    relations: int = parameter(5, "How many relations are recalled beside the facts.", low=1)
    same: float = parameter(0.9, "From which cosine of their names on two entities are one node.")
    anchor: float = parameter(0.7, "From which cosine on a node is meant by an entity of the query.")
    relevant: float = parameter(0.4, "From which cosine on a relation is recalled for the whole query.")

    prompt_stems: ClassVar[tuple[str, ...]] = (
        *Mem0.prompt_stems,
        "entities",
        "identify",
        "relations",
        "resolve",
    )
    calls: ClassVar[Calls] = Calls(chat_write=6, chat_read=1, embed_write=2, embed_read=1, per="round")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Mem0.bookkeeping_kinds | {ENTITY}
    version: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.graph = Graph(self.store, self.same)

    async def write(self, messages: Sequence[Message]) -> None:
        """Extract facts and entities of all message pairs concurrently, then relations; update pair by pair."""
        held, passages = self.add_to_window(messages)
        asks = [
            *map(self.extraction, passages),
            *(PromptRequest("entities", passage.fields(), passage.sources) for passage in passages),
            *self.summary_requests(held),
        ]
        answers = await self.ask_all(asks)
        pairs = len(passages)
        self.trim_window(held, answers[2 * pairs :])
        drawn = [self.new_facts(*pair) for pair in zip(passages, answers[:pairs], strict=True)]
        named: list[Entities] = [answer or Entities(entities=[]) for answer in answers[pairs : 2 * pairs]]
        related = await self._related(passages, named)
        vectors = await self.vectors(
            [
                *(fact.text for facts in drawn for fact in facts),
                *(entity.name for entities in named for entity in entities.entities),
                *(triplet.text for triplets in related for triplet in triplets),
            ]
        )
        for facts, entities, triplets in zip(drawn, named, related, strict=True):
            met = self.graph.nodes_of(entities.entities, vectors)
            relation_update = self.graph.relation_update(triplets, met, vectors, self.similar)
            vectors = await self.apply_changes([self.fact_update(facts, vectors), relation_update], vectors)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return facts, then relations; the notes list both in the order of writing, the entries by cosine."""
        if not self.store.live(RELATION):
            return await self.recall_facts(query)
        failed: list[str] = []
        meant: Names = await self.ask_to_read("identify", {"query": query}, failed=failed)
        names = list(dict.fromkeys(meant.names))
        vectors = await self.embed([query, *names])
        facts = self.index.scored(vectors[0], self.k) if self.store.live(FACT) else []
        around = self.graph.search(vectors[0], list(vectors[1:]), self.anchor, self.relevant)
        relations = around[: self.relations]
        parts = [recalled([found.item for found in part]) for part in (facts, relations)]
        notes = "\n".join(part.notes for part in parts if part.notes)
        nearest = sorted((*facts, *relations), key=lambda found: -found.score)
        entries = tuple(found.item for found in nearest)
        return Recall(notes, entries=entries, injected_tokens=estimate(notes), failed=tuple(failed))

    async def _related(self, passages: Sequence[Passage], named: Sequence[Entities]) -> list[list[Triplet]]:
        """Extract relations. Return the triplets of each passage; empty for a passage with fewer than two entities."""
        asking = [at for at, entities in enumerate(named) if len(entities.entities) > 1]
        answers = await self.ask_all([self._relating(passages[at], named[at]) for at in asking])
        related: list[list[Triplet]] = [[] for _ in passages]
        for at, answer in zip(asking, answers, strict=True):
            related[at] = _triplets(passages[at], named[at], answer)
        return related

    def _relating(self, passage: Passage, named: Entities) -> PromptRequest:

        def wrong(each: Relation, accepted: Sequence[Relation]) -> str | None:
            if max(each.source, each.target) > len(named.entities):
                return (
                    f"there is no entity {max(each.source, each.target)}; the last is {len(named.entities)}"
                )
            if each.source == each.target:
                return f"a relation joins entity {each.source} to itself"
            return passage.find_unknown(each.messages)

        entities = number_lines(f"{entity.name} ({entity.type})" for entity in named.entities)
        return PromptRequest("relations", {**passage.fields(), "entities": entities}, passage.sources, wrong)


def _triplets(passage: Passage, named: Entities, answer: Relations | None) -> list[Triplet]:
    names = [entity.name for entity in named.entities]
    return [
        Triplet(names[each.source - 1], each.relation, names[each.target - 1], *passage.cited(each.messages))
        for each in (answer.relations if answer else ())
    ]


MEM0_GRAPH = System("mem0_graph", Mem0Graph, "Chhikara et al. 2025, Mem0^g", ("k",))
