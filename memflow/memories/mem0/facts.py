"""Extraction and update of facts, shared by `mem0`, `mem0_graph` and `awe` (section 2.1).

Facts of independent passages are extracted concurrently and embedded with one request. Updates (updates.py) are
sequential, since each depends on the result of the one before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.entries import Vector
from memflow.memories.forgetting import FORMS
from memflow.memories.mem0.answers import Decisions, Fact, Facts
from memflow.memories.mem0.passages import Passage
from memflow.memories.mem0.triplets import RelationUpdate
from memflow.memories.mem0.updates import FACT, FactUpdate, NewFact
from memflow.memories.memory import ModelWrittenMemory, PromptRequest, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.search import Dense


@dataclass
class FactMemory(ModelWrittenMemory):
    """The base class of memories that extract facts from messages and update the stored facts."""

    similar: int = parameter(10, "Number of similar stored facts that a new fact is compared with.", low=1)
    k: int = parameter(5, "Number of recalled facts.", low=1)

    prompt_stems: ClassVar[tuple[str, ...]] = ("decide", "extract")
    forgets: ClassVar[frozenset[str]] = FORMS
    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        self.index = Dense(self.store, FACT)

    @classmethod
    def package(cls) -> str:
        return __name__.rpartition(".")[0]

    def extraction(self, passage: Passage) -> PromptRequest:
        """Return the request to extract facts from the new messages of a passage."""

        def find_error(fact: Fact, accepted: Sequence[Fact]) -> str | None:
            return passage.find_unknown(fact.messages)

        return PromptRequest(
            "extract",
            passage.fields(),
            passage.sources,
            find_error,
            numbers={"messages": len(passage.said)},
            about=("messages",),
        )

    def new_facts(self, passage: Passage, answer: Facts | None) -> list[NewFact]:
        """Return the facts in the answer to an extraction request, with their source messages and dates."""
        return [
            NewFact(fact.text, *passage.resolve_citations(fact.messages))
            for fact in (answer.facts if answer else ())
        ]

    def fact_update(self, facts: Sequence[NewFact], vectors: Mapping[str, Vector]) -> FactUpdate:
        """Return the update of the store by new facts, which are compared with the most similar stored facts."""
        similar_facts = {
            item.entry_id: item
            for fact in facts
            for item in self.index.search(vectors[fact.text], self.similar)
        }
        return FactUpdate(self.store, facts, sorted(similar_facts.values(), key=lambda item: item.order))

    async def vectors(
        self, texts: Iterable[str], known_vectors: Mapping[str, Vector] | None = None
    ) -> dict[str, Vector]:
        """Embed the texts that are not in `known_vectors` with one request. Return all vectors by text."""
        vectors = dict(known_vectors or {})
        new_texts = [text for text in dict.fromkeys(texts) if text not in vectors]
        vectors.update(zip(new_texts, await self.embed(new_texts, "passage"), strict=True))
        return vectors

    async def apply_changes(
        self, changes: Sequence[FactUpdate | RelationUpdate], vectors: Mapping[str, Vector]
    ) -> dict[str, Vector]:
        """Send the requests of the changes concurrently, then apply the changes in order.

        A change without a usable answer is skipped. Each fact without a decision gets a separate request. Return all
        vectors so far, by text.
        """
        requests = [change.request for change in changes]
        answers = iter(await self.ask_all([request for request in requests if request is not None]))
        results = [
            (change, request, next(answers) if request else None)
            for change, request in zip(changes, requests, strict=True)
        ]
        # A change without a request needs no decision.
        usable = [
            (change, answer) for change, request, answer in results if request is None or answer is not None
        ]
        texts = [text for change, answer in usable for text in change.texts(answer)]
        all_vectors = await self.vectors(texts, vectors)
        for change, answer in usable:
            change.apply(answer, all_vectors)
        for change, request, answer in results:
            # A request for a single fact is not repeated.
            if isinstance(change, FactUpdate) and request is not None and len(change.facts) > 1:
                for fact in change.undecided_facts(answer):
                    all_vectors = await self._decide_alone(fact, all_vectors)
        return all_vectors

    async def _decide_alone(self, fact: NewFact, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Request a decision on one fact separately, and apply the decision. Return all vectors so far, by text.

        Without a usable answer, the fact is recorded as a failure, with its text and the reason.
        """
        update = self.fact_update([fact], vectors)
        decisions: Decisions | None = None
        if (request := update.request) is not None:
            [decisions] = await self.ask_all([request])
            if decisions is None:
                return dict(vectors)
        all_vectors = await self.vectors(update.texts(decisions), vectors)
        update.apply(decisions, all_vectors)
        return all_vectors

    async def update_facts(self, facts_by_passage: Sequence[Sequence[NewFact]]) -> None:
        """Embed the new facts of all passages with one request, then update the store passage by passage."""
        vectors = await self.vectors(fact.text for facts in facts_by_passage for fact in facts)
        for facts in facts_by_passage:
            vectors = await self.apply_changes([self.fact_update(facts, vectors)], vectors)

    async def recall_facts(self, query: str) -> Recall:
        """Return the `k` facts nearest to the query; the notes list them in the order of writing."""
        if not self.store.live(FACT):
            return Recall()
        [vector] = await self.embed([query], "query")
        return recalled(self.index.search(vector, self.k))
