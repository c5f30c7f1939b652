"""The ledger on SQLite and PostgreSQL: speed of a client with a ledger, of a replay, and of several writers.

    python -m bench.ledger

* `ledger_client`: CPU time a request on a stub of a GPU's speed: 60 requests a second, 1 s each, 60 at once. Bound: 1.6
  times the CPU time of the same client without a ledger.
* `ledger_replay`: CPU time of a replayed completion. Bound: that of a ledger that sends one query for each lookup.
* `ledger_growth`: CPU time of lookups and of the usage in a ledger with 8 times as many completions. Bound: 2 times
  that in the smaller ledger.
* `ledger_writers`: completions per second of 8 processes that write to one ledger; a third of their requests are the
  same. Bound: no completion is lost, stored twice or counted twice.

Prompts have 6,000 characters. PostgreSQL is measured if it is installed. What is compared alternates in rounds; the
best round of each counts. Garbage is collected as in `memflow run`.
"""

import asyncio
import gc
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from multiprocessing.synchronize import Barrier

import sqlalchemy as sa
from stub import stub_process

from bench.measure import postgres_server, report, request_context
from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Chat, ChatMessage, ChatRequest, Completion, Sampling, TokenBound
from memflow.cli.run import COLLECTION_THRESHOLDS
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.ledger.tables import COMPLETION_COLUMNS, completions

REQUESTS, ROUNDS = 2000, 6
SENT, CONCURRENCY, LATENCY, CLIENT_ROUNDS = 300, 60, 1.0, 3
WRITERS, OWN, SHARED = 8, 400, 200
CLIENT_BOUND, REPLAY_BOUND, GROWTH_BOUND = 1.6, 1.0, 2.0
GROWTH = 8
ACCOUNT = request_context("bench", "bench", "answer")
TEXT = "".join(random.Random(0).choices("abcdefghij klmnop qrstuv", k=6000))

NewUrl = Callable[[], str]
"""Returns the URL of a new, empty ledger."""


class LookupPerQuery(SqlLedger):
    """A ledger that sends one SQL query per lookup, without batches, to compare with SqlLedger."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        query = sa.select(*(completions.c[name] for name in COMPLETION_COLUMNS))
        query = query.where(completions.c.digest == sa.bindparam("key"))
        compiled = query.compile(dialect=self._engine.dialect)
        self._query, self._positional = str(compiled), compiled.positiontup is not None
        self._open_connection = self._reader.connect()

    async def get(self, digest: str) -> Completion | None:
        """Look up one completion in the event loop's thread. Return the completion or None."""
        given = (digest,) if self._positional else {"key": digest}
        row = self._open_connection.exec_driver_sql(self._query, given).first()
        return Completion(*row) if row else None

    def close(self) -> None:
        """Close the ledger and the connection of the lookups."""
        self._open_connection.close()
        super().close()


class ImmediateChat:
    """A chat that answers every request immediately."""

    fingerprint, sampling, bound, scripted = "bench", Sampling(), TokenBound(), False

    async def complete(self, request: ChatRequest) -> Completion:
        """Return a constant completion."""
        return Completion("because it was said so, and more than once", "stop", 1500, 10, 0, 0.05)


class UnusedChat(ImmediateChat):
    """A chat whose answers all are in the ledger."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Raise AssertionError."""
        raise AssertionError(f"the ledger has no completion for a request of the prompt {request.prompt}")


def build_requests(names: Sequence[str]) -> list[ChatRequest]:
    """Return one chat request for each name."""
    return [
        ChatRequest("bench/ledger", {}, (ChatMessage("user", f"{name} {TEXT}"),), Sampling(max_tokens=64))
        for name in names
    ]


async def complete_all(chat: Chat, requests: Sequence[ChatRequest]) -> float:
    """Send all requests concurrently. Return the number of requests per second."""
    began = time.perf_counter()
    await asyncio.gather(*(chat.complete(request) for request in requests))
    return len(requests) / (time.perf_counter() - began)


def measure_client(database: str, ledger: SqlLedger, url: str) -> bool:
    """Measure the CPU time of requests with and without a ledger. Return whether their ratio is within the bound."""
    cpu_ms: dict[bool, list[float]] = {True: [], False: []}

    async def send(number: int, recorded: bool) -> None:
        async with OpenAIChat(url, "stub", "bench", Sampling(), concurrency=CONCURRENCY) as chat:
            requests = build_requests([f"{number} {item}" for item in range(SENT)])
            used = time.process_time()
            await complete_all(LedgeredChat(chat, ledger, ACCOUNT) if recorded else chat, requests)
            ledger.flush()
            cpu_ms[recorded].append((time.process_time() - used) / SENT * 1000)

    for number in range(CLIENT_ROUNDS):
        for recorded in (False, True):
            asyncio.run(send(number, recorded))
    bare, own = min(cpu_ms[False]), min(cpu_ms[True])
    report(
        {
            "name": f"ledger_client_{database}",
            "value": round(own, 2),
            "unit": "CPU ms a request",
            "peer": round(bare, 2),
        },
        ratio=round(own / bare, 2),
        bound=CLIENT_BOUND,
    )
    return own <= CLIENT_BOUND * bare


def fill(url: str, requests: Sequence[ChatRequest]) -> None:
    """Store a completion of each request."""
    with SqlLedger(url) as ledger:
        chat = LedgeredChat(ImmediateChat(), ledger, ACCOUNT)
        asyncio.run(complete_all(chat, requests))


def replay_ms(kind: type[SqlLedger], url: str, requests: Sequence[ChatRequest]) -> float:
    """Return the CPU milliseconds of each replayed completion."""
    with kind(url) as ledger:
        chat = LedgeredChat(UnusedChat(), ledger, ACCOUNT)
        used = time.process_time()
        asyncio.run(complete_all(chat, requests))
        return (time.process_time() - used) / len(requests) * 1000


def measure_replay(database: str, url: str) -> bool:
    """Measure the CPU time of a replay. Return whether it is at most that of one query for each lookup."""
    requests = build_requests([f"{item}" for item in range(REQUESTS)])
    fill(url, requests)
    rounds = [[replay_ms(kind, url, requests) for kind in (SqlLedger, LookupPerQuery)] for _ in range(ROUNDS)]
    own, peer = map(min, zip(*rounds, strict=True))
    report(
        {
            "name": f"ledger_replay_{database}",
            "value": round(own, 3),
            "unit": "CPU ms",
            "peer": round(peer, 3),
        },
        ratio=round(own / peer, 2),
        bound=REPLAY_BOUND,
    )
    return own <= REPLAY_BOUND * peer


def measure_growth(database: str, new_url: NewUrl) -> bool:
    """Measure lookups and usage in a small and a larger ledger. Return whether the CPU time grows at most twofold."""
    requests = build_requests([f"{item}" for item in range(GROWTH * REQUESTS)])
    urls = {1: new_url(), GROWTH: new_url()}
    for size, url in urls.items():
        fill(url, requests[: size * REQUESTS])
    replays: dict[int, list[float]] = {size: [] for size in urls}
    usages: dict[int, list[float]] = {size: [] for size in urls}
    for _ in range(ROUNDS):
        for size, url in urls.items():
            replays[size].append(replay_ms(SqlLedger, url, requests[:REQUESTS]))
            with SqlLedger(url) as ledger:
                used = time.process_time()
                for _ in range(100):
                    ledger.usage()
                usages[size].append((time.process_time() - used) * 10)
    grown = [min(times[GROWTH]) / min(times[1]) for times in (replays, usages)]
    report(
        {"name": f"ledger_growth_{database}", "value": round(max(grown), 2), "unit": "times the CPU time"},
        completions=[size * REQUESTS for size in urls],
        lookup_ms=[round(min(times), 3) for times in replays.values()],
        usage_ms=[round(min(times), 3) for times in usages.values()],
        bound=GROWTH_BOUND,
    )
    return max(grown) <= GROWTH_BOUND


def write(url: str, number: int, start: Barrier) -> None:
    """Store the completions of one writer process, 32 at a time, after all writers are ready."""

    async def store(chat: Chat, requests: Sequence[ChatRequest]) -> None:
        places = asyncio.Semaphore(32)

        async def complete(request: ChatRequest) -> None:
            async with places:
                await chat.complete(request)

        await asyncio.gather(*map(complete, requests))

    names = [f"{number} {item}" for item in range(OWN)] + [f"shared {item}" for item in range(SHARED)]
    random.Random(number).shuffle(names)
    with SqlLedger(url) as ledger:
        chat = LedgeredChat(ImmediateChat(), ledger, ACCOUNT)
        requests = build_requests(names)
        start.wait()
        asyncio.run(store(chat, requests))


def measure_writers(database: str, url: str) -> bool:
    """Let several processes write to one ledger. Return whether every completion is stored and counted once."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(WRITERS + 1, timeout=120)
    processes = [context.Process(target=write, args=(url, number, start)) for number in range(WRITERS)]
    for process in processes:
        process.start()
    start.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
    seconds = time.perf_counter() - began
    with SqlLedger(url) as ledger:
        stored = len(ledger.digests())
        (row,) = ledger.usage(by=())
    distinct, uses = WRITERS * OWN + SHARED, WRITERS * (OWN + SHARED)
    counted = row.requests + row.cache_hits
    report(
        {"name": f"ledger_writers_{database}", "value": round(uses / seconds), "unit": "completions/s"},
        processes=WRITERS,
        lost=distinct - stored,
        uses_missing_or_twice=uses - counted,
        failed_processes=sum(process.exitcode != 0 for process in processes),
    )
    return (stored, counted) == (distinct, uses) and not any(process.exitcode for process in processes)


def measure_all(database: str, new_url: NewUrl, stub_url: str) -> bool:
    """Measure client, lookups, growth and writers on a database. Return whether all meet their limits."""
    with SqlLedger(new_url()) as ledger:
        client = measure_client(database, ledger, stub_url)
    return all(
        [
            client,
            measure_replay(database, new_url()),
            measure_growth(database, new_url),
            measure_writers(database, new_url()),
        ]
    )


@contextmanager
def postgres_urls() -> Iterator[NewUrl | None]:
    """Start a PostgreSQL server. Yield a function that returns the URL of a new database, or None."""
    numbers = count()
    with postgres_server() as port:
        if port is None:
            yield None
            return
        address = f"postgresql+psycopg2://memflow@127.0.0.1:{port}"

        def new_url() -> str:
            name = f"ledger{next(numbers)}"
            engine = sa.create_engine(f"{address}/postgres", isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.exec_driver_sql(f"CREATE DATABASE {name}")
            engine.dispose()
            return f"{address}/{name}"

        yield new_url


def main() -> int:
    """Measure the ledger on SQLite and, if installed, PostgreSQL. Return 1 if a limit is missed, else 0."""

    gc.set_threshold(*COLLECTION_THRESHOLDS)
    files = count()
    with (
        tempfile.TemporaryDirectory() as folder,
        stub_process(latency=LATENCY) as stub_url,
        postgres_urls() as new_postgres_url,
    ):
        held = measure_all("sqlite", lambda: f"sqlite:///{folder}/{next(files)}.sqlite", stub_url)
        if new_postgres_url is not None:
            held &= measure_all("postgresql", new_postgres_url, stub_url)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
