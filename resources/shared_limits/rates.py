"""The request and token rates of a model, over all processes: a schedule of the moments at which requests are sent.

A client draws the moments of its waiting requests, or of those that it will soon have, in one transaction. Each moment
is used within a second or not at all. The moments are so far apart that no minute has more requests than the limit.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from resources.shared_limits.tables import request_rates as table

PERMIT_S = 1.0
"""Seconds after its moment in which a permit can be used."""
MINUTE = 60.0 + 2 * PERMIT_S
"""Seconds over which the requests of a minute are spread, so that late requests exceed no minute's limit."""
BLOCK_S = 0.5
"""The seconds of the rate for which a client draws permits at a time."""
LONGEST_BACKLOG_S = 1800.0
"""A schedule that is further ahead was recorded before the clock was set back."""
BYTES_PER_TOKEN = 4
FIRST_ANSWER_TOKENS = 256
"""The tokens that an answer is assumed to have until the first one is known."""


@dataclass(frozen=True)
class Rates:
    """The limits of a model in a minute; None is no limit."""

    requests: float | None = None
    tokens: float | None = None

    @property
    def block(self) -> int:
        """The maximum number of permits that a client draws at a time."""
        return 64 if self.requests is None else max(1, int(self.requests / MINUTE * BLOCK_S))


@dataclass(frozen=True)
class Permit:
    """The permission to send one request, from a moment on."""

    at: float
    tokens: float


def draw_permits(
    connection: Connection,
    now: float,
    model: str,
    rates: Rates,
    waiting: Sequence[float],
    further: Sequence[float] = (),
    correction: float = 0.0,
) -> list[float]:
    """Return the seconds until the moment of each permit, for waiting requests with these numbers of tokens.

    Permits for further requests are drawn only if the rates are not used up. `correction` is the number of tokens that
    earlier requests used beyond their permits.
    """
    row = connection.execute(sa.select(table).where(table.c.model == model)).one_or_none()
    until = {"requests_until": now, "tokens_until": now} if row is None else dict(row._mapping)
    of_requests, of_tokens = (_moment(until[name], now) for name in ("requests_until", "tokens_until"))
    per_request = MINUTE / rates.requests if rates.requests else 0.0
    per_token = MINUTE / rates.tokens if rates.tokens else 0.0
    of_tokens += correction * per_token
    is_free = of_requests <= now and of_tokens <= now
    waits: list[float] = []
    for tokens in (*waiting, *(further if is_free else ())):
        at = max(now, of_requests, of_tokens)
        waits.append(at - now)
        of_requests, of_tokens = at + per_request, at + tokens * per_token
    values = {"requests_until": of_requests, "tokens_until": of_tokens}
    if row is None:
        connection.execute(sa.insert(table).values(model=model, **values))
    else:
        connection.execute(sa.update(table).where(table.c.model == model).values(**values))
    return waits


def _moment(until: float, now: float) -> float:
    return until if until <= now + LONGEST_BACKLOG_S else now


class RateQueue:
    """The requests of one event loop that wait for a permit, and the permits that are left.

    Requests call `wait` and `settle` on the event loop. The thread of the gate calls the other methods.
    """

    def __init__(
        self, rates: Rates, on_wait: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rates = rates
        self._on_wait = on_wait
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: deque[WaitingRequest] = deque()
        self._permits: deque[Permit] = deque()
        self._recent: deque[float] = deque()
        self._answer_tokens = float(FIRST_ANSWER_TOKENS)
        self._correction = 0.0
        """Tokens that requests used beyond their permits, since the last draw."""

    async def wait(self, size: int) -> float:
        """Wait for a permit for a request with a body of `size` bytes. Return the tokens that are charged for it."""
        tokens = size / BYTES_PER_TOKEN + self._answer_tokens
        permit = self._unused_permit()
        while permit is None or permit.at + PERMIT_S < self._clock():  # the database may have answered late
            turn: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
            with self._lock:
                self._waiting.append(WaitingRequest(tokens, turn))
            self._on_wait()
            permit = await turn
        with self._lock:
            self._recent.append(self._clock())
            self._correction += tokens - permit.tokens
        if (delay := permit.at - self._clock()) > 0:
            await asyncio.sleep(delay)
        return tokens

    def settle(self, charged: float, used: float, size: int) -> None:
        """Replace the tokens that were charged for a request by those that it used."""
        answer = max(0.0, used - size / BYTES_PER_TOKEN)
        with self._lock:
            self._correction += used - charged
            self._answer_tokens += (answer - self._answer_tokens) / 16

    @property
    def has_waiting(self) -> bool:
        """Whether a request waits."""
        return bool(self._waiting)

    def demand(self) -> "PermitDemand":
        """Remove the requests that the next draw serves from the queue, and return them."""
        with self._lock:
            requests: list[WaitingRequest] = []
            tokens = 0.0
            while self._waiting and len(requests) < self.rates.block:
                request = self._waiting[0]
                if requests and self._is_block(tokens + request.tokens):
                    break
                self._waiting.popleft()
                if not request.turn.done():  # else it was cancelled
                    requests.append(request)
                    tokens += request.tokens
            further = self._further_permits(len(requests)) if requests else 0
            correction, self._correction = self._correction, 0.0
        return PermitDemand(requests, [self._answer_tokens] * further, correction)

    def restore(self, demand: "PermitDemand") -> None:
        """Put requests back that could not be served."""
        with self._lock:
            self._waiting.extendleft(reversed(demand.requests))
            self._correction += demand.correction

    def grant(self, demand: "PermitDemand", permits: Sequence[Permit]) -> None:
        """Give permits to the requests of a demand, and keep the others. The event loop calls this method."""
        for request, permit in zip(demand.requests, permits, strict=False):
            if not request.turn.done():
                request.turn.set_result(permit)
        with self._lock:
            self._permits.extend(permits[len(demand.requests) :])

    def fail(self, error: Exception) -> None:
        """Let all waiting requests raise an error. The event loop calls this method."""
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
        for request in waiting:
            if not request.turn.done():
                request.turn.set_exception(error)

    def _further_permits(self, waiting: int) -> int:
        """Return the number of further permits: as many as the last second's requests, within a block."""
        while self._recent and self._recent[0] < self._clock() - PERMIT_S:
            self._recent.popleft()
        count = min(len(self._recent), self.rates.block - waiting)
        if self.rates.tokens is not None:
            block = self.rates.tokens / MINUTE * BLOCK_S
            count = min(count, int(block / max(1.0, self._answer_tokens)))
        return max(0, count)

    def _unused_permit(self) -> Permit | None:
        """Return an unused permit that is still valid."""
        with self._lock:
            while self._permits and not self._waiting:
                permit = self._permits.popleft()
                if permit.at + PERMIT_S > self._clock():
                    return permit
        return None

    def _is_block(self, tokens: float) -> bool:
        return self.rates.tokens is not None and tokens > self.rates.tokens / MINUTE * BLOCK_S


@dataclass(frozen=True)
class WaitingRequest:
    """A request that waits for a permit, and its estimated tokens."""

    tokens: float
    turn: "asyncio.Future[Permit]"


@dataclass(frozen=True)
class PermitDemand:
    """What a client draws at a time."""

    requests: list[WaitingRequest]
    further: list[float]
    """The tokens of permits for requests that will probably follow."""
    correction: float

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw and nothing to correct."""
        return not self.requests and not self.correction
