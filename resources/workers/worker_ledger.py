"""The ledger of a worker process. A request that several workers need at the same time is sent by one of them."""

import asyncio
from collections.abc import Iterable
from itertools import count

from memflow.chat.requests import Completion
from resources.ledger.sql_ledger import SqlLedger
from resources.workers.channel import Channel

Change = tuple[int, str, bool]
"""The number of a claim, the digest of its request, and whether it is made or released."""
Grant = tuple[int, bool]
"""The number of a claim, and whether another worker may have stored the completion."""


class WorkerLedger(SqlLedger):
    """A ledger that claims the request of each missing completion at the parent process.

    A claim ends when the completion is stored or the request has failed. The ledger belongs to one event loop; all
    changes of claims in one iteration of the loop are one message.
    """

    def __init__(self, url: str, channel: Channel) -> None:
        super().__init__(url)
        self._channel = channel
        self._numbers = count()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[int, asyncio.Future[bool]] = {}
        self._changes: list[Change] = []

    async def get(self, digest: str) -> Completion | None:
        """Return the completion with this request digest, or None if this process must send the request."""
        completion = await super().get(digest)
        if completion is not None:
            return completion
        number = next(self._numbers)
        self._loop = asyncio.get_running_loop()
        granted = self._waiting[number] = self._loop.create_future()
        self._change(number, digest, True)
        self.in_flight.of_running_loop()[digest].add_done_callback(lambda _: self._release(number, digest))
        return await super().get(digest) if await granted else None

    def grant(self, granted: Iterable[Grant]) -> None:
        """Continue the requests whose claims the parent granted. Any thread may call this method."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._grant, granted)

    def _grant(self, granted: Iterable[Grant]) -> None:
        for number, may_be_stored in granted:
            waiting = self._waiting.pop(number, None)
            if waiting is not None and not waiting.done():  # else its request was cancelled
                waiting.set_result(may_be_stored)

    def _release(self, number: int, digest: str) -> None:
        self._waiting.pop(number, None)
        storing = self.in_flight.of_running_loop().get(digest)
        if storing is not None and not storing.done():  # the request was cancelled while its answer is stored
            storing.add_done_callback(lambda _: self._change(number, digest, False))
        else:
            self._change(number, digest, False)

    def _change(self, number: int, digest: str, claimed: bool) -> None:
        if not self._changes:
            asyncio.get_running_loop().call_soon(self._send)
        self._changes.append((number, digest, claimed))

    def _send(self) -> None:
        changes, self._changes = self._changes, []
        self._channel.post("change_claims", changes)
