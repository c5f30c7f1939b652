"""The transactions of a shared budget: what all processes spent and leased, by process.

The sum of everything spent and leased never exceeds the limit. A process spends only what it leased, so the limit holds
whatever happens. The lease of a process that was killed counts as spent, because its last requests may have been
answered. If the process was only paused, its next report replaces the lease by what it spent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from resources.endpoints.limits import Spending
from resources.shared_limits.tables import budget_spending as table

LEASE_S = 30.0
"""Seconds after its last report until a process counts as ended."""
ROUNDING = 1e-9
"""Errors of sums of costs."""
AMOUNTS = ("calls", "tokens", "cost")
ENDED = ""
"""The holder whose row sums up the spending of the processes that ended well."""


@dataclass(frozen=True)
class LeaseRequest:
    """The report of a process, and the lease that it wants."""

    spent: Spending
    """What the process has spent since its start."""
    reported: Spending
    """The part of it that its last report contained."""
    reserved: Spending
    """The lease for the running requests."""
    usable: Spending
    """The part of the former lease that the process may still use until this transaction ends."""
    wanted: Spending
    """The lease for a waiting request, which is granted as a whole or not at all."""
    further: int
    """The number of further requests that want as much; fewer are granted if the budget nears its end."""


@dataclass(frozen=True)
class LeaseGrant:
    """The lease of a process, and what others have spent."""

    leased: Spending
    recorded: Spending
    """The lease that the database has: more than `leased` where the process may have used more in the meantime."""
    is_enough: bool
    """The lease covers the waiting request."""
    spent_by_others: Spending
    """What other processes spent, with the leases of ended processes."""
    moved: Spending
    """What the process reported, if its row is gone: the budget was reset, or the process counted as ended."""


@dataclass(frozen=True)
class BudgetUse:
    """The spending of a budget by all processes."""

    name: str
    spent: Spending
    leased: Spending
    """The leases of running processes."""
    lost: Spending
    """The leases of processes that ended without a report; they count as spent."""
    running: int
    ended: int
    """The number of processes with a lease in `lost`."""


def exchange_lease(
    connection: Connection,
    now: float,
    budget: str,
    holder: str,
    request: LeaseRequest,
    limits: Mapping[str, float | None],
) -> LeaseGrant:
    """Record what a process spent, and grant it a lease of at most the rest of the budget."""
    rows = connection.execute(sa.select(table).where(table.c.budget == budget)).mappings().all()
    others = [row for row in rows if row["holder"] != holder]
    living = [row for row in others if _is_living(row, now)]
    committed = sum((_of(row, "spent") + _of(row, "leased") for row in others), Spending())
    settled = committed - sum((_of(row, "leased") for row in living), Spending())
    is_new = len(others) == len(rows)
    moved = request.reported if is_new else Spending()
    spent = request.spent - moved
    rests = {
        name: max(0.0, limit - getattr(committed + spent + request.reserved, name))
        for name, limit in limits.items()
        if limit is not None
    }
    wanted = {name: getattr(request.wanted, name) for name in rests}
    is_enough = all(wanted[name] <= rest + ROUNDING for name, rest in rests.items())
    # Not all of the rest, since other processes need some.
    fitting = (
        int((rest - wanted[name]) / (2 * len(living) + 2) / wanted[name])
        for name, rest in rests.items()
        if wanted[name]
    )
    count = 1 + min([request.further, *fitting]) if is_enough else 0
    leased = Spending(
        **{name: getattr(request.reserved, name) + count * each for name, each in wanted.items()}
    )
    in_use = request.reserved + request.usable
    recorded = Spending(**{name: max(getattr(leased, name), getattr(in_use, name)) for name in rests})
    _write(connection, budget, holder, spent, recorded, now + LEASE_S, is_new)
    return LeaseGrant(leased, recorded, is_enough, settled, moved)


def end_lease(connection: Connection, budget: str, holder: str, spent: Spending) -> None:
    """Add what a process spent to the row of ended processes, and remove its own row."""
    rows = connection.execute(sa.select(table).where(table.c.budget == budget)).mappings().all()
    former = next((row for row in rows if row["holder"] == ENDED), None)
    total = spent if former is None else spent + _of(former, "spent")
    _write(connection, budget, ENDED, total, Spending(), 0.0, is_new=former is None)
    connection.execute(sa.delete(table).where(table.c.budget == budget, table.c.holder == holder))


def budget_uses(connection: Connection, now: float) -> list[BudgetUse]:
    """Return the use of all budgets, by name."""
    by_name: dict[str, list[sa.RowMapping]] = {}
    for row in connection.execute(sa.select(table).order_by(table.c.budget)).mappings():
        by_name.setdefault(row["budget"], []).append(row)
    return [_use(name, rows, now) for name, rows in by_name.items()]


def reset_budget(connection: Connection, budget: str) -> bool:
    """Forget what was spent of a budget. Return whether it existed."""
    return connection.execute(sa.delete(table).where(table.c.budget == budget)).rowcount > 0


def release_leases(connection: Connection, now: float, budget: str) -> int:
    """Give the leases of ended processes back to a budget. Return the number of these processes."""
    rows = connection.execute(sa.select(table).where(table.c.budget == budget)).mappings().all()
    ended = [row for row in rows if row["holder"] != ENDED and not _is_living(row, now)]
    for row in ended:
        end_lease(connection, budget, row["holder"], _of(row, "spent"))
    return len(ended)


def _use(name: str, rows: list[sa.RowMapping], now: float) -> BudgetUse:
    living = [row for row in rows if _is_living(row, now)]
    ended = [row for row in rows if row["holder"] != ENDED and not _is_living(row, now)]
    return BudgetUse(
        name,
        sum((_of(row, "spent") for row in rows), Spending()),
        sum((_of(row, "leased") for row in living), Spending()),
        sum((_of(row, "leased") for row in ended), Spending()),
        len(living),
        len(ended),
    )


def _is_living(row: sa.RowMapping, now: float) -> bool:
    # A lease that ends later than a new one was granted before the clock was set back.
    return bool(now < row["expires_at"] <= now + LEASE_S + 1)


def _of(row: sa.RowMapping, prefix: str) -> Spending:
    return Spending(**{name: row[f"{prefix}_{name}"] for name in AMOUNTS})


def _write(
    connection: Connection,
    budget: str,
    holder: str,
    spent: Spending,
    leased: Spending,
    expires_at: float,
    is_new: bool,
) -> None:
    values = {
        **{f"spent_{name}": getattr(spent, name) for name in AMOUNTS},
        **{f"leased_{name}": getattr(leased, name) for name in AMOUNTS},
        "expires_at": expires_at,
    }
    if is_new:
        connection.execute(sa.insert(table).values(budget=budget, holder=holder, **values))
    else:
        condition = (table.c.budget == budget, table.c.holder == holder)
        connection.execute(sa.update(table).where(*condition).values(**values))
