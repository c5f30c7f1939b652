"""The index: a unit of the history (session or user's turn) is found by its keys and shown with its date.

A unit is an entry of kind `unit`. The keys are the user's text ("value"), and where a subclass writes them, facts. The
state is in the store alone: keys are in the metadata of the unit, and vectors in entries of kind `key`.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memflow.memories.entries import Item, Vector
from memflow.memories.memory import Calls, Memory, Message, Recall, parameter
from memflow.tokens import estimate
from memflow_longmemeval.history import Chunk, lay_out
from memflow_longmemeval.memories.okapi import okapi_scores, ranking

UNIT, KEY = "unit", "key"
UNITS = ("session", "turn")
LAYOUTS = ("text", "json")
JOINS = ("merge", "separate", "replace")


@dataclass
class Index(Memory):
    """The base class of indexes. A unit keeps its messages, with roles and date, in its metadata."""

    unit: str = parameter("session", "What is indexed: a session, or a user's turn.", choices=UNITS)
    k: int = parameter(5, "Units that are recalled; 0 is all.")
    layout: str = parameter("json", "How the chats are written in the prompt.", choices=LAYOUTS)

    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {KEY}

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the units of a session with their keys. A unit without a message of the user has no key."""
        units = self._split(messages)
        facts = await self._facts(units)
        keys = [
            [key for key in self._keys(unit, more) if key.strip()]
            for unit, more in zip(units, facts, strict=True)
        ]
        vectors = await self._vectors([key for of_unit in keys for key in of_unit])
        at = 0
        for unit, of_unit, more in zip(units, keys, facts, strict=True):
            said = [[message.role, message.text] for message in unit]
            meta = {
                "date": unit[0].sent_at or "",
                "messages": said,
                "keys": list(of_unit),
                "facts": list(more),
            }
            sources = [message.message_id for message in unit]
            item = self.store.add(
                UNIT, "\n".join(message.line() for message in unit), sources=sources, meta=meta
            )
            for key in of_unit if vectors is not None else ():
                vector = None if vectors is None else vectors[at]
                self.store.add(KEY, key, sources=sources, vector=vector, meta={"unit": item.entry_id})
                at += 1

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the best units, which the notes show in order of time."""
        found = await self._ranked(query)
        chosen = found[: self.k or None]
        shown = sorted(chosen, key=lambda item: (item.meta["date"], item.order))
        failed: list[str] = []
        notes = await self._text(query, shown, failed)
        return Recall(
            notes=notes, entries=tuple(chosen), injected_tokens=estimate(notes), failed=tuple(failed)
        )

    async def _facts(self, units: Sequence[Sequence[Message]]) -> list[Sequence[str]]:
        """Return the facts of each unit, which this class does not write."""
        return [() for _ in units]

    async def _vectors(self, keys: Sequence[str]) -> Vector | None:
        """Return the vectors of keys, or None for a search by words."""
        return None

    @abstractmethod
    async def _scores(self, query: str, units: Sequence[Item]) -> list[tuple[float, Item]]:
        """Return the score of each key with its unit."""

    async def _text(self, query: str, units: Sequence[Item], failed: list[str]) -> str:
        """Return the units as text for the reader."""
        return lay_out([_chunk(unit.meta) for unit in units], "json" if self.layout == "json" else "text")

    def _keys(self, unit: Sequence[Message], facts: Sequence[str]) -> list[str]:
        return [value_of(unit)]

    def _split(self, messages: Sequence[Message]) -> list[Sequence[Message]]:
        """Return the messages of each unit. A user's turn is widened to the round: the answers that follow it."""
        if self.unit == "session":
            return [messages] if messages else []
        found: list[list[Message]] = []
        for message in messages:
            if message.role == "user":
                found.append([message])
            elif found:
                found[-1].append(message)
        return [unit[:2] for unit in found]

    async def _ranked(self, query: str) -> list[Item]:
        """Return the units with a key, best first; a unit has the rank of its best key."""
        units = self.store.live(UNIT)
        if not units:
            return []
        scored = await self._scores(query, units)
        order = ranking([score for score, _ in scored])
        return list({scored[at][1].entry_id: scored[at][1] for at in order}.values())


@dataclass
class LexicalIndex(Index):
    """The published index with BM25: whole sessions or user's turns, found by the user's words."""

    async def _scores(self, query: str, units: Sequence[Item]) -> list[tuple[float, Item]]:
        keys = [(key, unit) for unit in units for key in unit.meta["keys"]]
        scores = okapi_scores(query, [key for key, _ in keys])
        return [(score, unit) for score, (_, unit) in zip(scores, keys, strict=True)]


@dataclass
class DenseIndex(Index):
    """The published index with embeddings: whole sessions or user's turns, found by the user's text."""

    calls: ClassVar[Calls] = Calls(embed_write=1, embed_read=1)

    async def _vectors(self, keys: Sequence[str]) -> Vector | None:
        return await self.embed(keys)

    async def _scores(self, query: str, units: Sequence[Item]) -> list[tuple[float, Item]]:
        by_id = {unit.entry_id: unit for unit in units}
        keys = [item for item in self.store.live(KEY) if item.vector is not None]
        [vector] = await self.embed([query])
        return [
            (float(np.dot(item.vector, vector)), by_id[item.meta["unit"]])
            for item in keys
            if item.vector is not None
        ]


def value_of(unit: Sequence[Message]) -> str:
    """Return the text of a unit that is indexed as published: the user's messages, joined with a blank."""
    return " ".join(message.text for message in unit if message.role == "user")


def _chunk(meta: Mapping[str, Any]) -> Chunk:
    return Chunk(meta["date"], [(role, text) for role, text in meta["messages"]])
