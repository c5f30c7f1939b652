"""Replays from the ledger report the original seconds and calls of chat model and embedder."""

import asyncio
import time
from pathlib import Path

import pytest
from stub import Stub, StubBehavior

from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Message, Tools
from memflow.memories.registry import memory_factory
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.embedder import EndpointEmbedder
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.run.play import Episode, Event, play_all
from memflow.timing import timed

ACCOUNT = RequestContext(run="r", stage="memory", domain="d", assistant="a", model="stub")
EPISODES = [
    Episode(
        f"e{number}",
        tuple(
            Event(at, 0, "given", (Message(f"e{number}/{at}", "user", f"message {at} of {number}"),))
            for at in range(4)
        ),
    )
    for number in range(3)
]

Took = list[tuple[float | None, int | None]]


async def evaluated(name: str, url: str, ledger: SqlLedger) -> tuple[Took, list[float | None]]:
    """Return model seconds and calls of every write and one read, and the writes' own seconds."""
    async with OpenAIChat(url, "stub", "f") as served, EndpointEmbedder(url, "stub", ledger) as embedder:
        new = memory_factory(name, Tools(LedgeredChat(served, ledger, ACCOUNT), embedder))
        played = await play_all(EPISODES, new, None, clock=time.perf_counter)
        memory = new(EntryStore.restored(list(played[0].store), played[0].store.sequence))
        _, watch = await timed(memory.read("which message?"), time.perf_counter)
    assert watch is not None
    lines = [line for episode in played for line in episode.lines]
    took: Took = [(line.models_s, line.model_calls) for line in lines]
    return [*took, (watch.models, watch.calls)], [line.own_s for line in lines]


@pytest.mark.parametrize(("name", "calls"), [("retrieval", 0), ("generative_agent", 1)])
def test_ledger_replay_reports_original_seconds_and_calls(name: str, calls: int, tmp_path: Path) -> None:
    async def twice() -> None:
        async with Stub(StubBehavior(latency=0.02)) as stub:
            with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
                first, own = await evaluated(name, stub.url, ledger)
                asked = stub.counts.asked
                again, own_again = await evaluated(name, stub.url, ledger)
            assert stub.counts.asked == asked
        assert again == first
        assert own != own_again  # the memory's own computing is measured each time
        assert all(seconds and seconds > 0.02 / 3 for seconds, _ in first)  # three episodes share a request
        assert all(made is not None and made >= calls for _, made in first[:-1])
        assert first[-1][1] == 0

    asyncio.run(twice())
