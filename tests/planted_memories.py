"""Memories with one planted fault each: Python classes over a healthy search, and servers over the fake server."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from faulty_server import EVERYTHING, Faults, FaultyServer

from memflow.memories.design import Design
from memflow.memories.entries import Item
from memflow.memories.memory import FAILURE, Memory, Message, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.search import Bm25
from memflow.memories.server.protocol import ReadAnswer, SentMessage, WriteAnswer
from memflow.words import search_words

SAID: list[Message] = []
"""The messages of all episodes: the shared state of a memory that leaks."""


@dataclass
class Healthy(Memory):
    """Every message as an entry, found by BM25. A fault replaces one of its methods."""

    k: int = parameter(10, "How many messages a read returns.", low=1)

    def __post_init__(self) -> None:
        self.index = Bm25(self.store, "memory")

    async def write(self, messages: Sequence[Message]) -> None:
        """Store what `text_of` returns of each message."""
        for message in messages:
            text = self.text_of(message)
            if text is not None:
                self.store.add("memory", f"{message.role}: {text}", sources=(message.message_id,))

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return what `found` returns for the query."""
        return recalled(self.found(query)[: self.k])

    def text_of(self, message: Message) -> str | None:
        """Return the text to store; None for none."""
        return message.text

    def found(self, query: str) -> list[Item]:
        """Return the items of a query, best first."""
        return self.index.search(query, self.k)


class Cap(Healthy):
    def found(self, query: str) -> list[Item]:
        return self.index.search(query, 3)


class DropsAfterTwentieth(Healthy):
    def text_of(self, message: Message) -> str | None:
        return message.text if len(self.store.live("memory")) < 20 else None


class DropsLong(Healthy):
    def text_of(self, message: Message) -> str | None:
        return message.text if len(message.text.split()) <= 20 else None


class DropsDigits(Healthy):
    def text_of(self, message: Message) -> str | None:
        return None if re.search(r"\d", message.text) else message.text


class DropsScript(Healthy):
    def text_of(self, message: Message) -> str | None:
        return message.text if message.text.isascii() else None


class DropsAll(Healthy):
    def text_of(self, message: Message) -> str | None:
        return None


class OneRole(Healthy):
    def text_of(self, message: Message) -> str | None:
        return message.text if message.role == "user" else None


class LastSession(Healthy):
    async def write(self, messages: Sequence[Message]) -> None:
        for item in self.store.live("memory"):
            if item.meta["day"] != messages[0].sent_at:
                self.store.retire(item.entry_id)
        for message in messages:
            meta = {"day": message.sent_at}
            self.store.add("memory", message.text, sources=(message.message_id,), meta=meta)


class Overwrites(Healthy):
    async def write(self, messages: Sequence[Message]) -> None:
        for item in self.store.live("memory"):
            self.store.retire(item.entry_id)
        await super().write(messages)


class EatsDuplicates(Healthy):
    def text_of(self, message: Message) -> str | None:
        words = {*search_words(message.text)}
        known = ({*search_words(item.text)} for item in self.store.live("memory"))
        return None if any(len(words & old) >= 0.8 * len(words | old) for old in known) else message.text


class DeafToLong(Healthy):
    def found(self, query: str) -> list[Item]:
        return [] if len(query.split()) > 12 else super().found(query)


class BlindToLong(Healthy):
    def found(self, query: str) -> list[Item]:
        return self.store.live("memory")[1:20:2] if len(query.split()) > 12 else super().found(query)


class DeafToScript(Healthy):
    def found(self, query: str) -> list[Item]:
        return super().found(query.encode("ascii", "ignore").decode())


class CutsTexts(Healthy):
    def text_of(self, message: Message) -> str | None:
        return message.text[:40]


class LosesDigits(Healthy):
    def text_of(self, message: Message) -> str | None:
        return re.sub(r"\d+", "", message.text)


class IndexedOnce(Healthy):
    def found(self, query: str) -> list[Item]:
        return [item for item in self.index.search(query, 100) if item.since <= 28]


class SameAnswer(Healthy):
    def found(self, query: str) -> list[Item]:
        return self.store.live("memory")[-self.k :]


class LeaksEntries(Healthy):
    async def write(self, messages: Sequence[Message]) -> None:
        await super().write(messages)
        SAID.extend(messages)
        other = SAID[-40 % len(SAID)]
        self.store.add("memory", other.text, sources=(other.message_id,))


class Reversed(Healthy):
    def found(self, query: str) -> list[Item]:
        return super().found(query)[::-1]


class WorstFirst(Healthy):
    def found(self, query: str) -> list[Item]:
        best = [item.entry_id for item in self.index.search(query, 40)]
        return [item for item in self.store.live("memory") if item.entry_id not in best]


class Threshold(Healthy):
    def found(self, query: str) -> list[Item]:
        return [hit.item for hit in self.index.scored(query, self.k) if hit.score > 7.5]


class SwallowsReads(Healthy):
    def found(self, query: str) -> list[Item]:
        return []


class FailsToWrite(Healthy):
    async def write(self, messages: Sequence[Message]) -> None:
        self.store.add(FAILURE, "the service is down", sources=[message.message_id for message in messages])


class DeclaredRole(OneRole):
    design = Design(roles=("user",))


class DeclaredWindow(LastSession):
    design = Design(window=1)


class DeclaredMerging(EatsDuplicates):
    design = Design(merges=True)


class DeclaredThreshold(Threshold):
    design = Design(threshold=True)


class DeclaredCap(Cap):
    design = Design(max_items=3)


@dataclass(eq=False)
class PlantedServer(FaultyServer):
    """A fake server with a fault that its declaration does not show."""

    fault: str = ""

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
        if self.fault == "fails":
            self.faults = Faults(fail_write=self.counts["write"] + 1)
        if self.fault == "drops" and write > 20:
            messages = ()
        if self.fault == "role":
            messages = [message for message in messages if message.role == "user"]
        if self.fault == "cuts":
            messages = [message.model_copy(update={"text": message.text[:40]}) for message in messages]
        return await super().write(space, write, messages)

    async def read(self, space: str, query: str, k: int, **more: Any) -> ReadAnswer:
        if self.fault == "deaf" and len(query.split()) > 12:
            return ReadAnswer()
        return await super().read(space, query, min(k, 10) if self.fault == "cap" else k, **more)

    def item_of(self, message: SentMessage, write: int, number: int) -> Any:
        item = super().item_of(message, write, number)
        if self.fault != "ids":
            return item.model_copy(update={"id": message.id})
        number = sum(len(stored) for stored in self.spaces.values()) % 7
        for stored in self.spaces.values():
            stored[:] = [each for each in stored if each.item.id != f"id{number}"]
        return item.model_copy(update={"id": f"id{number}"})


def planted_server(fault: str = "", *, faults: Faults | None = None, capacity: int = 0, **can: Any) -> Any:
    """Return a server with a fault of PlantedServer or of the fake server."""
    return PlantedServer(
        EVERYTHING.model_copy(update=can), faults=faults or Faults(), capacity=capacity, fault=fault
    )
