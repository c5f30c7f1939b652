"""Lookups of completions in batches: one query for all requests that look one up at the same time.

Queries are in ledger_rows.py, stored records in ledger_writer.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from memflow.chat.requests import Completion
from resources.event_loop import detached


class LookupBatcher:
    """The lookups of one event loop: those of one iteration are one call of `read`. While it runs, the next gather."""

    def __init__(self, read: Callable[[Sequence[str]], Awaitable[Mapping[str, Completion]]]) -> None:
        self._read = read
        self._gathered: list[tuple[str, asyncio.Future[Completion | None]]] = []
        self._reader: asyncio.Task[None] | None = None

    def find(self, digest: str) -> asyncio.Future[Completion | None]:
        """Return a future of the completion under `digest`; of None if there is none."""
        found: asyncio.Future[Completion | None] = asyncio.get_running_loop().create_future()
        self._gathered.append((digest, found))
        if self._reader is None:
            self._reader = detached(self._read_all())
        return found

    async def _read_all(self) -> None:
        try:
            while self._gathered:
                await self._read_gathered()
        finally:
            self._reader = None

    async def _read_gathered(self) -> None:
        lookups, self._gathered = self._gathered, []
        waiting = [(digest, future) for digest, future in lookups if not future.done()]
        try:
            found = await self._read([digest for digest, _ in waiting])
        except Exception as error:  # noqa: BLE001  (it is raised by the lookups)
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for digest, future in waiting:
            if not future.done():
                future.set_result(found.get(digest))
