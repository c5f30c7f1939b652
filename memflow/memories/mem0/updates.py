"""Updates of stored facts by new facts (section 2.1): ADD, UPDATE, DELETE or NOOP, as a model decides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.mem0.answers import Decision, Decisions
from memflow.memories.mem0.passages import number_lines
from memflow.memories.memory import PromptRequest
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
    """A change of the store that adds new facts, or changes similar memories, by ADD, UPDATE, DELETE or NOOP.

    One request asks for decisions on all facts of a passage. Each fact without a decision then gets a separate request,
    as in the paper's algorithm. A fact may both delete several contradicted memories and be added.
    UPDATE keeps the sources of the old memory unless the new text replaces it.
    """

    store: EntryStore
    facts: Sequence[NewFact]
    memories: Sequence[Item]

    @property
    def request(self) -> PromptRequest | None:
        """The request to decide on the facts; None if no similar memory exists, so that all facts are added."""
        if not self.facts or not self.memories:
            return None
        fields = {
            "memories": number_lines([item.text for item in self.memories]),
            "facts": number_lines([with_date(fact.text, fact.date) for fact in self.facts]),
        }
        sources = dict.fromkeys(source for fact in self.facts for source in fact.sources)
        loss = f"lost fact: {self.facts[0].text}" if len(self.facts) == 1 else ""
        fact_count, memory_count = len(self.facts), len(self.memories)
        numbers = {"fact": fact_count, "memory": memory_count, "decisions": fact_count + memory_count}
        return PromptRequest("decide", fields, tuple(sources), self.find_error, loss=loss, numbers=numbers)

    def find_error(self, decision: Decision, accepted: Sequence[Decision]) -> str | None:
        """Return the error in a decision, such as an unknown fact number, or None for a valid decision."""
        if error := self._reference_error(decision):
            return error
        if decision.operation in CHANGES and decision.memory in _changed_memories(accepted):
            return f"memory {decision.memory} is changed twice; once is enough"
        decided_facts = [earlier.fact for earlier in accepted if earlier.operation != "DELETE"]
        if decision.operation != "DELETE" and decision.fact in decided_facts:
            return f"fact {decision.fact} has 2 of ADD, UPDATE and NOOP; it can have one, beside DELETE"
        return None

    def _reference_error(self, decision: Decision) -> str | None:
        """Return the error in the numbers or the text of a decision, or None."""
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
        updates = [self._updated_text(decision) for decision in _decisions_of(answer, "UPDATE")]
        return [*(fact.text for fact in self.facts), *updates]

    def apply(self, answer: Decisions | None, vectors: Mapping[str, Vector]) -> None:
        """Apply the decisions to the store, in order; without an answer, add all facts."""
        if answer is None:
            for fact in self.facts:
                self._add(fact, vectors)
            return
        for decision in answer.decisions:
            if decision.operation == "ADD":
                self._add(self.facts[decision.fact - 1], vectors)
            elif decision.operation == "UPDATE":
                self._update(decision, vectors)
            elif decision.operation == "DELETE":
                self.store.retire(self.memories[decision.memory - 1].entry_id)

    def undecided_facts(self, answer: Decisions | None) -> list[NewFact]:
        """Return the facts on which an answer contains no valid decision; all facts if the answer is unusable."""
        decided_numbers = {decision.fact for decision in answer.decisions} if answer else set()
        return [fact for number, fact in enumerate(self.facts, 1) if number not in decided_numbers]

    def _add(self, fact: NewFact, vectors: Mapping[str, Vector]) -> None:
        """Add a fact as an entry, with its date in the text; `vectors` has the vector of its text without a date."""
        self.store.add(
            FACT,
            with_date(fact.text, fact.date),
            sources=fact.sources,
            vector=vectors[fact.text],
            meta=_meta(fact.date),
        )

    def _update(self, decision: Decision, vectors: Mapping[str, Vector]) -> None:
        """Write the next version of a memory, with the new text and the sources that it rests on."""
        fact, memory = self.facts[decision.fact - 1], self.memories[decision.memory - 1]
        text = self._updated_text(decision)
        date = fact.date or memory.meta.get("date")
        sources = fact.sources
        if not decision.replaces:
            sources = tuple(dict.fromkeys((*memory.sources, *fact.sources)))
        self.store.revise(
            memory, text=with_date(text, date), sources=sources, vector=vectors[text], meta=_meta(date)
        )

    def _updated_text(self, decision: Decision) -> str:
        """Return the new text of a memory, without a date that the model copied from the prompt."""
        text = decision.text.strip()
        dates = (self.memories[decision.memory - 1].meta.get("date"), self.facts[decision.fact - 1].date)
        for date in dates:
            text = text.removeprefix(f"[{date}]").strip() or text
        return text


def _changed_memories(decisions: Iterable[Decision]) -> set[int]:
    return {decision.memory for decision in decisions if decision.operation in CHANGES}


def _decisions_of(answer: Decisions | None, operation: str) -> list[Decision]:
    return [decision for decision in (answer.decisions if answer else ()) if decision.operation == operation]


def _meta(date: str | None) -> dict[str, str]:
    return {} if date is None else {"date": date}
