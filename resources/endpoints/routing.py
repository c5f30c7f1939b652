"""The choice of a server for a request, if several servers serve one model.

Requests of one conversation have a key, and go to the server that rendezvous hashing ranks first for the key, as long
as its load allows. Requests without a key go to the least loaded server. replicas.py knows which servers respond.

Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on Networking,
1998 (highest random weight); Mirrokni, Thorup and Zadimoghaddam, "Consistent Hashing with Bounded Loads", SODA 2018.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol, TypeVar

SLACK = 0.25
"""How much more load than the least loaded server a key's first server may have, as a share of its own limit."""


class LoadedServer(Protocol):
    """The protocol of a server: its address, its outstanding requests, and how many it answers at once."""

    @property
    def url(self) -> str: ...
    @property
    def outstanding(self) -> int: ...
    @property
    def capacity(self) -> int: ...


S = TypeVar("S", bound=LoadedServer)


@lru_cache(maxsize=65536)
def rendezvous_order(key: str, urls: tuple[str, ...]) -> tuple[str, ...]:
    """Return the addresses in the order in which a key prefers them.

    The order of two addresses depends on the key and on these two alone. So a removed address moves only the keys that
    preferred it, and each to its next address.
    """

    def weight(url: str) -> bytes:
        return blake2b(f"{key}\n{url}".encode("utf-8", "surrogatepass"), digest_size=8).digest()

    return tuple(sorted(urls, key=weight, reverse=True))


def choose(key: str, servers: Sequence[S], turn: int = 0) -> S:
    """Return the server for the next request. `servers` is not empty, and `turn` counts the requests.

    A key gets the first server of its order that satisfies two bounds. The server has a free place if any server has
    one. And it has at most SLACK of its capacity, or one request, more than its part at the load of the least loaded
    server. Without a key, the least loaded server is returned; equally loaded servers take turns.
    """
    if len(servers) == 1:
        return servers[0]
    least = min(each.outstanding / each.capacity for each in servers)
    if not key:
        ordered = [servers[(turn + offset) % len(servers)] for offset in range(len(servers))]
        return next(each for each in ordered if each.outstanding / each.capacity == least)
    of_url = {each.url: each for each in servers}
    preferred = [of_url[url] for url in rendezvous_order(key, tuple(of_url))]
    return next(each for each in preferred if _within_bounds(each, least))


def _within_bounds(server: LoadedServer, least: float) -> bool:
    capacity, outstanding = server.capacity, server.outstanding
    if least < 1 and outstanding >= capacity:
        return False
    return outstanding <= least * capacity + max(1.0, SLACK * capacity)
