"""Self-controlled memory: a model (the controller) decides how much of the memory a query needs.

Flash memory contains the newest messages. The stream contains older messages, each with its vector and a summary.
Deviations from the published code, such as one summary per message, are in docs/fidelity.md.
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
from memflow.memories.search import Dense
from memflow.memories.systems import System
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

    flash: int = parameter(3, "How many of the newest messages are flash memory.", low=1)
    k: int = parameter(3, "How many older messages are activated.", low=1)
    decay: float = parameter(0.995, "Recency after one more message, as a share of what it was.", high=1)
    budget: int = parameter(1_400, "Tokens recalled at most (estimated): about 1,024 English words.", low=1)

    calls: ClassVar[Calls] = Calls(chat_write=1, chat_read=2, embed_write=1, embed_read=1, per="message")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {ACCESS}

    def __post_init__(self) -> None:
        self.index = Dense(self.store, MESSAGE)
        self.accesses = AccessLog(self.store)

    async def write(self, messages: Sequence[Message]) -> None:
        """Add messages to flash memory; embed and concurrently summarize the oldest messages, which leave it."""
        store_messages(self.store, messages, FLASH)
        held = stored_messages(self.store, FLASH)
        leaving = overflow(held, 1, self.flash)
        notes = [message.note() for message in leaving]
        vectors, summaries = await asyncio.gather(
            self.embed(notes),
            self.ask_all(
                PromptRequest("summarise", {"message": note}, message.item.sources)
                for message, note in zip(leaving, notes, strict=True)
            ),
        )
        retire_messages(self.store, leaving, FLASH)
        first = (
            self.store.sequence - len(held) + 1
        )  # one number per message; the newest messages are buffered
        for said, (message, note, vector, summary) in enumerate(
            zip(leaving, notes, vectors, summaries, strict=True), first
        ):
            sources, role = message.item.sources, message.item.role
            item = self.store.add(
                MESSAGE, note, sources=sources, role=role, vector=vector, meta={"said": said}
            )
            if summary is not None:
                text = with_date(summary.summary, message.date)
                self.store.add(SUMMARY, text, sources=sources, role=role, meta={"of": item.entry_id})

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the newest messages and, on request of the controller, older messages as summaries or in full."""
        held = stored_messages(self.store, FLASH)
        flash = newest_within(held, self.budget)
        if not self.store.live(MESSAGE):
            return flash
        seen = {"flash": _lines(held[-len(flash.entries) :] if flash.entries else []), "query": query}
        activation: Activation = await self.ask_to_read("activate", seen)
        if not activation.needed:
            return flash
        activated = await self._activated(query)
        left = self.budget - flash.injected_tokens
        older = recalled(self._summaries(activated), left)
        shortened = {**seen, "summaries": older.notes or "(nothing)"}
        sufficiency: Sufficiency = await self.ask_to_read("suffice", shortened)
        if not sufficiency.sufficient:
            older = recalled(activated, left)
        if not frozen:
            self.accesses.note(activated, self.store.sequence)
        return replace(
            older,
            messages=flash.messages,
            entries=(*older.entries, *flash.entries),
            ranking=older.ranking and (*older.ranking, *flash.entries),
            injected_tokens=older.injected_tokens + flash.injected_tokens,
            dropped_tokens=older.dropped_tokens + flash.dropped_tokens,
        )

    async def _activated(self, query: str) -> list[Item]:
        """Return the `k` messages of the stream with the highest recency + cosine, best first; ties by age."""
        vectors = await self.embed([query])

        def score(item: Item, cosine: float) -> float:
            last = self.accesses.last(item) or item.meta["said"]
            return float(self.decay ** (self.store.sequence - last)) + cosine

        found = self.index.scored(vectors[0], len(self.store.live(MESSAGE)))
        found.sort(key=lambda one: (-score(one.item, one.score), one.item.order))
        return [one.item for one in found[: self.k]]

    def _summaries(self, activated: Sequence[Item]) -> list[Item]:
        summaries = {item.meta["of"]: item for item in self.store.live(SUMMARY)}
        return [summaries.get(item.entry_id, item) for item in activated]


def _lines(held: Sequence[StoredMessage]) -> str:
    return "\n".join(message.note() for message in held) or "(nothing)"


SC_MEMORY = System("sc_memory", ScMemory, "MemBench, SCMemory", ("flash", "k"))
