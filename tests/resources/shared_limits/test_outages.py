"""Shared limits without their database: leases go on, waiting requests go on later, and fail after a time."""

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from memflow.errors import StoreFailed
from resources.endpoints.limits import Spending
from resources.shared_limits import budget as budget_module
from resources.shared_limits import gate as gate_module
from resources.shared_limits.budget import SharedBudget
from resources.shared_limits.gate import SharedGate
from resources.shared_limits.leases import budget_uses
from resources.shared_limits.rates import Rates
from resources.shared_limits.store import LimitStore


class InterruptedStore(LimitStore):
    """A store whose database can be down."""

    is_down = False

    @contextmanager
    def transaction(self, name: str) -> Iterator[tuple[sa.Connection, float]]:
        if self.is_down:
            raise StoreFailed("lost the connection")
        with super().transaction(name) as found:
            yield found


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InterruptedStore]:
    for module, name in [
        (budget_module, "REPORT_S"),
        (gate_module, "HEARTBEAT_S"),
        (gate_module, "STARVED_S"),
    ]:
        monkeypatch.setattr(module, name, 0.02)
    store = InterruptedStore(f"sqlite:///{tmp_path}/ledger.sqlite")
    yield store
    store.close()


def test_budget_spends_its_lease_during_an_outage_and_reports_it_later(store: InterruptedStore) -> None:
    budget = SharedBudget("b", store, calls=100, threaded=False)
    for _ in range(5):
        while not budget.reserve(Spending(1)):
            budget.report()
        budget.settle(Spending(1), Spending(1))
    for _ in range(3):
        assert budget.reserve(Spending(1)) or budget.report()
    store.is_down = True
    spent = 5
    with pytest.raises(StoreFailed):
        budget.report()
    while budget.reserve(Spending(1)):
        budget.settle(Spending(1), Spending(1))
        spent += 1
    assert 5 < spent < 100
    store.is_down = False
    budget.close()
    with store.transaction("") as (connection, now):
        (use,) = budget_uses(connection, now)
    assert use.spent.calls == spent


async def test_requests_of_a_budget_wait_for_the_database(store: InterruptedStore) -> None:
    store.is_down = True
    budget = SharedBudget("b", store, calls=100)

    async def request() -> None:
        async with budget.admit(Spending(1)) as took:
            took.append(Spending(1))

    waiting = [asyncio.create_task(request()) for _ in range(10)]
    await asyncio.sleep(0.2)
    assert not any(each.done() for each in waiting)
    store.is_down = False
    await asyncio.wait_for(asyncio.gather(*waiting), 30)
    await asyncio.to_thread(budget.close)


async def test_requests_fail_after_a_long_outage(
    store: InterruptedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (budget_module, gate_module):
        monkeypatch.setattr(module, "PATIENCE_S", 0.1)
    store.is_down = True
    budget = SharedBudget("b", store, calls=100)
    with pytest.raises(StoreFailed):
        async with asyncio.timeout(30), budget.admit(Spending(1)):
            pass
    for limits in ({"total_concurrency": 4}, {"rates": Rates(600)}):
        async with SharedGate(store, "m", **limits) as gate:  # type: ignore[arg-type]
            with pytest.raises(StoreFailed):
                async with asyncio.timeout(30), gate.turn(100):
                    pass
    await asyncio.to_thread(budget.close)


async def test_gate_goes_on_after_an_outage_without_losing_a_request(store: InterruptedStore) -> None:
    running, most = 0, 0

    async def request(gate: SharedGate) -> None:
        nonlocal running, most
        async with gate.turn(100):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.005)
            running -= 1

    async with SharedGate(store, "m", total_concurrency=3, rates=Rates(60_000)) as gate:
        tasks = [asyncio.create_task(request(gate)) for _ in range(120)]
        await asyncio.sleep(0.1)
        store.is_down = True
        await asyncio.sleep(0.2)
        store.is_down = False
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
    assert most == 3
    with store.transaction("m") as (connection, _):
        assert connection.exec_driver_sql("SELECT count(*) FROM concurrency_slots").scalar() == 0


async def test_threads_of_limits_survive_an_error_that_is_none_of_the_database(
    store: InterruptedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLAlchemy's pool raises a TimeoutError of its own, which is no DBAPIError."""
    is_crowded = True
    open_store = store._open

    def open_engine() -> sa.Engine:
        if is_crowded:
            raise sa.exc.TimeoutError("QueuePool limit of size 5 overflow 10 reached")
        return open_store()

    monkeypatch.setattr(store, "_open", open_engine)
    message = r"cannot use the ledger .*QueuePool.*Fix the database"
    with pytest.raises(StoreFailed, match=message), store.transaction("b"):
        pass
    budget = SharedBudget("b", store, calls=100)

    async def request(gate: SharedGate) -> None:
        async with gate.turn(100), budget.admit(Spending(1)) as took:
            took.append(Spending(1))

    async with SharedGate(store, "m", total_concurrency=3, rates=Rates(60_000)) as gate:
        waiting = [asyncio.create_task(request(gate)) for _ in range(10)]
        await asyncio.sleep(0.2)
        assert not any(each.done() for each in waiting)
        is_crowded = False
        await asyncio.wait_for(asyncio.gather(*waiting), 30)
    await asyncio.to_thread(budget.close)


async def test_cancelled_requests_return_their_slots(store: InterruptedStore) -> None:
    async with SharedGate(store, "m", total_concurrency=2, rates=Rates(1)) as gate:
        async with gate.turn(0):
            pass
        waiting = [asyncio.create_task(gate.turn(0).__aenter__()) for _ in range(3)]
        await asyncio.sleep(0.1)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert gate.slots is not None and gate.slots.wanted == 0


@pytest.mark.postgres
async def test_connections_that_the_server_ends_lose_no_call(postgres_ledger_url: str) -> None:
    name = uuid.uuid4().hex
    store = LimitStore(postgres_ledger_url)
    budget = SharedBudget(name, store, calls=400)

    async def request() -> None:
        async with budget.admit(Spending(1)) as took:
            await asyncio.sleep(0.02)
            took.append(Spending(1))

    admin = sa.create_engine(postgres_ledger_url)
    others = "pid <> pg_backend_pid() AND datname IS NOT NULL"
    end_all = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
    for _ in range(5):
        tasks = [asyncio.create_task(request()) for _ in range(80)]
        with admin.connect() as connection:
            connection.exec_driver_sql(end_all)
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
    await asyncio.to_thread(budget.close)
    with store.transaction("") as (connection, now):
        (use,) = (use for use in budget_uses(connection, now) if use.name == name)
    assert (use.spent.calls, use.leased.calls, use.lost.calls) == (400, 0, 0)
    admin.dispose()
    store.close()
