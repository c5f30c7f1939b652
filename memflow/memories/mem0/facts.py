"""Facts drawn from messages and kept up to date: the machinery of `mem0`, `mem0_graph` and `awe`.

Two phases (section 2.1 of the paper). A model draws salient facts from new messages; then, for all facts of one
passage at once, it sees the most similar facts held and decides (decisions.py). Facts of independent passages are
drawn at once and embedded in one call; decisions follow each other, since each sees what the one before has done.
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
    """Something that may have to be asked before it changes the store."""

    @property
    def ask(self) -> PromptRequest | None:
        """What to ask; None where nothing is open."""
        ...

    def texts(self, answer: Any) -> list[str]:
        """Texts whose vectors the change needs, by the answer: None where nothing was asked."""
        ...

    def apply(self, answer: Any, vectors: Mapping[str, Vector]) -> None:
        """Change the store."""
        ...


@dataclass
class FactMemory(Memory):
    """Draws facts from passages and settles them against those it holds."""

    similar: int = parameter(10, "How many facts held a new one is compared with.", low=1)
    k: int = parameter(5, "How many facts are recalled.", low=1)

    prompt_stems: ClassVar[tuple[str, ...]] = ("decide", "extract")

    def __post_init__(self) -> None:
        self.index = Dense(self.store, FACT)

    @classmethod
    def package(cls) -> str:
        return __name__.rpartition(".")[0]

    def extraction(self, passage: Passage) -> PromptRequest:
        """Which facts the new messages of a passage say."""

        def wrong(answer: Facts) -> str | None:
            return passage.misses(number for fact in answer.facts for number in fact.messages)

        return PromptRequest("extract", passage.fields(), passage.sources, wrong)

    def candidates(self, passage: Passage, answer: Facts | None) -> list[NewFact]:
        """The facts of an answer with their sources and dates: none, where there was no answer."""
        return [
            NewFact(fact.text, *passage.cited(fact.messages)) for fact in (answer.facts if answer else ())
        ]

    def deciding(self, facts: Sequence[NewFact], vectors: Mapping[str, Vector]) -> FactUpdate:
        """The facts beside those most similar to any of them, oldest first."""
        near = {
            item.entry_id: item
            for fact in facts
            for item in self.index.search(vectors[fact.text], self.similar)
        }
        return FactUpdate(self.store, facts, sorted(near.values(), key=lambda item: item.order))

    async def vectors(
        self, texts: Iterable[str], known: Mapping[str, Vector] | None = None
    ) -> dict[str, Vector]:
        """The vectors of the texts beside those known already, in one call for all that are not."""
        found = dict(known or {})
        unknown = [text for text in dict.fromkeys(texts) if text not in found]
        found.update(zip(unknown, await self.embed(unknown), strict=True))
        return found

    async def take(self, steps: Sequence[StoreChange], vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        """Ask what the steps have to ask, at once, and let them change the store in their order.

        A step whose question gets no usable answer changes nothing. Returns the vectors known afterwards.
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
        """Embed all facts in one call, and decide on those of one passage after those of another."""
        vectors = await self.vectors(fact.text for facts in drawn for fact in facts)
        for facts in drawn:
            vectors = await self.take([self.deciding(facts, vectors)], vectors)

    async def found(self, query: str) -> Recall:
        """The `k` facts nearest to the query, as notes in the order in which they were written."""
        if not self.store.live(FACT):
            return Recall()
        [vector] = await self.embed([query])
        return recalled(self.index.search(vector, self.k))
