"""The update phase: ADD, UPDATE, DELETE or NOOP for each new fact (section 2.1, and the algorithm of the appendix).

All facts of one passage are decided in one request beside the similar facts held, as the published prompt does. A
fact may remove several memories that it contradicts, and be added besides. UPDATE keeps the sources of the memory it
adds to, unless the model says that the new text replaces what the memory said.
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
    """A fact that is not in the memory yet: its text, the messages that say it, and when the last was said."""

    text: str
    sources: tuple[str, ...]
    date: str | None


@dataclass(frozen=True)
class FactUpdate:
    """New facts beside the memories they may change. The model sees both by their numbers."""

    store: EntryStore
    facts: Sequence[NewFact]
    memories: Sequence[Item]

    @property
    def ask(self) -> PromptRequest | None:
        """None where nothing similar is held: then every fact is new, and is added."""
        if not self.facts or not self.memories:
            return None
        fields = {
            "memories": number_lines([item.text for item in self.memories]),
            "facts": number_lines([with_date(fact.text, fact.date) for fact in self.facts]),
        }
        sources = dict.fromkeys(source for fact in self.facts for source in fact.sources)
        return PromptRequest("decide", fields, tuple(sources), self.wrong)

    def wrong(self, answer: Decisions) -> str | None:
        """What is wrong with an answer that its schema cannot know; None when nothing is."""
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
        """What is wrong with one decision by itself."""
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
        """The new texts of updated memories, and those of the facts."""
        updates = [self._updated(each) for each in _of(answer, "UPDATE")]
        return [*(fact.text for fact in self.facts), *updates]

    def apply(self, answer: Decisions | None, vectors: Mapping[str, Vector]) -> None:
        """Carry the decisions out, in their order."""
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
        """The new text without a date before it, should the model have copied that from a list."""
        text = decision.text.strip()
        dates = (self.memories[decision.memory - 1].meta.get("date"), self.facts[decision.fact - 1].date)
        for date in dates:
            text = text.removeprefix(f"[{date}]").strip() or text
        return text


def _of(answer: Decisions | None, operation: str) -> list[Decision]:
    return [each for each in (answer.decisions if answer else ()) if each.operation == operation]


def _meta(date: str | None) -> dict[str, str]:
    return {} if date is None else {"date": date}
