"""Answering: what is held while probes wait for their model, and what becomes of those that cannot be asked."""

import asyncio
import gc
import weakref

from memflow.answer import Past, answer_all
from memflow.benchmarks.membench import MemBench
from memflow.chat.requests import Completion, Sampling
from memflow.domains import find
from memflow.errors import RecallFailed
from memflow.memories.none import Nothing
from memflow.records import Probe

DOMAIN = find("membench_memdaily")


def probe(number: int, checkpoint: int) -> Probe:
    return Probe(
        domain="d", probe_id=f"p{number}", episode_id="e", checkpoint=checkpoint, kind="choice", dataset="s",
        metric="accuracy", question="?", options=["a", "b"], variables=[], gold="1", revealed="a", evidence=[],
    )  # fmt: skip


class Waiting:
    """A chat that answers when it is told to, and says when so many wait."""

    fingerprint, scripted, sampling = "waiting", True, Sampling()

    def __init__(self, expected: int = 0) -> None:
        self.expected, self.asked = expected, 0
        self.full, self.go = asyncio.Event(), asyncio.Event()

    async def complete(self, request):
        self.asked += 1
        if self.asked == self.expected:
            self.full.set()
        await self.go.wait()
        return Completion('{"choice": "A"}', "stop")


async def test_memories_are_let_go_once_they_are_read():
    made: list[weakref.ref[Nothing]] = []

    def remember(store):
        memory = Nothing(store)
        made.append(weakref.ref(memory))
        return memory

    chat = Waiting(800)
    probes = [probe(2 * at + twice, at) for at in range(400) for twice in (0, 1)]
    pasts = {"e": Past([], dict.fromkeys(range(400), 0))}
    answering = asyncio.ensure_future(answer_all(MemBench(), DOMAIN, "a", probes, pasts, remember, chat))
    await asyncio.wait_for(chat.full.wait(), 30)
    gc.collect()
    assert len(made) == 400  # one for both probes of a checkpoint
    assert not any(memory() for memory in made)
    chat.go.set()
    assert [reply.parsed for reply in await answering] == ["1"] * len(probes)


async def test_a_memory_that_cannot_be_read_is_a_reason_and_holds_nobody_up():
    class Broken(Nothing):
        async def read(self, query, frozen=True):
            if self.store.tick == 1:
                raise RecallFailed("it is broken")
            return await super().read(query, frozen)

    chat = Waiting()
    chat.go.set()
    pasts = {"e": Past([], {0: 1, 1: 2})}
    asked = [probe(0, 0), probe(1, 1), probe(2, 7)]
    replies = await answer_all(MemBench(), DOMAIN, "a", asked, pasts, Broken, chat)
    assert replies[0].reason == "recall for p0: RecallFailed: it is broken"
    assert replies[1].parsed == "1"
    assert replies[2].reason == "recall for p2: KeyError: 7"
