"""The gate of a model whose rates or concurrency hold over all processes with one ledger.

Requests wait on their event loop. A thread makes the transactions, and passes their results to the loop. Without the
database, slots and permits that the client has stay valid for some seconds; then requests wait, and fail after a time.
"""

import asyncio
import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any

from memflow.errors import MemflowError
from memflow.fingerprint import digest
from resources.settings.chat_models import Model
from resources.shared_limits.rates import Permit, RateQueue, Rates, draw_permits
from resources.shared_limits.slots import HEARTBEAT_S, SlotQueue, exchange_slots, release_slots
from resources.shared_limits.store import LimitStore

STARVED_S = 0.2
"""Seconds until the next heartbeat of a client that waits for slots."""
LEAD_S = 0.2
"""Seconds before its last permit at which a client draws the next ones."""
DRAW_S = 0.05
"""Minimum number of seconds between two draws, so that a draw serves several requests."""
PATIENCE_S = 60.0
"""Seconds without the database after which waiting requests fail."""


class SharedGate:
    """The gate of one model in one event loop: an asynchronous context manager that admits requests."""

    def __init__(
        self,
        store: LimitStore,
        model: str,
        *,
        total_concurrency: int | None = None,
        rates: Rates | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self.holder = uuid.uuid4().hex
        self.limit = total_concurrency
        self.rates = rates
        self.slots = None if total_concurrency is None else SlotQueue(self._notify)
        self.permits = None if rates is None else RateQueue(rates, self._notify, clock)
        self._store = store
        self._clock = clock
        self._wake, self._closed = threading.Event(), threading.Event()
        self._recently_wanted = 0
        self._unapplied: deque[int] = deque()
        """The numbers of slots that the event loop has not applied yet."""
        self._heartbeat_at = self._draw_at = float("-inf")
        self._failing_since: float | None = None
        self._failure: MemflowError | None = None

    async def __aenter__(self) -> "SharedGate":
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._serve, name=f"limits {self.model}", daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closed.set()
        self._wake.set()
        await asyncio.to_thread(self._thread.join)

    def turn(self, size: int) -> "SharedTurn":
        """Return the turn of a request with a body of `size` bytes."""
        return SharedTurn(self, size)

    def require_store(self) -> None:
        """Raise StoreFailed or StoreBusy if the database could not be used for too long."""
        if self._failure is not None:
            raise self._failure

    def _notify(self) -> None:
        self._wake.set()

    def _serve(self) -> None:
        """Make the transactions that are due, until the gate is closed."""
        while not self._closed.is_set():
            self._wake.wait(self._pause())
            self._wake.clear()
            try:
                self._exchange_slots()
                self._draw_permits()
            except MemflowError as error:
                self._wait_for_store(error)
            except RuntimeError:
                if not self._loop.is_closed():
                    raise
                break  # the loop ended without closing its clients
            else:
                self._failing_since = self._failure = None
        self._release()

    def _pause(self) -> float:
        """Return the seconds until something is due."""
        now = self._clock()
        pauses = [HEARTBEAT_S]
        if self.slots is not None and self.slots.wanted > self.slots.most:
            pauses.append(self._heartbeat_at + STARVED_S - now)
        if self.permits is not None and self.permits.has_waiting:
            pauses.append(self._draw_at - now)
        return max(0.0, min(pauses))

    def _exchange_slots(self) -> None:
        """Send a heartbeat if one is due, and apply the slots that it grants."""
        slots, now = self.slots, self._clock()
        if slots is None or self.limit is None:
            return
        demand = slots.wanted
        wanted = max(demand, self._recently_wanted // 2)
        pause = STARVED_S if demand > slots.most else HEARTBEAT_S
        if now < self._heartbeat_at + pause or not (wanted or slots.most or self._recently_wanted):
            return
        # Requests may start until the event loop applies a smaller number of slots, and after it applies a larger one.
        used = max(slots.most, slots.in_flight, *self._unapplied)
        with self._store.transaction(self.model) as (connection, at):
            granted = exchange_slots(connection, at, self.model, self.holder, self.limit, wanted, used)
        self._recently_wanted, self._heartbeat_at = wanted, now
        if granted != slots.most or self._unapplied:
            self._unapplied.append(granted)
            self._loop.call_soon_threadsafe(self._apply)
        if granted < used:
            self._heartbeat_at = now - HEARTBEAT_S + STARVED_S  # to release the others soon

    def _apply(self) -> None:
        """Change the number of slots, on the event loop."""
        assert self.slots is not None
        self.slots.resize(self._unapplied[0])
        self._unapplied.popleft()

    def _draw_permits(self) -> None:
        """Draw permits for waiting requests, and for those that will probably follow."""
        queue, now = self.permits, self._clock()
        if queue is None or now < self._draw_at:
            return
        demand = queue.demand()
        if demand.is_empty:
            return
        tokens = [request.tokens for request in demand.requests]
        try:
            with self._store.transaction(self.model) as (connection, at):
                waits = draw_permits(
                    connection, at, self.model, queue.rates, tokens, demand.further, demand.correction
                )
        except MemflowError:
            queue.restore(demand)
            raise
        now = self._clock()
        permits = [Permit(now + s, each) for s, each in zip(waits, [*tokens, *demand.further], strict=False)]
        self._loop.call_soon_threadsafe(queue.grant, demand, permits)
        if tokens:
            self._draw_at = max(now + DRAW_S, permits[len(tokens) - 1].at - LEAD_S)

    def _wait_for_store(self, error: MemflowError) -> None:
        now = self._clock()
        if self._failing_since is None:
            self._failing_since = now
            logging.getLogger("memflow").warning(
                "the limits of %s wait for their database: %s", self.model, error
            )
        if now - self._failing_since > PATIENCE_S:
            self._failure = error
            self._loop.call_soon_threadsafe(self._fail, error)
        self._closed.wait(HEARTBEAT_S)

    def _fail(self, error: MemflowError) -> None:
        """Let all waiting requests fail, on the event loop."""
        for queue in (self.slots, self.permits):
            if queue is not None:
                queue.fail(error)

    def _release(self) -> None:
        if self.limit is None or self._heartbeat_at == float("-inf"):
            return
        try:
            with self._store.transaction(self.model) as (connection, _):
                release_slots(connection, self.model, self.holder)
        except MemflowError as error:
            logging.getLogger("memflow").warning(
                "the slots of this process stay reserved for some seconds: %s", error
            )


class SharedTurn:
    """One attempt of a request: a slot while it runs, and a permit before it is sent."""

    def __init__(self, gate: SharedGate, size: int) -> None:
        self._gate = gate
        self._size = size
        self._charged = 0.0

    async def __aenter__(self) -> "SharedTurn":
        gate = self._gate
        gate.require_store()
        if gate.slots is not None:
            await gate.slots.__aenter__()
        if gate.permits is not None:
            try:
                self._charged = await gate.permits.wait(self._size)
            except BaseException:
                await self.__aexit__(None, None, None)
                raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._gate.slots is not None:
            await self._gate.slots.__aexit__()

    def settle(self, value: Any) -> None:
        """Count the tokens of a parsed response, if the server reports them."""
        if self._gate.permits is not None and (tokens := reported_tokens(value)):
            self._gate.permits.settle(self._charged, tokens, self._size)


def reported_tokens(value: Any) -> int:
    """Return the tokens that a parsed response reports (resources/endpoints/replies.py), or 0."""
    reply = value[0] if isinstance(value, tuple) else value
    usage = getattr(reply, "usage", None)
    return (getattr(usage, "prompt", None) or 0) + (getattr(usage, "completion", None) or 0)


def shared_gate(store: LimitStore, name: str, model: Model) -> SharedGate:
    """Return the gate of a model of the settings that has limits over processes."""
    rates = Rates(model.requests_per_minute, model.tokens_per_minute)
    identity = digest(model.served_as, sorted(model.addresses) or name)
    return SharedGate(
        store,
        identity,
        total_concurrency=model.total_concurrency,
        rates=None if rates == Rates() else rates,
    )
