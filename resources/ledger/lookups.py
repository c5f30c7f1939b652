"""Lookups of completions in batches: one query for all requests that wait for a lookup at the same time.

rows.py contains the queries; writer.py stores records.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from memflow.chat.requests import Completion
from memflow.errors import DamagedRow
from memflow.resources.models.event_loop import detached


class LookupBatcher:
    """A batcher of one event loop's lookups: calls `read` for one batch at a time, with all lookups made meanwhile."""

    def __init__(
        self, read: Callable[[Sequence[str]], Awaitable[Mapping[str, Completion | DamagedRow]]]
    ) -> None:
        self._read = read
        self._gathered: list[tuple[str, asyncio.Future[Completion | None]]] = []
        self._reader: asyncio.Task[None] | None = None

    def find(self, digest: str) -> asyncio.Future[Completion | None]:
        """Return a future of the completion with this request digest, or of None if the ledger has none."""
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
                answer = found.get(digest)
                if isinstance(answer, DamagedRow):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
