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
"""How much more load than the mean a key's first server may have, as a share of the mean, and of an idle server."""
FEW = 2
"""Outstanding requests that a server may have in any case, if it answers as many at once."""


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


def mean_load(servers: Sequence[LoadedServer]) -> float:
    """Return the outstanding requests of all servers as a share of their capacity."""
    return sum(each.outstanding for each in servers) / sum(each.capacity for each in servers)


def choose(key: str, servers: Sequence[S], turn: int = 0, usual_load: float = 0.0) -> S:
    """Return the server for the next request. `servers` is not empty, and `turn` counts the requests.

    A key gets the first server of its order whose load is within a bound; if there is none, the least loaded. The load
    of a server is its outstanding requests as a share of its capacity. The bound is 1 + SLACK times the mean load. It
    is at least SLACK, and at most 1 while the mean is below 1, so that no request waits while there are free places.

    Many answers that arrive together lower the mean for a moment. So the bound is computed from `usual_load`, the
    recent mean, if that is higher. Without a key, the least loaded server is returned; equally loaded servers take
    turns.
    """
    if len(servers) == 1:
        return servers[0]
    least = min(map(_load, servers))
    turns = (servers[(turn + offset) % len(servers)] for offset in range(len(servers)))
    least_loaded = next(each for each in turns if _load(each) == least)
    if not key:
        return least_loaded
    bound = load_bound(max(usual_load, mean_load(servers)))
    of_url = {each.url: each for each in servers}
    preferred = (of_url[url] for url in rendezvous_order(key, tuple(of_url)))
    return next((each for each in preferred if _is_within(each, bound)), least_loaded)


def load_bound(mean: float) -> float:
    """Return the maximum load of a server that gets a key's request, given the mean load."""
    bound = (1 + SLACK) * mean
    return max(SLACK, bound if mean >= 1 else min(1.0, bound))


def _load(server: LoadedServer) -> float:
    return server.outstanding / server.capacity


def _is_within(server: LoadedServer, bound: float) -> bool:
    return server.outstanding + 1 <= max(min(FEW, server.capacity), bound * server.capacity)
