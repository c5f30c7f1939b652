"""gather_bounded: order of results, bound on running tasks, and exceptions."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.concurrency import gather_bounded


@given(waits=st.lists(st.integers(0, 4), max_size=30), at_most=st.integers(1, 8))
def test_gather_bounded_keeps_order_and_bound_for_any_durations(waits, at_most):
    running, most = 0, 0

    async def work(wait):
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(wait):
            await asyncio.sleep(0)
        running -= 1
        return wait

    assert asyncio.run(gather_bounded(work, waits, at_most)) == waits
    assert most <= at_most
    assert most == min(at_most, len(waits)) or 0 in waits


async def test_gather_bounded_stops_all_work_after_an_exception():
    started, ended = [], []

    async def work(number):
        started.append(number)
        if number == 2:
            raise ValueError("two")
        await asyncio.sleep(0.05)
        ended.append(number)

    with pytest.raises(ValueError, match="two"):
        await gather_bounded(work, range(100), 4)
    await asyncio.sleep(0.1)
    assert (started, ended) == ([0, 1, 2, 3], [])
