"""The limit of concurrent requests to an address, which adapts to the load of the server."""

import asyncio
import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from memflow.chat.priority import REMAINING


class AdaptiveLimiter:
    """A semaphore with an adaptive limit: server overload halves the limit, a round of successes adds 1.

    The waiting request on which most other requests depend is admitted next; among equals, the oldest. The limit starts
    at `most` and stays between 1 and `most`. It is halved at most once in `window` seconds, because all concurrent
    requests report the same overload.
    """

    def __init__(
        self, most: int, *, window: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most = most
        self.limit = float(most)
        self.in_flight = 0
        self._window = window
        self._clock = clock
        self._halved_at = float("-inf")
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._arrivals = count()

    async def __aenter__(self) -> "AdaptiveLimiter":
        if self._waiting or self.in_flight >= int(self.limit):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heappush(self._waiting, (-REMAINING.get(), next(self._arrivals), turn))
            try:
                await turn  # whoever sets it has incremented in_flight
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._leave()
                raise
        else:
            self.in_flight += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def on_overload(self) -> None:
        """Halve the limit, after the server reported too many requests."""
        now = self._clock()
        if now - self._halved_at >= self._window:
            self._halved_at = now
            self.limit = max(1.0, self.limit / 2)

    def on_success(self) -> None:
        """Raise the limit by 1 / limit, so that a full round of successes raises it by 1."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)

    def _leave(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < int(self.limit):
            _, _, turn = heappop(self._waiting)
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)
