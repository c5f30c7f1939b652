"""The event loop that the steps of several threads share."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memflow.errors import Interrupted
from memflow.resources.models.event_loop import EventLoopThread, detached


async def nothing() -> None: ...


@pytest.fixture
def loop() -> Iterator[EventLoopThread]:
    made = EventLoopThread()
    yield made
    made.close(nothing())


def test_work_of_several_threads_runs_on_one_event_loop(loop: EventLoopThread) -> None:
    arrived = threading.Barrier(4, timeout=10)

    async def work() -> int:
        return id(asyncio.get_running_loop())

    def run(_: int) -> int:
        arrived.wait()
        return loop.run(work())

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(run, range(4)))) == 1


def test_tasks_of_failed_work_are_canceled_and_detached_tasks_continue(loop: EventLoopThread) -> None:
    ended: list[str] = []

    async def wait(name: str, go: asyncio.Event) -> None:
        try:
            await go.wait()
            ended.append(f"{name} done")
        except asyncio.CancelledError:
            ended.append(f"{name} canceled")
            raise

    kept: list[asyncio.Task[None]] = []
    events: list[asyncio.Event] = []

    async def work() -> None:
        go = asyncio.Event()
        events.append(go)
        own = asyncio.create_task(wait("own", go))
        kept.append(detached(wait("detached", go)))
        await asyncio.sleep(0)
        assert not own.done()
        raise ValueError

    with pytest.raises(ValueError):
        loop.run(work())
    assert ended == ["own canceled"]

    async def release() -> None:
        events[0].set()
        await kept[0]

    loop.run(release())
    assert ended == ["own canceled", "detached done"]


def test_interrupt_ends_running_work_and_rejects_further_work(loop: EventLoopThread) -> None:
    running = threading.Event()

    async def work() -> None:
        running.set()
        await asyncio.sleep(3600)

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(loop.run, work())
        assert running.wait(10)
        loop.interrupt()
        with pytest.raises(Interrupted, match="Rerun"):
            waiting.result(10)
    with pytest.raises(Interrupted):
        loop.run(nothing())


def test_closed_event_loop_starts_again_with_the_next_work() -> None:
    made = EventLoopThread()
    closed: list[bool] = []

    async def last() -> None:
        closed.append(True)

    async def work() -> int:
        return 7

    assert made.run(work()) == 7
    made.close(last())
    assert made.run(work()) == 7
    made.close(last())
    assert closed == [True, True]
