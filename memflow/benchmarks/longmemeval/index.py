"""`longmemeval_bm25`: the published index, with sessions or user's turns found by the user's words.

A unit of the history (a session, or a user's turn with its answer) is an entry of kind `unit`, which keeps its messages
in its metadata. Its key is the user's text. It is shown to the reader with its date, in order of time. A unit without a
user's text has no key: it has a kind of its own, which no search returns, as in the published corpus.

`bm25_session` and `bm25_message` of memflow index the words of both roles. This memory exists for the published
retrieval figures: okapi.py has their ranking. facts.py extends it by requests to a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memflow.benchmarks.longmemeval.history import Chunk, lay_out
from memflow.benchmarks.longmemeval.okapi import okapi_scores, ranking
from memflow.memories.entries import Item
from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.systems import System
from memflow.tokens import estimate

UNIT, WITHOUT_KEY = "unit", "unit_without_key"


@dataclass
class PublishedIndex(Memory):
    """The published index of LongMemEval: whole sessions or user's turns, found by the user's words."""

    unit: str = parameter(
        "session", "What is indexed: a session, or a user's turn.", choices=("session", "turn")
    )
    k: int = parameter(5, "Units that are recalled; 0 is all.")
    layout: str = parameter("json", "How the chats are written in the prompt.", choices=("text", "json"))

    version: ClassVar[int] = 2

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the units of a session."""
        for unit in await self._units(messages):
            self.store.add(**unit)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the best units, which the notes show in order of time."""
        chosen = (await self._ranked(query))[: self.k or None]
        shown = sorted(chosen, key=lambda unit: (unit.meta["date"], unit.order))
        notes = lay_out([Chunk(unit.meta["date"], unit.meta["messages"]) for unit in shown], self.layout)
        return Recall(notes=notes, entries=tuple(chosen), injected_tokens=estimate(notes))

    async def _units(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return the arguments of `EntryStore.add` for each unit of a session."""
        split = self._split(messages)
        units = []
        for part, facts in zip(split, await self._facts(split), strict=True):
            meta = {
                "date": part[0].sent_at or "",
                "messages": [[message.role, message.text] for message in part],
                **({"facts": list(facts)} if facts else {}),
            }
            units.append(
                {
                    "kind": UNIT if self._key(meta).strip() else WITHOUT_KEY,
                    "text": "\n".join(message.line() for message in part),
                    "sources": [message.message_id for message in part],
                    "meta": meta,
                }
            )
        return units

    async def _facts(self, units: Sequence[Sequence[Message]]) -> list[Sequence[str]]:
        """Return the facts of each unit, which this class does not have."""
        return [() for _ in units]

    def _key(self, meta: Mapping[str, Any]) -> str:
        """Return the text by which the unit with this metadata is found; blank if there is none."""
        return user_text(meta["messages"])

    async def _ranked(self, query: str) -> list[Item]:
        """Return the units that have a key, best first."""
        units = self.store.live(UNIT)
        order = ranking(okapi_scores(query, [self._key(unit.meta) for unit in units]))
        return [units[position] for position in order]

    def _split(self, messages: Sequence[Message]) -> list[Sequence[Message]]:
        """Return the messages of each unit. A user's turn is widened to the round: the answer that follows it."""
        if self.unit == "session":
            return [messages] if messages else []
        rounds: list[list[Message]] = []
        for message in messages:
            if message.role == "user":
                rounds.append([message])
            elif rounds:
                rounds[-1].append(message)
        return [unit[:2] for unit in rounds]


def user_text(messages: Sequence[tuple[str, str]]) -> str:
    """Return the text of a unit that is indexed as published: the user's messages, joined with a blank."""
    return " ".join(text for role, text in messages if role == "user")


LONGMEMEVAL_BM25 = System("longmemeval_bm25", PublishedIndex, "LongMemEval, flat-bm25", ("k",))
