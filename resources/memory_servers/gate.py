"""The gate before a memory server: requests pass together, and a repeated request passes alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Lets many requests pass at once, or one alone: a repeated request runs alone, so that it harms no other."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._inside = 0
        self._alone = 0

    @asynccontextmanager
    async def entered(self, alone: bool) -> AsyncIterator[None]:
        """Wait for the turn of a request, and hold it."""
        async with self._changed:
            if alone:
                self._alone += 1
                try:
                    await self._changed.wait_for(lambda: self._inside == 0)
                except BaseException:
                    self._alone -= 1
                    self._changed.notify_all()
                    raise
            else:
                await self._changed.wait_for(lambda: self._alone == 0)
            self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            self._alone -= alone
            await asyncio.shield(self._notify())

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()
