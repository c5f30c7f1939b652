"""Slots of a total concurrency: clients in any order of heartbeats, requests and crashes stay within the limit."""

import asyncio
import uuid
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.shared_limits.slots import SLOTS_S, SlotQueue, divide, exchange_slots
from resources.shared_limits.store import LimitStore


class SlotClient:
    """A client without its thread: the test sends the heartbeats."""

    def __init__(self, store: LimitStore, model: str, limit: int) -> None:
        self.store, self.model, self.limit = store, model, limit
        self.holder = uuid.uuid4().hex
        self.most = self.running = self.waiting = 0

    def heartbeat(self) -> None:
        used = max(self.most, self.running)
        wanted = self.running + self.waiting
        with self.store.transaction(self.model) as (connection, now):
            self.start()  # requests may start until the transaction ends
            self.most = exchange_slots(connection, now, self.model, self.holder, self.limit, wanted, used)
        self.start()

    def start(self) -> None:
        started = min(self.waiting, max(0, self.most - self.running))
        self.running += started
        self.waiting -= started


class ManualTime:
    now = 1_000_000.0

    def __call__(self, _: object) -> float:
        return self.now


@pytest.fixture
def time() -> ManualTime:
    return ManualTime()


@pytest.fixture
def store(either_url: str, time: ManualTime) -> Iterator[LimitStore]:
    store = LimitStore(either_url, now=time)
    yield store
    store.close()


@pytest.fixture(scope="module")
def sqlite_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LimitStore, ManualTime]]:
    time = ManualTime()
    store = LimitStore(f"sqlite:///{tmp_path_factory.mktemp('slots')}/ledger.sqlite", now=time)
    yield store, time
    store.close()


@settings(deadline=None)
@given(
    limit=st.integers(1, 20),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["ask", "heartbeat", "heartbeat", "answer", "crash"]),
            st.integers(0, 4),
            st.integers(1, 9),
        ),
        max_size=60,
    ),
)
def test_running_requests_never_exceed_the_limit_and_converge_to_equal_shares(
    sqlite_store: tuple[LimitStore, ManualTime], limit: int, steps: list[tuple[str, int, int]]
) -> None:
    store, time = sqlite_store
    model = uuid.uuid4().hex
    clients = [SlotClient(store, model, limit) for _ in range(5)]
    crashed: list[SlotClient] = []
    for step, number, count in steps:
        client = clients[number]
        if step == "ask":
            client.waiting += count
            client.start()
        elif step == "heartbeat":
            client.heartbeat()
        elif step == "answer":
            client.running = max(0, client.running - count)
            client.start()
        elif step == "crash":
            crashed.append(client)
            clients[number] = SlotClient(store, model, limit)
        assert sum(client.running for client in (*clients, *crashed)) <= limit
    # Each client wants the whole limit. Running requests end.
    for client in clients:
        client.waiting = limit
    time.now += SLOTS_S / 2
    for _ in range(2):
        for client in clients:
            client.heartbeat()
    time.now += SLOTS_S / 2 + 1  # the slots of crashed clients have expired
    for _ in range(4):
        for client in clients:
            client.waiting += client.running
            client.running = 0
            client.heartbeat()
        assert sum(client.running for client in clients) <= limit
    shares = sorted(client.most for client in clients)
    assert sum(shares) == limit
    assert shares[-1] - shares[0] <= 1


def test_slots_of_a_killed_client_return_after_its_last_heartbeat_expires(
    store: LimitStore, time: ManualTime
) -> None:
    model = uuid.uuid4().hex
    killed, other = (SlotClient(store, model, 8) for _ in range(2))
    for client in (killed, other) * 3:
        client.waiting = 8
        client.running = 0
        client.heartbeat()
    assert (killed.most, other.most) == (4, 4)
    time.now += SLOTS_S - 1
    other.heartbeat()
    assert other.most == 4
    time.now += 2
    other.heartbeat()
    assert other.most == 8


def test_clock_that_is_set_back_expires_the_slots_of_killed_clients(
    store: LimitStore, time: ManualTime
) -> None:
    model = uuid.uuid4().hex
    killed, other = (SlotClient(store, model, 8) for _ in range(2))
    killed.waiting = other.waiting = 8
    killed.heartbeat()
    time.now -= 3600
    other.heartbeat()
    assert (killed.most, other.most) == (8, 8)


def test_client_that_wants_little_leaves_the_rest_to_others() -> None:
    assert divide(10, {"a": 1, "b": 100, "c": 100}, 0) == {"a": 1, "b": 4, "c": 5} or divide(
        10, {"a": 1, "b": 100, "c": 100}, 0
    ) == {"a": 1, "b": 5, "c": 4}
    assert divide(10, {"a": 0, "b": 3}, 0) == {"a": 0, "b": 3}


def test_more_clients_than_slots_take_turns() -> None:
    wants = dict.fromkeys("abcdefgh", 1)
    served = {name for period in range(100) for name, share in divide(2, wants, period).items() if share}
    assert served == set(wants)
    assert all(sum(divide(2, wants, period).values()) == 2 for period in range(100))


async def test_slot_queue_admits_by_its_changing_limit() -> None:
    asked: list[int] = []
    queue = SlotQueue(lambda: asked.append(1))
    running = [asyncio.create_task(queue.__aenter__()) for _ in range(3)]
    await asyncio.sleep(0)
    assert (queue.in_flight, queue.wanted, len(asked)) == (0, 3, 3)
    queue.resize(2)
    await asyncio.sleep(0)
    assert (queue.in_flight, queue.wanted) == (2, 3)
    queue.resize(1)
    await queue.__aexit__()
    assert (queue.in_flight, queue.wanted) == (1, 2)
    queue.fail(ValueError("gone"))
    assert sorted(type(each).__name__ for each in await asyncio.gather(*running, return_exceptions=True)) == [
        "SlotQueue",
        "SlotQueue",
        "ValueError",
    ]
