"""Concurrent requests of a memory: answers and failures in request order."""

import asyncio
from collections.abc import Sequence

from memflow.chat.requests import ChatRequest, Completion, Sampling
from memflow.chat.scripted import ScriptedChat
from memflow.memories.awi.memory import Awi
from memflow.memories.entries import EntryStore
from memflow.memories.memory import FAILURE, PromptRequest, Tools


class Slow(ScriptedChat):
    """A chat that answers what was asked first last."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__({}, sampling=Sampling())
        self.texts = list(texts)

    async def complete(self, request: ChatRequest) -> Completion:
        number = self.texts.index(request.fields["messages"])
        for _ in range(10 * (len(self.texts) - number)):
            await asyncio.sleep(0)
        return Completion('{"facts": []}' if number == 1 else "no JSON")


async def test_failures_are_recorded_in_request_order() -> None:
    texts = ["first", "second", "third"]
    memory = Awi(EntryStore(), Tools(chat=Slow(texts)))
    asks = [PromptRequest("update", {"kinds": "", "known": "", "messages": text}, (text,)) for text in texts]
    values = await memory.ask_all(asks)
    assert [value is None for value in values] == [True, False, True]
    assert [item.sources for item in memory.store.live(FAILURE)] == [("first",), ("third",)]
