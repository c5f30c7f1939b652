"""Concurrent work over many items, with a bounded number of tasks."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def gather_bounded(work: Callable[[T], Awaitable[R]], items: Sequence[T], at_most: int) -> list[R]:
    """Return the results of `work` for all items, in the order of the items; at most `at_most` calls run at once.

    Calls start in the order of the items. The first exception cancels the other calls and is raised.
    """
    found: dict[int, R] = {}
    remaining = iter(enumerate(items))

    async def run() -> None:
        for at, item in remaining:
            found[at] = await work(item)

    tasks = [asyncio.ensure_future(run()) for _ in range(min(at_most, len(items)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return [found[at] for at in range(len(items))]


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on an event loop of its own and return its result, also where a loop runs, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
