"""The choice of a server: rendezvous hashing of conversations, bounds on load, and turns of requests without a key."""

import math
from collections import Counter
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from resources.endpoints.routing import SLACK, choose, rendezvous_order


@dataclass
class Server:
    url: str
    outstanding: int = 0
    capacity: int = 64


URLS = st.lists(st.integers(1, 9999), min_size=2, max_size=8, unique=True).map(
    lambda ports: tuple(f"http://127.0.0.1:{port}/v1" for port in ports)
)
KEYS = st.text(min_size=1, max_size=40)


@given(urls=URLS, key=KEYS, data=st.data())
def test_removed_address_leaves_the_order_of_the_others_unchanged(
    urls: tuple[str, ...], key: str, data: st.DataObject
) -> None:
    order = rendezvous_order(key, urls)
    assert sorted(order) == sorted(urls)
    removed = data.draw(st.sampled_from(urls))
    left = tuple(url for url in urls if url != removed)
    assert rendezvous_order(key, left) == tuple(url for url in order if url != removed)
    assert rendezvous_order(key, urls[::-1]) == order


def test_removing_one_address_moves_only_its_keys_and_spreads_them_over_the_others() -> None:
    urls = tuple(f"http://host-{number}:8000/v1" for number in range(4))
    before = {f"episode {number}": rendezvous_order(f"episode {number}", urls)[0] for number in range(4000)}
    after = {key: rendezvous_order(key, urls[1:])[0] for key in before}
    moved = {key for key in before if before[key] != after[key]}
    assert moved == {key for key in before if before[key] == urls[0]}
    counts = Counter(before.values())
    assert all(850 < counts[url] < 1150 for url in urls), counts
    assert all(250 < number < 420 for number in Counter(after[key] for key in moved).values())


@given(
    urls=URLS,
    keys=st.lists(KEYS, min_size=1, max_size=300),
    capacities=st.lists(st.integers(1, 80), min_size=8, max_size=8),
)
def test_load_of_no_server_exceeds_the_bound_while_requests_only_arrive(
    urls: tuple[str, ...], keys: list[str], capacities: list[int]
) -> None:
    servers = [Server(url, 0, capacity) for url, capacity in zip(urls, capacities, strict=False)]
    for key in keys:
        least = min(each.outstanding / each.capacity for each in servers)
        chosen = choose(key, servers)
        assert chosen.outstanding <= least * chosen.capacity + max(1, SLACK * chosen.capacity)
        if least < 1:
            assert chosen.outstanding < chosen.capacity
        chosen.outstanding += 1
    total, places = sum(each.outstanding for each in servers), sum(each.capacity for each in servers)
    if total <= places:
        assert all(each.outstanding <= each.capacity for each in servers)


def test_conversation_stays_at_its_first_server_while_the_load_is_even() -> None:
    servers = [Server(f"http://host-{number}/v1") for number in range(3)]
    first = {f"{number}": choose(f"{number}", servers).url for number in range(100)}
    for each in servers:
        each.outstanding = 40
    assert {key: choose(key, servers).url for key in first} == first
    assert len(set(first.values())) == 3


def test_conversation_moves_to_its_second_server_and_back_when_the_first_is_overloaded() -> None:
    servers = [Server(f"http://host-{number}/v1") for number in range(3)]
    order = rendezvous_order("a", tuple(each.url for each in servers))
    first = next(each for each in servers if each.url == order[0])
    first.outstanding = 17
    assert choose("a", servers).url == order[1]
    first.outstanding = 16
    assert choose("a", servers).url == order[0]


@given(outstanding=st.lists(st.integers(0, 70), min_size=2, max_size=6), turn=st.integers(0, 1000))
def test_request_without_a_key_goes_to_a_least_loaded_server(outstanding: list[int], turn: int) -> None:
    servers = [Server(f"http://host-{number}/v1", load) for number, load in enumerate(outstanding)]
    assert choose("", servers, turn).outstanding == min(outstanding)


def test_requests_without_a_key_take_turns_among_equally_loaded_servers() -> None:
    servers = [Server(f"http://host-{number}/v1") for number in range(3)]
    used = Counter(choose("", servers, turn).url for turn in range(9))
    assert set(used.values()) == {3}


def test_load_is_relative_to_the_capacity_of_each_server() -> None:
    small, large = Server("http://small/v1", 8, 16), Server("http://large/v1", 24, 64)
    assert choose("", [small, large]) is large
    assert math.isclose(small.outstanding / small.capacity, 0.5)
