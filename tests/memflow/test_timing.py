"""Time of writes and reads: recorded seconds of models and own computing time, without waiting or double counting."""

import asyncio
from dataclasses import dataclass, field

import pytest

from memflow.chat.requests import Completion
from memflow.timing import add_model_seconds, count_completion, count_waiting, leave_unmeasured, timed


@dataclass
class Clock:
    """A clock that advances only when `work` is called."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Model:
    """A model with a recorded latency; a request also takes one second of computing."""

    clock: Clock
    latency: float = 10.0
    waiting: list[str] = field(default_factory=list)

    async def complete(self, question: str) -> Completion:
        self.clock.work(1.0)
        await asyncio.sleep(0)
        self.clock.work(1.0)
        return Completion(question, latency_s=self.latency)


async def test_own_seconds_exclude_time_of_concurrent_tasks() -> None:
    clock = Clock()

    async def work() -> str:
        clock.work(2.0)
        await asyncio.sleep(0)
        clock.work(3.0)
        return "done"

    async def other() -> None:
        clock.work(100.0)

    (value, watch), _ = await asyncio.gather(timed(work(), clock), other())
    assert value == "done" and watch is not None
    assert (watch.own, watch.models) == (5.0, 0.0)


async def test_recorded_model_latency_counts_as_model_seconds_and_not_as_own_seconds() -> None:
    clock = Clock()
    model = Model(clock)

    async def work() -> None:
        clock.work(2.0)
        await count_completion(model.complete("one"))
        clock.work(3.0)

    _, watch = await timed(work(), clock)
    assert watch is not None and (watch.own, watch.models, watch.calls) == (5.0, 10.0, 1)


async def test_model_seconds_and_calls_include_all_concurrent_requests() -> None:
    clock = Clock()
    model = Model(clock)

    async def work() -> None:
        clock.work(2.0)
        await asyncio.gather(*(count_completion(model.complete(str(n))) for n in range(3)))

    _, watch = await timed(work(), clock)
    assert watch is not None and (watch.own, watch.models, watch.calls) == (2.0, 30.0, 3)


async def test_model_seconds_include_embedder_time_in_a_thread() -> None:
    clock = Clock()
    _, watch = await timed(asyncio.to_thread(add_model_seconds, 4.0), clock)
    assert watch is not None and (watch.own, watch.models, watch.calls) == (0.0, 4.0, 0)


async def test_concurrent_operations_are_timed_separately() -> None:
    clock = Clock()

    async def work(seconds: float) -> None:
        for _ in range(3):
            clock.work(seconds)
            add_model_seconds(seconds)
            await asyncio.sleep(0)

    found = await asyncio.gather(*(timed(work(each), clock) for each in (1.0, 2.0)))
    assert [(watch.own, watch.models) for _, watch in found if watch] == [(3.0, 3.0), (6.0, 6.0)]


async def test_timed_propagates_errors_and_cancellations() -> None:
    clock, seen = Clock(), []

    async def fails() -> None:
        clock.work(1.0)
        await asyncio.sleep(0)
        raise ValueError("no")

    async def waits() -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    with pytest.raises(ValueError, match="no"):
        await timed(fails(), clock)
    task = asyncio.ensure_future(timed(waits(), clock))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


async def test_timed_returns_no_measurement_without_a_clock() -> None:
    assert await timed(asyncio.sleep(0, "done"), None) == ("done", None)
    assert await count_completion(Model(Clock()).complete("one")) == Completion("one", latency_s=10.0)
    add_model_seconds(1.0)


async def test_waiting_for_a_program_of_the_memory_counts_as_its_own_seconds() -> None:
    clock = Clock()

    async def request() -> str:
        clock.work(1.0)
        await asyncio.sleep(0)
        clock.work(2.0)
        return "found"

    async def read() -> str:
        clock.work(4.0)
        found = await count_waiting(request())
        clock.work(8.0)
        return found

    async def other() -> None:
        clock.work(100.0)

    (found, watch), _ = await asyncio.gather(timed(read(), clock), other())
    assert (found, watch.own, watch.models, watch.calls) == ("found", 115.0, 0.0, 0)
    assert await count_waiting(request()) == "found"


async def test_unmeasured_operation_has_no_timer() -> None:
    async def look_up() -> str:
        leave_unmeasured()
        return "found"

    assert await timed(look_up(), Clock()) == ("found", None)
    leave_unmeasured()
