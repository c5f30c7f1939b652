"""The self-controlled memory: a model, the controller, decides how much of the memory a query needs.

Flash memory is the newest messages. Older ones make up the stream: each word for word, with its vector, and as
a sentence. For a query the controller says whether flash memory will do; if not, the `k` messages of the stream
best by recency + relevance are activated, and it says whether their summaries will do or their words are
needed. Decisions of ours: a message is summarised once, when it leaves flash memory, since only the stream is
ever activated (the published code may show a flash message twice); one whose summary failed stands in for it
word for word; flash memory has the first claim on the budget. Recency falls from when a message was said or
last activated; a frozen read leaves that as it is.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from memflow.chat.scripted import Handler
from memflow.memories.access import ACCESS, Accesses
from memflow.memories.entries import Item
from memflow.memories.memory import Ask, Calls, Memory, Message, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.sc_memory.answers import Activation, Sufficiency
from memflow.memories.sc_memory.scripted import HANDLERS
from memflow.memories.search import Dense
from memflow.memories.verbatim import Kept, dated, forget, keep, kept, surplus, within

FLASH, MESSAGE, SUMMARY = "flash", "message", "summary"


@dataclass
class ScMemory(Memory):
    """Recalls the newest messages as turns and, where its controller wants them, older ones as notes."""

    flash: int = parameter(3, "How many of the newest messages are flash memory.", low=1)
    k: int = parameter(3, "How many older messages are activated.", low=1)
    decay: float = parameter(0.995, "Recency after one more message, as a share of what it was.", high=1)
    budget: int = parameter(1_400, "Tokens recalled at most (estimated): about 1,024 English words.", low=1)

    calls: ClassVar[Calls] = Calls(chat_write=1, chat_read=2, embed_write=1, embed_read=1, per="message")
    bookkeeping: ClassVar[frozenset[str]] = Memory.bookkeeping | {ACCESS}

    def __post_init__(self) -> None:
        self.index = Dense(self.store, MESSAGE)
        self.accesses = Accesses(self.store)

    async def write(self, messages: Sequence[Message]) -> None:
        """Take them into flash memory; what leaves it is embedded and summarised, all at once."""
        keep(self.store, messages, FLASH)
        held = kept(self.store, FLASH)
        leaving = surplus(held, 1, self.flash)
        notes = [message.note() for message in leaving]
        vectors, summaries = await asyncio.gather(
            self.embed(notes),
            self.ask_all(
                Ask("summarise", {"message": note}, message.item.sources)
                for message, note in zip(leaving, notes, strict=True)
            ),
        )
        forget(self.store, leaving, FLASH)
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
                text = dated(summary.summary, message.date)
                self.store.add(SUMMARY, text, sources=sources, role=role, meta={"of": item.entry_id})

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Flash memory alone, or with what was activated: as summaries if they suffice, or word for word."""
        held = kept(self.store, FLASH)
        flash = within(held, self.budget)
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

    @classmethod
    def handlers(cls) -> Mapping[str, Handler]:
        return HANDLERS

    async def _activated(self, query: str) -> list[Item]:
        """The `k` messages of the stream with the highest recency + cosine, best first, older ones first."""
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


def _lines(held: Sequence[Kept]) -> str:
    return "\n".join(message.note() for message in held) or "(nothing)"
