"""Extraction and update of facts, shared by `mem0`, `mem0_graph` and `awe` (section 2.1).

Facts of independent passages are extracted concurrently and embedded with one request. Updates are sequential, since
each depends on the result of the one before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.mem0.answers import Decision, Decisions, Fact, Facts
from memflow.memories.mem0.passages import Passage, number_lines
from memflow.memories.memory import FAILURE, ModelWrittenMemory, PromptRequest, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.search import Dense
from memflow.memories.verbatim import with_date

FACT = "fact"
CHANGES = ("UPDATE", "DELETE")
"""The operations that change a memory."""


@dataclass(frozen=True, slots=True)
class NewFact:
    """An extracted fact: its text, the messages that state it, and the date of the last one."""

    text: str
    sources: tuple[str, ...]
    date: str | None


@dataclass(frozen=True)
class FactUpdate:
    """A StoreChange that adds new facts, or changes similar memories, by ADD, UPDATE, DELETE or NOOP.

    One request decides on all facts of a passage. A fact may both delete several contradicted memories and be added.
    UPDATE keeps the sources of the old memory unless the new text replaces it.
    """

    store: EntryStore
    facts: Sequence[NewFact]
    memories: Sequence[Item]

    @property
    def ask(self) -> PromptRequest | None:
        """Return the request to decide on the facts; None if no similar memory exists, so that all facts are added."""
        if not self.facts or not self.memories:
            return None
        fields = {
            "memories": number_lines([item.text for item in self.memories]),
            "facts": number_lines([with_date(fact.text, fact.date) for fact in self.facts]),
        }
        sources = dict.fromkeys(source for fact in self.facts for source in fact.sources)
        return PromptRequest("decide", fields, tuple(sources), self.find_error)

    def find_error(self, decision: Decision, accepted: Sequence[Decision]) -> str | None:
        """Return the error in a decision, such as an unknown fact number, or None for a valid decision."""
        if complaint := self._misfit(decision):
            return complaint
        if decision.operation in CHANGES and decision.memory in _changed(accepted):
            return f"memory {decision.memory} is changed twice; once is enough"
        kept = [each.fact for each in accepted if each.operation != "DELETE"]
        if decision.operation != "DELETE" and decision.fact in kept:
            return f"fact {decision.fact} has 2 of ADD, UPDATE and NOOP; it can have one, beside DELETE"
        return None

    def _misfit(self, decision: Decision) -> str | None:
        if decision.fact > len(self.facts):
            return f"there is no fact {decision.fact}; the last is {len(self.facts)}"
        if decision.operation in CHANGES and not 0 < decision.memory <= len(self.memories):
            return (
                f"{decision.operation} needs the number of a memory, from 1 to {len(self.memories)},"
                f" not {decision.memory}"
            )
        if decision.operation == "UPDATE" and not decision.text.strip():
            return f"the UPDATE of memory {decision.memory} says no new text"
        return None

    def texts(self, answer: Decisions | None) -> list[str]:
        """Return the texts to embed: the facts and the new texts of updated memories."""
        updates = [self._updated(each) for each in _of(answer, "UPDATE")]
        return [*(fact.text for fact in self.facts), *updates]

    def apply(self, answer: Decisions | None, vectors: Mapping[str, Vector]) -> None:
        """Apply the decisions to the store, in order; without an answer, add all facts.

        A fact without a decision is lost, and recorded as a failure.
        """
        if answer is None:
            for fact in self.facts:
                self._add(fact, vectors)
            return
        decided = {decision.fact for decision in answer.decisions}
        for number, fact in enumerate(self.facts, 1):
            if number not in decided:
                self.store.add(FAILURE, f"mem0/decide: fact {number} is not decided on", sources=fact.sources)
        for decision in answer.decisions:
            if decision.operation == "ADD":
                self._add(self.facts[decision.fact - 1], vectors)
            elif decision.operation == "UPDATE":
                self._update(decision, vectors)
            elif decision.operation == "DELETE":
                self.store.retire(self.memories[decision.memory - 1].entry_id)

    def _add(self, fact: NewFact, vectors: Mapping[str, Vector]) -> None:
        self.store.add(
            FACT,
            with_date(fact.text, fact.date),
            sources=fact.sources,
            vector=vectors[fact.text],
            meta=_meta(fact.date),
        )

    def _update(self, decision: Decision, vectors: Mapping[str, Vector]) -> None:
        fact, old = self.facts[decision.fact - 1], self.memories[decision.memory - 1]
        text = self._updated(decision)
        date = fact.date or old.meta.get("date")
        self.store.revise(
            old,
            text=with_date(text, date),
            sources=fact.sources
            if decision.replaces
            else tuple(dict.fromkeys((*old.sources, *fact.sources))),
            vector=vectors[text],
            meta=_meta(date),
        )

    def _updated(self, decision: Decision) -> str:
        """Return the new text of a memory, without a date that the model copied from the prompt."""
        text = decision.text.strip()
        dates = (self.memories[decision.memory - 1].meta.get("date"), self.facts[decision.fact - 1].date)
        for date in dates:
            text = text.removeprefix(f"[{date}]").strip() or text
        return text


def _changed(decisions: Iterable[Decision]) -> set[int]:
    return {each.memory for each in decisions if each.operation in CHANGES}


def _of(answer: Decisions | None, operation: str) -> list[Decision]:
    return [each for each in (answer.decisions if answer else ()) if each.operation == operation]


def _meta(date: str | None) -> dict[str, str]:
    return {} if date is None else {"date": date}


class StoreChange(Protocol):
    """The protocol of a change of the store that may need a request to the model first."""

    @property
    def ask(self) -> PromptRequest | None:
        """Return the request to the model, or None if the change needs no answer."""
        ...

    def texts(self, answer: Any) -> list[str]:
        """Return the texts to embed for the change; `answer` is None if there was no request."""
        ...

    def apply(self, answer: Any, vectors: Mapping[str, Vector]) -> None:
        """Change the store according to the model's answer."""
        ...


@dataclass
class FactMemory(ModelWrittenMemory):
    """The base class of memories that extract facts from messages and update the stored facts."""

    similar: int = parameter(10, "How many facts held a new one is compared with.", low=1)
    k: int = parameter(5, "How many facts are recalled.", low=1)

    prompt_stems: ClassVar[tuple[str, ...]] = ("decide", "extract")

    def __post_init__(self) -> None:
        self.index = Dense(self.store, FACT)

    @classmethod
    def package(cls) -> str:
        return __name__.rpartition(".")[0]

    def extraction(self, passage: Passage) -> PromptRequest:
        """Return the request to extract facts from the new messages of a passage."""

        def wrong(fact: Fact, accepted: Sequence[Fact]) -> str | None:
            return passage.find_unknown(fact.messages)

        return PromptRequest("extract", passage.fields(), passage.sources, wrong)

    def new_facts(self, passage: Passage, answer: Facts | None) -> list[NewFact]:
        """Return the facts in the answer to an extraction request, with their source messages and dates."""
        return [
            NewFact(fact.text, *passage.cited(fact.messages)) for fact in (answer.facts if answer else ())
        ]

    def fact_update(self, facts: Sequence[NewFact], vectors: Mapping[str, Vector]) -> FactUpdate:
        """Return the update of the store by new facts, which are compared with the most similar stored facts."""
        near = {
            item.entry_id: item
            for fact in facts
            for item in self.index.search(vectors[fact.text], self.similar)
        }
        return FactUpdate(self.store, facts, sorted(near.values(), key=lambda item: item.order))

    async def vectors(
        self, texts: Iterable[str], known: Mapping[str, Vector] | None = None
    ) -> dict[str, Vector]:
        """Embed the texts that are not in `known` with one request. Return all vectors by text."""
        found = dict(known or {})
        unknown = [text for text in dict.fromkeys(texts) if text not in found]
        found.update(zip(unknown, await self.embed(unknown), strict=True))
        return found

    async def apply_changes(
        self, steps: Sequence[StoreChange], vectors: Mapping[str, Vector]
    ) -> dict[str, Vector]:
        """Send the requests of the changes concurrently, then apply the changes in order.

        A change without a usable answer is skipped. Return all vectors so far, by text.
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

    async def update_facts(self, drawn: Sequence[Sequence[NewFact]]) -> None:
        """Embed the new facts of all passages with one request, then update the store passage by passage."""
        vectors = await self.vectors(fact.text for facts in drawn for fact in facts)
        for facts in drawn:
            vectors = await self.apply_changes([self.fact_update(facts, vectors)], vectors)

    async def recall_facts(self, query: str) -> Recall:
        """Return the `k` facts nearest to the query; the notes list them in the order of writing."""
        if not self.store.live(FACT):
            return Recall()
        [vector] = await self.embed([query])
        return recalled(self.index.search(vector, self.k))
