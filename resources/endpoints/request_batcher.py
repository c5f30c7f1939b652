"""A batcher of concurrent embedding requests from many coroutines.

Hundreds of episodes run in one event loop, and each embeds one message at a time. A batch collects texts while new ones
arrive; every coroutine waits for the results of its texts. embedder.py splits a batch into requests.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

from resources.models.event_loop import detached

PAUSE_S = 0.002
"""A batch is closed after so many seconds without a new key."""
MAX_WAIT_S = 0.05
"""A batch is closed after so many seconds even if new keys keep arriving."""

T = TypeVar("T")

OnResult = Callable[[str, T], None]
"""Called with a key and its result as soon as it is known."""


class RequestBatcher(Generic[T]):
    """A batcher of texts by key, which calls `work(texts, on_result)` once per batch.

    If `work` raises, the keys without a result get its exception. A batcher belongs to one event loop.
    """

    def __init__(self, work: Callable[[Mapping[str, str], OnResult[T]], Awaitable[None]]) -> None:
        self.work = work
        self._futures: dict[str, asyncio.Future[T]] = {}
        self._collected: dict[str, str] = {}
        self._collector: asyncio.Task[None] | None = None
        self._workers: set[asyncio.Task[None]] = set()

    async def of(self, texts: Mapping[str, str]) -> dict[str, T]:
        """Return the results of the keys in `texts`. Raises the exception of `work` if a key has no result."""
        mine = {key: self._future(key, text) for key, text in texts.items()}
        # asyncio.gather would cancel futures that others wait for too.
        await asyncio.wait(mine.values(), return_when=asyncio.FIRST_EXCEPTION)
        for future in mine.values():
            if future.done() and (wrong := future.exception()) is not None:
                raise wrong
        return {key: future.result() for key, future in mine.items()}

    def close(self) -> None:
        """Cancel the running batches."""
        for task in (self._collector, *self._workers):
            if task is not None:
                task.cancel()

    def _future(self, key: str, text: str) -> asyncio.Future[T]:
        future = self._futures.get(key)
        if future is None:
            future = self._futures[key] = asyncio.get_running_loop().create_future()
            self._collected[key] = text
            if self._collector is None:
                self._collector = detached(self._collect())
        return future

    async def _collect(self) -> None:
        loop = asyncio.get_running_loop()
        until, seen = loop.time() + MAX_WAIT_S, 0
        while seen < len(self._collected) and loop.time() < until:
            seen = len(self._collected)
            await asyncio.sleep(PAUSE_S)
        texts, self._collected, self._collector = self._collected, {}, None
        worker = detached(self._work(texts))
        self._workers.add(worker)
        worker.add_done_callback(self._workers.discard)

    async def _work(self, texts: Mapping[str, str]) -> None:
        def on_result(key: str, value: T) -> None:
            self._futures.pop(key).set_result(value)

        try:
            await self.work(texts, on_result)
        except asyncio.CancelledError:
            for key in texts.keys() & self._futures.keys():
                self._futures.pop(key).cancel()
            raise
        except Exception as wrong:  # noqa: BLE001  (it is raised by `of`)
            for key in texts.keys() & self._futures.keys():
                failed = self._futures.pop(key)
                failed.set_exception(wrong)
                failed.exception()  # mark it as retrieved: `of` raises the first of several
