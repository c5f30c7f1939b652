"""Shared budgets: any order of reservations, settlements, reports and crashes keeps the limit and loses nothing."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from memflow.errors import BudgetSpent
from resources.endpoints.limits import Spending
from resources.shared_limits.budget import SharedBudget
from resources.shared_limits.leases import LEASE_S, BudgetUse, budget_uses, release_leases, reset_budget
from resources.shared_limits.store import LimitStore


class ManualClock:
    """A clock of processes and database that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self, *_: object) -> float:
        return self.now


class BudgetProcess:
    """A process with a budget, without its thread: the test reports in its place."""

    def __init__(self, name: str, store: LimitStore, clock: ManualClock, **limits: float) -> None:
        self.budget = SharedBudget(name, store, clock=clock, threaded=False, **limits)  # type: ignore[arg-type]
        self.running: list[Spending] = []
        self.spent = Spending()

    def reserve(self, most: Spending) -> bool | None:
        """Return whether a request was admitted; None if the budget is spent."""
        try:
            admitted = self.budget.reserve(most)
        except BudgetSpent:
            return None
        if admitted:
            self.running.append(most)
        return admitted

    def report(self, meanwhile: Spending | None = None) -> None:
        """Report, and reserve spending for a request during the transaction."""
        store = self.budget._store
        begin = store.transaction

        @contextmanager
        def transaction(name: str) -> Iterator[tuple[sa.Connection, float]]:
            with begin(name) as (connection, now):
                if meanwhile is not None:
                    self.reserve(meanwhile)
                yield connection, now

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "transaction", transaction)
            self.budget.report()

    def settle(self, share: float) -> None:
        most = self.running.pop()
        spent = Spending(most.calls, int(most.tokens * share))
        self.budget.settle(most, spent)
        self.spent += spent

    @property
    def most(self) -> Spending:
        """What the process may have spent at most if it is killed now."""
        return self.spent + sum(self.running, Spending())


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(either_url: str, clock: ManualClock) -> Iterator[LimitStore]:
    store = LimitStore(either_url, now=clock)
    yield store
    store.close()


def use_of(store: LimitStore, name: str) -> BudgetUse:
    with store.transaction("") as (connection, now):
        return next(use for use in budget_uses(connection, now) if use.name == name)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "reserve", "settle", "report", "report", "crash", "end", "pause"]),
        st.integers(0, 3),
        st.integers(1, 40),
        st.floats(0, 1),
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def sqlite_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LimitStore, ManualClock]]:
    clock = ManualClock()
    store = LimitStore(f"sqlite:///{tmp_path_factory.mktemp('limits')}/ledger.sqlite", now=clock)
    yield store, clock
    store.close()


@settings(deadline=None)
@given(steps=STEPS, calls=st.integers(1, 30), tokens=st.integers(1, 400))
def test_limit_holds_and_no_spending_is_lost_in_any_order_of_steps(
    sqlite_store: tuple[LimitStore, ManualClock],
    steps: list[tuple[str, int, int, float]],
    calls: int,
    tokens: int,
) -> None:
    store, clock = sqlite_store
    name = uuid.uuid4().hex

    def start() -> BudgetProcess:
        return BudgetProcess(name, store, clock, calls=calls, tokens=tokens)

    living = [start() for _ in range(4)]
    crashed: list[BudgetProcess] = []
    ended: list[BudgetProcess] = []
    for step, number, size, share in steps:
        process = living[number]
        if step == "reserve":
            process.reserve(Spending(1, size))
        elif step == "settle" and process.running:
            process.settle(share)
        elif step == "report":
            process.report(Spending(1, size) if share > 0.5 else None)
        elif step == "crash":
            crashed.append(process)
            living[number] = start()
        elif step == "end" and not process.running:
            process.budget.close()
            ended.append(process)
            living[number] = start()
        elif step == "pause":
            clock.now += LEASE_S * share * 1.5
        most = sum((each.most for each in (*living, *crashed, *ended)), Spending())
        assert most.calls <= calls
        assert most.tokens <= tokens
        with store.transaction("") as (connection, now):
            uses = [use for use in budget_uses(connection, now) if use.name == name]
        counted = sum((use.spent + use.leased + use.lost for use in uses), Spending())
        assert most.calls <= counted.calls <= calls
        assert most.tokens <= counted.tokens <= tokens
    for process in living:
        while process.running:
            process.settle(1.0)
        process.budget.close()
    if not any(each.most.calls for each in (*living, *crashed, *ended)):
        return
    use = use_of(store, name)
    well = sum((each.spent for each in (*living, *ended)), Spending())
    all_spent = sum((each.spent for each in crashed), well)
    counted = use.spent + use.leased + use.lost
    assert counted.calls >= all_spent.calls
    assert counted.tokens >= all_spent.tokens
    assert counted.calls <= calls
    if not crashed:
        assert (use.spent, use.leased, use.lost) == (well, Spending(), Spending())


def spend(process: BudgetProcess, requests: int) -> int:
    """Send requests one after another, with a report where the lease is used up. Return how many were admitted."""
    admitted = 0
    for _ in range(requests):
        result = process.reserve(Spending(1))
        if result is False:
            process.budget.report()
            result = process.reserve(Spending(1))
        if not result:
            break
        process.settle(1.0)
        admitted += 1
    return admitted


def test_processes_share_a_budget_to_its_last_call(store: LimitStore, clock: ManualClock) -> None:
    name = uuid.uuid4().hex
    processes = [BudgetProcess(name, store, clock, calls=300) for _ in range(4)]
    total = 0
    for _ in range(60):
        total += sum(spend(process, 7) for process in processes)
        for process in processes:
            process.budget.report()
            process.budget.report()
    assert total == 300
    with pytest.raises(BudgetSpent, match="that processes share as"):
        processes[0].budget.reserve(Spending(1))


def test_lease_lets_most_requests_pass_without_a_transaction(store: LimitStore, clock: ManualClock) -> None:
    process = BudgetProcess(uuid.uuid4().hex, store, clock, calls=100_000)
    reports = 0
    for _ in range(5000):
        if not process.reserve(Spending(1)):
            process.budget.report()
            reports += 1
            assert process.reserve(Spending(1))
        process.settle(1.0)
    assert reports < 50


def test_lease_of_a_killed_process_counts_as_spent_until_it_is_released(
    store: LimitStore, clock: ManualClock
) -> None:
    name = uuid.uuid4().hex
    killed, other = (BudgetProcess(name, store, clock, calls=10) for _ in range(2))
    for _ in range(4):
        assert killed.reserve(Spending(1)) or (killed.budget.report() and killed.reserve(Spending(1)))
    killed.settle(1.0)
    for _ in range(4):  # the lease shrinks to what runs
        killed.budget.report()
    assert spend(other, 10) == 6
    clock.now += LEASE_S + 1
    other.budget.report()
    use = use_of(store, name)
    assert (use.lost.calls, use.ended) == (3, 1)
    assert use.spent.calls == 7
    assert other.reserve(Spending(1)) is None
    with store.transaction(name) as (connection, now):
        assert release_leases(connection, now, name) == 1
    other.budget.report()
    assert spend(other, 10) == 3


def test_process_that_was_only_paused_reports_what_it_spent(store: LimitStore, clock: ManualClock) -> None:
    name = uuid.uuid4().hex
    paused, other = (BudgetProcess(name, store, clock, calls=100) for _ in range(2))
    spend(paused, 5)
    assert paused.reserve(Spending(1)) or (paused.budget.report() and paused.reserve(Spending(1)))
    clock.now += 10 * LEASE_S
    other.budget.report()
    assert use_of(store, name).ended == 1
    with store.transaction(name) as (connection, now):
        release_leases(connection, now, name)
    paused.settle(1.0)
    paused.budget.close()
    other.budget.close()
    use = use_of(store, name)
    assert (use.spent.calls, use.lost.calls, use.leased.calls) == (6, 0, 0)


def test_lease_that_is_used_during_a_report_stays_leased(store: LimitStore, clock: ManualClock) -> None:
    """A report for a larger request that does not fit would otherwise give away what a smaller one uses."""
    name = uuid.uuid4().hex
    process, other = (BudgetProcess(name, store, clock, tokens=100) for _ in range(2))
    for _ in range(2):
        assert not process.reserve(Spending(1, 10))
        process.report()
        assert process.reserve(Spending(1, 10))
    assert process.budget._ceiling.tokens == 30
    assert not other.reserve(Spending(1, 70))
    other.report()
    assert other.reserve(Spending(1, 70))
    assert not process.reserve(Spending(1, 50))
    process.report(meanwhile=Spending(1, 10))
    assert process.most.tokens == 30
    other.settle(1.0)
    assert not other.reserve(Spending(1, 10))
    other.report()
    assert other.reserve(Spending(1, 10)) is not True
    assert use_of(store, name).leased.tokens == 30


def test_reset_budget_forgets_what_was_spent_before(store: LimitStore, clock: ManualClock) -> None:
    name = uuid.uuid4().hex
    process = BudgetProcess(name, store, clock, calls=10)
    assert spend(process, 20) == 10
    process.budget.report()
    with store.transaction(name) as (connection, _):
        assert reset_budget(connection, name)
    process.budget.report()
    assert spend(process, 20) == 10
    process.budget.close()
    assert use_of(store, name).spent.calls == 10


def test_clock_that_is_set_back_does_not_revive_the_lease_of_a_killed_process(
    store: LimitStore, clock: ManualClock
) -> None:
    name = uuid.uuid4().hex
    killed, other = (BudgetProcess(name, store, clock, calls=10) for _ in range(2))
    spend(killed, 1)
    clock.now -= 3600
    other.budget.report()
    assert use_of(store, name).running == 1


def test_budget_without_requests_leaves_no_rows(
    sqlite_store: tuple[LimitStore, ManualClock], tmp_path: Path
) -> None:
    store, clock = sqlite_store
    name = uuid.uuid4().hex
    BudgetProcess(name, store, clock, calls=10).budget.close()
    with store.transaction("") as (connection, now):
        assert name not in [use.name for use in budget_uses(connection, now)]
