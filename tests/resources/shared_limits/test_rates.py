"""Rates per minute: no minute has more requests than the limit, however late permits are used."""

import asyncio
import uuid
from bisect import bisect_right
from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from resources.shared_limits.rates import (
    FIRST_ANSWER_TOKENS,
    LONGEST_BACKLOG_S,
    MINUTE,
    PERMIT_S,
    Permit,
    RateQueue,
    Rates,
    draw_permits,
)
from resources.shared_limits.store import LimitStore


class DatabaseTime:
    now = 1_000_000.0

    def __call__(self, *_: object) -> float:
        return self.now


@pytest.fixture
def time() -> DatabaseTime:
    return DatabaseTime()


@pytest.fixture
def store(either_url: str, time: DatabaseTime) -> Iterator[LimitStore]:
    store = LimitStore(either_url, now=time)
    yield store
    store.close()


@pytest.fixture(scope="module")
def sqlite_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LimitStore, DatabaseTime]]:
    time = DatabaseTime()
    store = LimitStore(f"sqlite:///{tmp_path_factory.mktemp('rates')}/ledger.sqlite", now=time)
    yield store, time
    store.close()


def draw(store: LimitStore, model: str, rates: Rates, waiting: list[float], **more: object) -> list[float]:
    with store.transaction(model) as (connection, now):
        waits = draw_permits(connection, now, model, rates, waiting, **more)  # type: ignore[arg-type]
        return [now + seconds for seconds in waits]


def most_in_a_minute(moments: list[float], late: float = 0.0) -> int:
    """Return the requests of the fullest minute, if the first of them are late and the others are not."""
    moments = sorted(moments)
    return max(bisect_right(moments, at + late + 60) - index for index, at in enumerate(moments))


@settings(deadline=None)
@given(
    limit=st.integers(1, 600),
    draws=st.lists(st.tuples(st.floats(0, 30), st.integers(1, 40)), min_size=1, max_size=40),
)
def test_no_minute_has_more_requests_than_the_limit(
    sqlite_store: tuple[LimitStore, DatabaseTime],
    limit: int,
    draws: list[tuple[float, int]],
) -> None:
    assume(sum(count for _, count in draws) * MINUTE / limit < LONGEST_BACKLOG_S)
    store, time = sqlite_store
    model = uuid.uuid4().hex
    moments: list[float] = []
    for pause, count in draws:
        time.now += pause
        moments += draw(store, model, Rates(limit), [0.0] * count)
    assert most_in_a_minute(moments, late=PERMIT_S) <= limit


def test_schedule_uses_the_whole_rate(store: LimitStore) -> None:
    moments = draw(store, uuid.uuid4().hex, Rates(120), [0.0] * 500)
    assert most_in_a_minute(moments) >= 120 * 60 / MINUTE


def test_tokens_of_long_requests_delay_the_following_ones(store: LimitStore) -> None:
    model = uuid.uuid4().hex
    first, second, third = draw(store, model, Rates(tokens=6000), [3000.0, 600.0, 1.0])
    assert second - first == pytest.approx(MINUTE / 2)
    assert third - second == pytest.approx(MINUTE / 10)


def test_requests_after_a_token_delay_keep_the_request_rate(store: LimitStore) -> None:
    moments = draw(store, uuid.uuid4().hex, Rates(60, 6000), [1200.0, *[0.0] * 100])
    assert most_in_a_minute(moments, late=PERMIT_S) <= 60


def test_correction_moves_the_schedule(store: LimitStore, time: DatabaseTime) -> None:
    model = uuid.uuid4().hex
    draw(store, model, Rates(tokens=6000), [600.0])
    (later,) = draw(store, model, Rates(tokens=6000), [1.0], correction=3000.0)
    assert later - time.now == pytest.approx(MINUTE * 0.6)


def test_further_permits_are_drawn_only_from_a_free_schedule(store: LimitStore) -> None:
    model, rates = uuid.uuid4().hex, Rates(60)
    assert len(draw(store, model, rates, [0.0], further=[0.0, 0.0])) == 3
    assert len(draw(store, model, rates, [0.0], further=[0.0, 0.0])) == 1


def test_clock_that_is_set_back_does_not_stop_requests(store: LimitStore, time: DatabaseTime) -> None:
    model = uuid.uuid4().hex
    draw(store, model, Rates(60), [0.0])
    time.now -= 3600
    (moment,) = draw(store, model, Rates(60), [0.0])
    assert moment == time.now


class MonotonicTime:
    now = 50.0

    def __call__(self) -> float:
        return self.now


async def test_queue_serves_waiting_requests_and_keeps_further_permits_for_a_second() -> None:
    clock = MonotonicTime()
    queue = RateQueue(Rates(600), lambda: None, clock)
    waiting = [asyncio.create_task(queue.wait(400)) for _ in range(2)]
    await asyncio.sleep(0)
    demand = queue.demand()
    assert [request.tokens for request in demand.requests] == [100 + FIRST_ANSWER_TOKENS] * 2
    queue.grant(demand, [Permit(50.0, 356.0)] * 4)
    assert await asyncio.gather(*waiting) == [356.0, 356.0]
    assert await queue.wait(400) == 356.0
    clock.now += PERMIT_S + 0.1
    late = asyncio.create_task(queue.wait(400))
    await asyncio.sleep(0)
    assert queue.has_waiting
    late.cancel()


async def test_expired_permit_is_drawn_again() -> None:
    clock = MonotonicTime()
    queue = RateQueue(Rates(600), lambda: None, clock)
    waiting = asyncio.create_task(queue.wait(0))
    await asyncio.sleep(0)
    queue.grant(queue.demand(), [Permit(clock.now - 2 * PERMIT_S, 0.0)])
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert queue.has_waiting
    queue.grant(queue.demand(), [Permit(clock.now, 0.0)])
    await waiting


async def test_cancelled_request_draws_no_permit_and_a_failed_draw_keeps_the_others() -> None:
    queue = RateQueue(Rates(600), lambda: None, MonotonicTime())
    waiting = [asyncio.create_task(queue.wait(0)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    demand = queue.demand()
    assert len(demand.requests) == 2
    assert not queue.has_waiting
    queue.restore(demand)
    assert len(queue.demand().requests) == 2
    for each in waiting:
        each.cancel()


async def test_tokens_of_answers_correct_the_estimate() -> None:
    queue = RateQueue(Rates(tokens=600_000), lambda: None, MonotonicTime())
    for _ in range(200):
        queue.settle(256.0 + 100, 1100.0, 400)
    demand = queue.demand()
    assert demand.correction == pytest.approx(200 * (1100 - 356))
    waiting = asyncio.create_task(queue.wait(400))
    await asyncio.sleep(0)
    assert queue.demand().requests[0].tokens == pytest.approx(1100, rel=0.01)
    waiting.cancel()
