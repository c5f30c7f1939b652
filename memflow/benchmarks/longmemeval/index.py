"""`longmemeval_bm25`: the published index, with sessions or user's turns found by the user's words.

A unit of the history (a session, or a user's turn with its answer) is an entry of kind `unit`, which keeps its messages
in its metadata. Its key is the user's text. It is shown to the reader with its date, in order of time.

`bm25_session` and `bm25_message` of memflow index the words of both roles. This memory exists for the published
retrieval figures: okapi.py has their ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.longmemeval.history import Chunk, lay_out
from memflow.benchmarks.longmemeval.okapi import okapi_scores, ranking
from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.systems import System
from memflow.tokens import estimate

UNIT = "unit"


@dataclass
class PublishedIndex(Memory):
    """The published index of LongMemEval: whole sessions or user's turns, found by the user's words."""

    unit: str = parameter(
        "session", "What is indexed: a session, or a user's turn.", choices=("session", "turn")
    )
    k: int = parameter(5, "Units that are recalled; 0 is all.")
    layout: str = parameter("json", "How the chats are written in the prompt.", choices=("text", "json"))

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the units of a session."""
        for unit in self._split(messages):
            self.store.add(
                UNIT,
                "\n".join(message.line() for message in unit),
                sources=[message.message_id for message in unit],
                meta={
                    "date": unit[0].sent_at or "",
                    "messages": [[message.role, message.text] for message in unit],
                },
            )

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the best units, which the notes show in order of time. Units without a user's word have no key."""
        keys = [(key, unit) for unit in self.store.live(UNIT) if (key := _key(unit.meta["messages"])).strip()]
        order = ranking(okapi_scores(query, [key for key, _ in keys]))
        chosen = [keys[position][1] for position in order[: self.k or None]]
        shown = sorted(chosen, key=lambda unit: (unit.meta["date"], unit.order))
        notes = lay_out([Chunk(unit.meta["date"], unit.meta["messages"]) for unit in shown], self.layout)
        return Recall(notes=notes, entries=tuple(chosen), injected_tokens=estimate(notes))

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


def _key(messages: Sequence[tuple[str, str]]) -> str:
    """Return the text of a unit that is indexed as published: the user's messages, joined with a blank."""
    return " ".join(text for role, text in messages if role == "user")


LONGMEMEVAL_BM25 = System("longmemeval_bm25", PublishedIndex, "LongMemEval, flat-bm25", ("k",))
