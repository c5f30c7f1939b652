"""Extraction and update of facts, shared by `mem0`, `mem0_graph` and `awe` (section 2.1).

Facts of independent passages are extracted concurrently and embedded with one call; updates follow one another, since
each sees the result of the one before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from memflow.memories.entries import Vector
from memflow.memories.mem0.answers import Facts
from memflow.memories.mem0.decisions import FACT, FactUpdate, NewFact
from memflow.memories.mem0.passages import Passage
from memflow.memories.memory import Memory, PromptRequest, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.search import Dense


class StoreChange(Protocol):
    """A change of the store that may first need an answer of the model."""

    @property
    def ask(self) -> PromptRequest | None:
        """The request, or None if no answer is needed."""
        ...

    def texts(self, answer: Any) -> list[str]:
        """Return the texts to embed for the change; `answer` is None if there was no request."""
        ...

    def apply(self, answer: Any, vectors: Mapping[str, Vector]) -> None:
        """Change the store."""
        ...


@dataclass
class FactMemory(Memory):
    """A memory that extracts facts from passages and updates the facts it has."""

    similar: int = parameter(10, "How many facts held a new one is compared with.", low=1)
    k: int = parameter(5, "How many facts are recalled.", low=1)

    prompt_stems: ClassVar[tuple[str, ...]] = ("decide", "extract")

    def __post_init__(self) -> None:
        self.index = Dense(self.store, FACT)

    @classmethod
    def package(cls) -> str:
        return __name__.rpartition(".")[0]

    def extraction(self, passage: Passage) -> PromptRequest:
        """Return the request for the facts of a passage's new messages."""

        def wrong(answer: Facts) -> str | None:
            return passage.misses(number for fact in answer.facts for number in fact.messages)

        return PromptRequest("extract", passage.fields(), passage.sources, wrong)

    def candidates(self, passage: Passage, answer: Facts | None) -> list[NewFact]:
        """Return the facts of an answer with sources and dates."""
        return [
            NewFact(fact.text, *passage.cited(fact.messages)) for fact in (answer.facts if answer else ())
        ]

    def deciding(self, facts: Sequence[NewFact], vectors: Mapping[str, Vector]) -> FactUpdate:
        """Return the update of facts against the most similar ones in the store, oldest first."""
        near = {
            item.entry_id: item
            for fact in facts
            for item in self.index.search(vectors[fact.text], self.similar)
        }
        return FactUpdate(self.store, facts, sorted(near.values(), key=lambda item: item.order))

    async def vectors(
        self, texts: Iterable[str], known: Mapping[str, Vector] | None = None
    ) -> dict[str, Vector]:
        """Embed the unknown texts with one call and return all vectors by text."""
        found = dict(known or {})
        unknown = [text for text in dict.fromkeys(texts) if text not in found]
        found.update(zip(unknown, await self.embed(unknown), strict=True))
        return found

    async def take(self, steps: Sequence[StoreChange], vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Send the requests of the changes concurrently, then apply the changes in order.

        A change without a usable answer is skipped. Returns all vectors known afterwards.
        """
        asks = [step.ask for step in steps]
        answers = iter(await self.ask_all([ask for ask in asks if ask is not None]))
        answered = [
            (step, ask, next(answers) if ask else None) for step, ask in zip(steps, asks, strict=True)
        ]
        usable = [(step, answer) for step, ask, answer in answered if ask is None or answer is not None]
        known = await self.vectors((text for step, answer in usable for text in step.texts(answer)), vectors)
        for step, answer in usable:
            step.apply(answer, known)
        return known

    async def settle(self, drawn: Sequence[Sequence[NewFact]]) -> None:
        """Embed all facts with one call and apply the updates passage by passage."""
        vectors = await self.vectors(fact.text for facts in drawn for fact in facts)
        for facts in drawn:
            vectors = await self.take([self.deciding(facts, vectors)], vectors)

    async def found(self, query: str) -> Recall:
        """Return the `k` facts nearest to the query, as notes in the order of writing."""
        if not self.store.live(FACT):
            return Recall()
        [vector] = await self.embed([query])
        return recalled(self.index.search(vector, self.k))
