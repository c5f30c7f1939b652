"""AWI: a dictionary from labels to facts, all of it in context (AMemGym, section 4).

When the buffer has F + N messages, the oldest F leave it and a model decides which labels to add or replace. `kinds`
lists the kinds of information to store; EvolvingAwi evolves this list (section 5 and appendix E).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.awi.answers import Facts
from memflow.memories.evolving import EvolvingMemory, numbered_list
from memflow.memories.memory import Calls, Message, ModelWrittenMemory, Recall, parameter
from memflow.memories.notes import join_texts
from memflow.memories.verbatim import (
    StoredMessage,
    overflow,
    retire_messages,
    store_messages,
    stored_messages,
    with_buffer,
)
from memflow.tokens import estimate

BUFFER, FACT = "buffer", "fact"

KINDS = (
    "preferences: likes and dislikes in food, products, activities and entertainment",
    "personal details: names, relationships, important dates",
    "plans and intentions: events ahead, trips, goals",
    "activities and services: how they dine, travel, spend their time",
    "health and wellness: diet, fitness, routines",
    "profession: job, habits at work, career",
    "anything else of lasting use: favourite books, films, brands and the like",
)


@dataclass
class Awi(ModelWrittenMemory):
    """A memory with a dictionary of facts that a model updates; prompts contain the whole dictionary."""

    freq: int = parameter(2, "How many messages leave the buffer at a time.", low=1)
    ns: int = parameter(4, "Number of newest messages that stay in the buffer.")
    kinds: tuple[str, ...] = parameter(KINDS, "Kinds of information to store, as listed in the prompt.")

    calls: ClassVar[Calls] = Calls(chat_write=1, per="round")
    prompt_stems: ClassVar[tuple[str, ...]] = ("update",)
    ranks_entries: ClassVar[bool] = False
    cannot_forget: ClassVar[str] = "its model adds and replaces labels, and deletes none"

    async def write(self, messages: Sequence[Message]) -> None:
        """Buffer the messages. For every `freq` messages that leave the buffer, request a model to update the facts."""
        store_messages(self.store, messages, BUFFER)
        evicted = overflow(stored_messages(self.store, BUFFER), self.freq, self.ns)
        for start in range(0, len(evicted), self.freq):
            await self._update_facts(evicted[start : start + self.freq])
        retire_messages(self.store, evicted, BUFFER)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return all facts, newest last, and the buffered messages; the query has no effect."""
        facts = self.store.live(FACT)
        notes = join_texts(facts)
        recall = Recall(notes=notes, entries=tuple(reversed(facts)), injected_tokens=estimate(notes))
        return with_buffer(recall, stored_messages(self.store, BUFFER))

    def keeping(self) -> tuple[str, ...]:
        """Return the kinds of information that the memory currently stores."""
        return self.kinds

    async def _update_facts(self, messages: Sequence[StoredMessage]) -> None:
        """Let the model extract facts from messages. Add those with a new label, and revise the others."""
        facts = {item.meta["label"]: item for item in self.store.live(FACT)}
        sources = [source for message in messages for source in message.item.sources]
        fields = {
            "kinds": numbered_list(self.keeping()),
            "known": join_texts([*facts.values()]) or "(nothing yet)",
            "messages": "\n".join(message.note() for message in messages),
        }
        answer: Facts | None = await self.ask("update", fields, sources=sources)
        for fact in answer.facts if answer else ():
            text, meta = f"- {fact.label}: {fact.value}", {"label": fact.label}
            if fact.label not in facts:
                facts[fact.label] = self.store.add(FACT, text, sources=sources, meta=meta)
            elif facts[fact.label].text != text:
                facts[fact.label] = self.store.revise(facts[fact.label], text=text, sources=sources)


@dataclass
class EvolvingAwi(EvolvingMemory, Awi):
    """AWI with an evolving list of the kinds of information to store (the policy); `kinds` is the first list."""

    prompt_stems: ClassVar[tuple[str, ...]] = ("update", "evolve")

    @property
    def first(self) -> tuple[str, ...]:
        """The initial policy, which is the parameter `kinds`."""
        return self.kinds

    def keeping(self) -> tuple[str, ...]:
        """Return the kinds of information of the current policy, which the memory stores."""
        return self.policy
