"""Limits on requests: concurrency per endpoint, and the budget of a run."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from weakref import WeakKeyDictionary

from memflow.chat.priority import REMAINING
from memflow.errors import BudgetSpent


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
        self.outstanding = 0
        """The number of requests in flight and of those that wait."""
        self._window = window
        self._clock = clock
        self._halved_at = float("-inf")
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._arrivals = count()
        self.paused_until: dict[str, float] = {}
        """Until when the server asks all requests with a key to wait, by the key's variable (api_keys.py)."""

    async def __aenter__(self) -> "AdaptiveLimiter":
        self.outstanding += 1
        if self._waiting or self.in_flight >= int(self.limit):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heappush(self._waiting, (-REMAINING.get(), next(self._arrivals), turn))
            try:
                await turn  # whoever sets it has incremented in_flight
            except asyncio.CancelledError:
                self.outstanding -= 1
                if turn.done() and not turn.cancelled():
                    self._leave()
                raise
        else:
            self.in_flight += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self.outstanding -= 1
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


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, AdaptiveLimiter]] = WeakKeyDictionary()


def limiter_of(url: str, most: int) -> AdaptiveLimiter:
    """Return the limiter that all clients of an address share in the event loop; the smallest `most` applies."""
    limiters = _shared.setdefault(asyncio.get_running_loop(), {})
    limiter = limiters.setdefault(url, AdaptiveLimiter(most))
    if most < limiter.most:
        limiter.most = most
        limiter.limit = min(limiter.limit, float(most))
    return limiter


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the cost of these numbers of prompt and completion tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass(frozen=True)
class Spending:
    """The spending of a run or a request: calls, tokens (of prompts and answers) and cost."""

    calls: float = 0
    tokens: float = 0
    cost: float = 0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: "Spending") -> "Spending":
        return Spending(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)


@dataclass
class Budget:
    """The spending limits of a run; None means no limit. Threads and event loops may share it.

    A request is admitted only if its maximum spending fits. If running requests reserve too much of the budget, the
    request waits until their actual spending is known.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    spent: Spending = field(default_factory=Spending)
    _reserved: Spending = field(default_factory=Spending, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @asynccontextmanager
    async def admit(self, most: Spending) -> AsyncIterator[list[Spending]]:
        """Admit a request that spends at most `most`. Yield a list, to which the caller appends the actual spending.

        If the caller appends nothing, the request counts as one call. Raises BudgetSpent if the budget does not
        suffice.
        """
        while not await self.request(most):  # noqa: ASYNC110 (running requests may be in other event loops)
            await asyncio.sleep(0.01)
        took: list[Spending] = []
        try:
            yield took
        finally:
            self.settle(most, took[0] if took else Spending(calls=most.calls))

    async def request(self, most: Spending) -> bool:
        """Call `reserve` without blocking the event loop. Return its result and raise its errors."""
        return self.reserve(most)

    def reserve(self, most: Spending) -> bool:
        """Reserve spending. Return False if running requests reserve too much. Raises BudgetSpent."""
        with self._lock:
            self._require_rest(self.spent + most)
            fits = not self._broken(self.spent + self._reserved + most)
            if fits:
                self._reserved += most
            return fits

    def settle(self, reserved: Spending, spent: Spending) -> None:
        """Replace a reservation by the actual spending."""
        with self._lock:
            self._reserved -= reserved
            self.spent += spent

    @property
    def is_limited(self) -> bool:
        """Whether the budget has any limit."""
        return (self.calls, self.tokens, self.cost) != (None, None, None)

    def _require_rest(self, then: Spending) -> None:
        broken = self._broken(then)
        if broken:
            raise BudgetSpent(
                f"the budget of {broken} is used up, so no more requests are sent. Raise the budget, then rerun."
            )

    def _broken(self, then: Spending) -> str:
        if self.calls is not None and then.calls > self.calls:
            return f"{self.calls} calls"
        if self.tokens is not None and then.tokens > self.tokens:
            return f"{self.tokens} tokens"
        if self.cost is not None and then.cost > self.cost:
            return f"{self.cost:g} (cost)"
        return ""
