"""Concurrency limits that adapt to server overload."""

import asyncio

from memflow.chat.priority import REMAINING
from memflow.resources.endpoints.limits import AdaptiveLimiter


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def most_at_once(limiter: AdaptiveLimiter, tasks: int) -> int:
    inside, most = 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with limiter:
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(tasks)))
    return most


async def test_overload_halves_the_limit_once_per_window_and_success_raises_it() -> None:
    clock = Clock()
    limiter = AdaptiveLimiter(64, window=1.0, clock=clock)
    limiter.on_overload()
    limiter.on_overload()
    assert limiter.limit == 32
    clock.now = 1.0
    limiter.on_overload()
    assert limiter.limit == 16
    assert await most_at_once(limiter, 60) == 16
    for _ in range(16):
        limiter.on_success()
    assert 16.9 < limiter.limit <= 17
    for _ in range(5000):
        limiter.on_success()
    assert limiter.limit == 64
    for _ in range(20):
        clock.now += 2
        limiter.on_overload()
    assert limiter.limit == 1
    assert await most_at_once(limiter, 5) == 1


async def test_cancelled_task_takes_no_slot_of_the_limiter() -> None:
    limiter = AdaptiveLimiter(1)
    async with limiter:
        waiting = [asyncio.create_task(limiter.__aenter__()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
    waiting[1].cancel()  # it has its turn, but has not gone on yet
    await asyncio.gather(*waiting, return_exceptions=True)
    assert limiter.in_flight == 1  # the third


async def test_limiter_admits_waiting_requests_by_remaining_work_then_by_arrival() -> None:
    limiter, order = AdaptiveLimiter(1), []

    async def request(name: str, remaining: int) -> None:
        REMAINING.set(remaining)
        async with limiter:
            order.append(name)

    async with limiter:
        given = {"probe": 0, "short": 3, "long": 90, "other probe": 0}
        waiting = [asyncio.create_task(request(*each)) for each in given.items()]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert order == ["long", "short", "probe", "other probe"]
