"""Mem0's update phase: ADD, UPDATE, DELETE or NOOP for each new fact (section 2.1 and appendix).

One request decides all facts of a passage. A fact may delete several contradicted memories and be added too. UPDATE
keeps the sources of the old memory unless the new text replaces it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
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
    """New facts and the memories that they may change; a StoreChange."""

    store: EntryStore
    facts: Sequence[NewFact]
    memories: Sequence[Item]

    @property
    def ask(self) -> PromptRequest | None:
        """The request, or None if no similar memory exists and every fact is added."""
        if not self.facts or not self.memories:
            return None
        fields = {
            "memories": number_lines([item.text for item in self.memories]),
            "facts": number_lines([with_date(fact.text, fact.date) for fact in self.facts]),
        }
        sources = dict.fromkeys(source for fact in self.facts for source in fact.sources)
        return PromptRequest("decide", fields, tuple(sources), self.wrong)

    def wrong(self, answer: Decisions) -> str | None:
        """Return what is wrong with an answer beyond its schema, or None."""
        for decision in answer.decisions:
            complaint = self._misfit(decision)
            if complaint:
                return complaint
        changed = Counter(each.memory for each in answer.decisions if each.operation in CHANGES)
        for memory, times in changed.items():
            if times > 1:
                return f"memory {memory} is changed {times} times; once is enough"
        kept = Counter(each.fact for each in answer.decisions if each.operation != "DELETE")
        decided = {each.fact for each in answer.decisions}
        for fact in range(1, len(self.facts) + 1):
            if fact not in decided:
                return f"fact {fact} is not decided on"
            if kept[fact] > 1:
                return f"fact {fact} has {kept[fact]} of ADD, UPDATE and NOOP; it can have one, beside DELETE"
        return None

    def _misfit(self, decision: Decision) -> str | None:
        """Return what is wrong with one decision, or None."""
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
        """Return the texts to embed: the facts and updated memories."""
        updates = [self._updated(each) for each in _of(answer, "UPDATE")]
        return [*(fact.text for fact in self.facts), *updates]

    def apply(self, answer: Decisions | None, vectors: Mapping[str, Vector]) -> None:
        """Apply the decisions in order."""
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
        """Return the new text without a date copied from the list."""
        text = decision.text.strip()
        dates = (self.memories[decision.memory - 1].meta.get("date"), self.facts[decision.fact - 1].date)
        for date in dates:
            text = text.removeprefix(f"[{date}]").strip() or text
        return text


def _of(answer: Decisions | None, operation: str) -> list[Decision]:
    return [each for each in (answer.decisions if answer else ()) if each.operation == operation]


def _meta(date: str | None) -> dict[str, str]:
    return {} if date is None else {"date": date}
