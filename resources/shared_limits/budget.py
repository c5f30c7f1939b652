"""A budget that all processes with one ledger share under a name. leases.py contains its transactions."""

import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import fields

from memflow.errors import MemflowError
from resources.endpoints.limits import Budget, Spending
from resources.shared_limits.leases import (
    AMOUNTS,
    LEASE_S,
    ROUNDING,
    LeaseRequest,
    end_lease,
    exchange_lease,
)
from resources.shared_limits.store import LimitStore

REPORT_S = 1.0
"""Seconds between two reports of a process that spends."""
RENEWAL_S = LEASE_S / 3
"""Seconds between two reports of a process whose requests take long."""
MAX_REQUESTS = 256
"""Maximum number of further requests that a lease covers."""
CROWDED_S = 0.2
"""Seconds until the next report if the budget did not cover the waiting requests."""
PATIENCE_S = 60.0
"""Seconds without the database after which requests fail."""


class SharedBudget(Budget):
    """A budget of which a process leases a part, so that few requests need a transaction. Close it after use.

    A thread reports what was spent, and leases more when requests wait. `reserve` never waits for the database.
    """

    def __init__(
        self,
        name: str,
        store: LimitStore,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        holder: str = "",
        clock: Callable[[], float] = time.monotonic,
        threaded: bool = True,
    ) -> None:
        super().__init__(calls, tokens, cost)
        self.name = name
        self.holder = holder or uuid.uuid4().hex
        self._store = store
        self._clock = clock
        self._ceiling = Spending()
        """What the process may have spent and reserved, by its lease."""
        self._reported = self._moved = Spending()
        self._by_others = Spending()
        self._wanted = Spending()
        """The largest reservation that the lease did not cover, since the last report."""
        self._last_wanted = Spending()
        self._shrinks = False
        """The database has a larger lease, of which the next report returns a part."""
        self._further = 0
        """The number of further requests that the next lease covers."""
        self._exchanged_at = self._waited_at = float("-inf")
        self._failing_since: float | None = None
        self._failure: MemflowError | None = None
        self._wake, self._closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._serve, name=f"budget {name}", daemon=True)
        if threaded:
            self._thread.start()

    def reserve(self, most: Spending) -> bool:
        """Reserve spending. Return False if the lease does not cover it yet. Raises BudgetSpent and StoreFailed."""
        with self._lock:
            self._require_rest(self._by_others + self.spent - self._moved + most)
            if self._failure is not None:
                raise self._failure
            if self._covers(self.spent + self._reserved + most):
                self._reserved += most
                return True
            self._wanted = _most(self._wanted, most)
        self._wake.set()
        return False

    def report(self) -> bool:
        """Record what was spent, and lease what running and waiting requests need. Return whether all was granted."""
        with self._lock:
            now = self._clock()
            waited = self._wanted != Spending()
            if waited:
                often = now - self._waited_at < REPORT_S
                self._further = min(MAX_REQUESTS, max(1, 2 * self._further)) if often else self._further
                self._last_wanted, self._waited_at = self._wanted, now
            else:
                self._further //= 2
            spent = self.spent
            wanted = self._last_wanted if waited or self._further else Spending()
            usable = _most(self._ceiling - spent - self._reserved, Spending())
            request = LeaseRequest(
                spent - self._moved, self._reported, self._reserved, usable, wanted, self._further
            )
            self._wanted = Spending()
        limits = {name: getattr(self, name) for name in AMOUNTS}
        with self._store.transaction(self.name) as (connection, time_):
            grant = exchange_lease(connection, time_, self.name, self.holder, request, limits)
        with self._lock:
            self._moved += grant.moved
            self._reported = spent - self._moved
            self._ceiling = spent + grant.leased
            self._shrinks = grant.recorded != grant.leased
            self._by_others = grant.spent_by_others
            self._exchanged_at = self._clock()
        return grant.is_enough

    def is_due(self) -> bool:
        """Return whether a report would change anything."""
        with self._lock:
            if self._shrinks or self._wanted != Spending() or self.spent - self._moved != self._reported:
                return True
            rest = self._ceiling - self.spent - self._reserved
            if any(
                abs(getattr(rest, name)) > ROUNDING for name in AMOUNTS if getattr(self, name) is not None
            ):
                return self._exchanged_at > float("-inf")
            return self._reserved != Spending() and self._clock() - self._exchanged_at > RENEWAL_S

    def close(self) -> None:
        """Report what was spent, and return the lease. A failure is logged: then the lease counts as spent."""
        self._closed.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._exchanged_at == float("-inf") and self.spent == Spending():
            return
        try:
            self._further = 0
            self.report()
            with self._store.transaction(self.name) as (connection, _):
                end_lease(connection, self.name, self.holder, self.spent - self._moved)
        except MemflowError as error:
            logging.getLogger("memflow").warning(
                "the budget %s did not get the last report of this process (%s), so its lease counts as spent. "
                "`memflow budget release %s` gives such leases back.",
                *(self.name, error, self.name),
            )

    def _serve(self) -> None:
        while True:
            self._wake.wait(REPORT_S)
            self._wake.clear()
            if self._closed.is_set():
                return
            if not self.is_due():
                continue
            try:
                is_enough = self.report()
            except MemflowError as error:
                self._wait_for_store(error)
            else:
                self._failing_since = self._failure = None
                if not is_enough:
                    self._closed.wait(CROWDED_S)

    def _wait_for_store(self, error: MemflowError) -> None:
        """Keep the lease for a time while the database cannot be used; then let requests fail."""
        now = self._clock()
        if self._failing_since is None:
            self._failing_since = now
            logging.getLogger("memflow").warning("the budget %s waits for its database: %s", self.name, error)
        if now - self._failing_since > PATIENCE_S:
            self._failure = error
        self._closed.wait(REPORT_S)

    def _broken(self, then: Spending) -> str:
        broken = super()._broken(then)
        return broken and f"{broken} that processes share as {self.name}"

    def _covers(self, then: Spending) -> bool:
        return all(
            getattr(self, name) is None or getattr(then, name) <= getattr(self._ceiling, name) + ROUNDING
            for name in AMOUNTS
        )


def _most(one: Spending, other: Spending) -> Spending:
    return Spending(*(max(getattr(one, each.name), getattr(other, each.name)) for each in fields(Spending)))
