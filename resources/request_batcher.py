"""Gathering: what many ask for at about the same moment is asked of a server in few requests.

Hundreds of episodes are played at once in one event loop, and each embeds one message at a time. What they ask for is
gathered while it keeps coming, every key once, and handed on together; everyone waits for their own keys alone. It
belongs to one event loop. What is done with the keys, and in requests of what size, the embedder says (embedder.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

PAUSE_S = 0.002
"""Seconds without anybody asking after which nobody else is waited for."""
MAX_WAIT_S = 0.05
"""Seconds after which nobody else is waited for, however many keep asking."""

T = TypeVar("T")

OnResult = Callable[[str, T], None]
"""Told of a key and what it stands for, as soon as that is known."""


class RequestBatcher(Generic[T]):
    """Texts by key, and what `work` makes of them: it is handed the gathered ones, and says what it has of each.

    Where it raises, those have the error of whose keys it has said nothing.
    """

    def __init__(self, work: Callable[[Mapping[str, str], OnResult[T]], Awaitable[None]]) -> None:
        self.work = work
        self._asked: dict[str, asyncio.Future[T]] = {}
        self._gathered: dict[str, str] = {}
        self._gatherer: asyncio.Task[None] | None = None
        self._workers: set[asyncio.Task[None]] = set()

    async def of(self, texts: Mapping[str, str]) -> dict[str, T]:
        """What the keys of `texts` stand for. Raises what `work` raises over any of them."""
        mine = {key: self._future(key, text) for key, text in texts.items()}
        # Waited for and not gathered: who is stopped must not stop what others wait for as well.
        await asyncio.wait(mine.values(), return_when=asyncio.FIRST_EXCEPTION)
        for future in mine.values():
            if future.done() and (wrong := future.exception()) is not None:
                raise wrong
        return {key: future.result() for key, future in mine.items()}

    def close(self) -> None:
        """Stop what is under way."""
        for task in (self._gatherer, *self._workers):
            if task is not None:
                task.cancel()

    def _future(self, key: str, text: str) -> asyncio.Future[T]:
        future = self._asked.get(key)
        if future is None:
            future = self._asked[key] = asyncio.get_running_loop().create_future()
            self._gathered[key] = text
            if self._gatherer is None:
                self._gatherer = asyncio.create_task(self._gather())
        return future

    async def _gather(self) -> None:
        loop = asyncio.get_running_loop()
        until, seen = loop.time() + MAX_WAIT_S, 0
        while seen < len(self._gathered) and loop.time() < until:
            seen = len(self._gathered)
            await asyncio.sleep(PAUSE_S)
        texts, self._gathered, self._gatherer = self._gathered, {}, None
        worker = asyncio.create_task(self._work(texts))
        self._workers.add(worker)
        worker.add_done_callback(self._workers.discard)

    async def _work(self, texts: Mapping[str, str]) -> None:
        def have(key: str, value: T) -> None:
            self._asked.pop(key).set_result(value)

        try:
            await self.work(texts, have)
        except asyncio.CancelledError:
            for key in texts.keys() & self._asked.keys():
                self._asked.pop(key).cancel()
            raise
        except Exception as wrong:  # noqa: BLE001  (whatever it is, it is for those who asked)
            for key in texts.keys() & self._asked.keys():
                lost = self._asked.pop(key)
                lost.set_exception(wrong)
                lost.exception()  # looked at: who asked for several keys raises the first, and passes over the rest
