"""Self-controlled memory: a model (the controller) decides how much of the memory a query needs.

Flash memory contains the newest messages. The stream contains older messages, each with its vector and a summary.
Deviations from the published code, such as one summary per message, are in deviations.yaml.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from memflow.memories.access import ACCESS, AccessLog
from memflow.memories.entries import Item
from memflow.memories.memory import (
    Calls,
    Memory,
    Message,
    ModelWrittenMemory,
    PromptRequest,
    Recall,
    parameter,
)
from memflow.memories.notes import recalled
from memflow.memories.sc_memory.answers import Activation, Sufficiency
from memflow.memories.search import Dense, SearchHit
from memflow.memories.verbatim import (
    StoredMessage,
    newest_within,
    overflow,
    retire_messages,
    store_messages,
    stored_messages,
    with_date,
)

FLASH, MESSAGE, SUMMARY = "flash", "message", "summary"


@dataclass
class ScMemory(ModelWrittenMemory):
    """A memory that recalls the newest messages, and older messages if its controller finds that a query needs them."""

    flash: int = parameter(3, "Number of newest messages in flash memory.", low=1)
    k: int = parameter(3, "Number of activated older messages.", low=1)
    decay: float = parameter(0.995, "Factor of the recency per message.", high=1)
    budget: int = parameter(1_400, "Maximum recalled tokens (estimated): about 1,024 English words.", low=1)

    calls: ClassVar[Calls] = Calls(chat_write=1, chat_read=2, embed_write=1, embed_read=1, per="message")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {ACCESS}

    def __post_init__(self) -> None:
        self.index = Dense(self.store, MESSAGE)
        self.accesses = AccessLog(self.store)

    async def write(self, messages: Sequence[Message]) -> None:
        """Add messages to flash memory; embed and concurrently summarize the oldest messages, which leave it."""
        store_messages(self.store, messages, FLASH)
        buffer = stored_messages(self.store, FLASH)
        evicted = overflow(buffer, 1, self.flash)
        notes = [message.note() for message in evicted]
        vectors, summaries = await asyncio.gather(
            self.embed(notes, "passage"),
            self.ask_all(
                PromptRequest("summarise", {"message": note}, message.item.sources)
                for message, note in zip(evicted, notes, strict=True)
            ),
        )
        retire_messages(self.store, evicted, FLASH)
        # Each message has a sequence number, and the buffer has the newest messages.
        first_number = self.store.sequence - len(buffer) + 1
        for index, message in enumerate(evicted):
            sources, role = message.item.sources, message.item.role
            meta = {"said": first_number + index}
            item = self.store.add(
                MESSAGE, notes[index], sources=sources, role=role, vector=vectors[index], meta=meta
            )
            summary = summaries[index]
            if summary is not None:
                text = with_date(summary.summary, message.date)
                self.store.add(SUMMARY, text, sources=sources, role=role, meta={"of": item.entry_id})

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the newest messages and, on request of the controller, older messages as summaries or in full."""
        buffer = stored_messages(self.store, FLASH)
        flash = newest_within(buffer, self.budget)
        if not self.store.live(MESSAGE):
            return flash
        recalled_messages = buffer[-len(flash.entries) :] if flash.entries else []
        fields = {"flash": _notes(recalled_messages), "query": query}
        activation: Activation = await self.ask_to_read("activate", fields)
        if not activation.needed:
            return flash
        activated = await self._activate(query)
        remaining_budget = self.budget - flash.injected_tokens
        older_messages = recalled(self._summaries_of(activated), remaining_budget)
        fields_with_summaries = {**fields, "summaries": older_messages.notes or "(nothing)"}
        sufficiency: Sufficiency = await self.ask_to_read("suffice", fields_with_summaries)
        if not sufficiency.sufficient:
            older_messages = recalled(activated, remaining_budget)
        if not frozen:
            self.accesses.note(activated, self.store.sequence)
        return replace(
            older_messages,
            messages=flash.messages,
            entries=(*older_messages.entries, *flash.entries),
            ranking=older_messages.ranking and (*older_messages.ranking, *flash.entries),
            injected_tokens=older_messages.injected_tokens + flash.injected_tokens,
            dropped_tokens=older_messages.dropped_tokens + flash.dropped_tokens,
        )

    async def _activate(self, query: str) -> list[Item]:
        """Return the `k` messages of the stream with the highest recency + cosine, best first; ties by age."""
        [vector] = await self.embed([query], "query")

        def best_first(hit: SearchHit) -> tuple[float, int]:
            last_access = self.accesses.last(hit.item) or hit.item.meta["said"]
            recency = float(self.decay ** (self.store.sequence - last_access))
            return -(recency + hit.score), hit.item.order

        hits = self.index.scored(vector, len(self.store.live(MESSAGE)))
        return [hit.item for hit in sorted(hits, key=best_first)[: self.k]]

    def _summaries_of(self, activated: Sequence[Item]) -> list[Item]:
        summaries = {item.meta["of"]: item for item in self.store.live(SUMMARY)}
        return [summaries.get(item.entry_id, item) for item in activated]


def _notes(buffer: Sequence[StoredMessage]) -> str:
    return "\n".join(message.note() for message in buffer) or "(nothing)"
