"""A memory written in Python that equals the fake memory server: a list of messages, searched by word overlap."""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.verbatim import with_date
from memflow.words import search_words


@dataclass
class OverlapMemory(Memory):
    """A list of messages. A read returns those that have most words of the query; equal ones oldest first."""

    k: int = parameter(10, "How many messages are recalled.", low=1)
    budget: int = parameter(0, "Tokens of notes; 0 is no limit.")

    async def write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            text = f"{message.speaker or message.role}: {message.text}"
            self.store.add("memory", with_date(text, message.sent_at), sources=(message.message_id,))

    async def read(self, query: str, frozen: bool = True) -> Recall:
        words = set(search_words(query))
        scored = [(len(words & set(search_words(item.text))), item) for item in self.store.live("memory")]
        found = sorted((each for each in scored if each[0]), key=lambda each: -each[0])[: self.k]
        return recalled([item for _, item in found], self.budget or None)
