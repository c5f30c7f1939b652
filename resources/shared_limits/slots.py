"""The division of a model's total concurrency among its clients, in all processes.

Each client records how many slots it uses and wants. A new client gets the slots that are free. The others reduce
theirs with their next heartbeat, and release a slot when its request has ended. So the sum never exceeds the limit.
"""

from collections.abc import Callable, Mapping
from zlib import crc32

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from resources.endpoints.limits import AdaptiveLimiter
from resources.shared_limits.tables import concurrency_slots as table

HEARTBEAT_S = 1.0
"""Seconds between two heartbeats of a client with slots."""
SLOTS_S = 15.0
"""Seconds after its last heartbeat until a client counts as ended."""
ROTATION_S = 10
"""Seconds after which the slots that cannot be divided equally go to other clients."""


class SlotQueue(AdaptiveLimiter):
    """A limiter whose limit is changed while requests run, and is 0 at first. It belongs to one event loop."""

    def __init__(self, on_wait: Callable[[], None]) -> None:
        super().__init__(0)
        self._on_wait = on_wait

    async def __aenter__(self) -> "SlotQueue":
        if self.in_flight >= self.most:
            self._on_wait()
        await super().__aenter__()
        return self

    @property
    def wanted(self) -> int:
        """The number of requests that run or wait."""
        return self.in_flight + sum(not turn.done() for _, _, turn in self._waiting)

    def resize(self, most: int) -> None:
        """Change the limit, and admit waiting requests."""
        self.most, self.limit = most, float(most)
        self.in_flight += 1
        self._leave()

    def fail(self, error: Exception) -> None:
        """Let all waiting requests raise an error."""
        waiting, self._waiting = self._waiting, []
        for _, _, turn in waiting:
            if not turn.done():
                turn.set_exception(error)


def exchange_slots(
    connection: Connection, now: float, model: str, holder: str, limit: int, wanted: int, used: int
) -> int:
    """Record a heartbeat of a client, and return the number of slots that it may use from now on.

    `used` is the number of slots that the client may use until this transaction ends.
    """
    condition = table.c.model == model
    rows = connection.execute(sa.select(table).where(condition)).all()
    # A time further in the future was recorded before the clock was set back.
    living = {row.holder: row for row in rows if now < row.expires_at <= now + SLOTS_S + 1}
    ended = [row.holder for row in rows if row.holder not in living]
    if ended:
        connection.execute(sa.delete(table).where(condition, table.c.holder.in_(ended)))
    own = living.pop(holder, None)
    wants = {**{name: row.wanted for name, row in living.items()}, holder: wanted}
    target = divide(limit, wants, int(now // ROTATION_S))[holder]
    granted = max(0, min(target, limit - sum(row.slots for row in living.values())))
    values = {"slots": max(granted, used), "wanted": wanted, "expires_at": now + SLOTS_S}
    if own is None and (values["slots"] or wanted):
        connection.execute(sa.insert(table).values(model=model, holder=holder, **values))
    elif own is not None and (values["slots"] or wanted):
        connection.execute(sa.update(table).where(condition, table.c.holder == holder).values(**values))
    elif own is not None:
        connection.execute(sa.delete(table).where(condition, table.c.holder == holder))
    return granted


def release_slots(connection: Connection, model: str, holder: str) -> None:
    """Remove a client that has ended."""
    connection.execute(sa.delete(table).where(table.c.model == model, table.c.holder == holder))


def divide(limit: int, wants: Mapping[str, int], period: int) -> dict[str, int]:
    """Return the slots of each client: what it wants, but no more than its equal share of what is left.

    What cannot be divided equally goes to other clients in each period.
    """
    order = sorted(wants, key=lambda name: (wants[name], crc32(f"{name} {period}".encode()), name))
    shares: dict[str, int] = {}
    for place, name in enumerate(order):
        shares[name] = min(wants[name], limit // (len(order) - place))
        limit -= shares[name]
    return shares
