"""Several servers of one model: throughput, loss of a server, affinity, and prefix-cache hits by routing.

The servers are stubs, each in a process of its own. Conversations are concurrent; the requests of each are sequential.

* `throughput`: requests per second of three servers relative to one, each with 64 concurrent requests. The client and
  the servers share the CPU of this machine, which 50 ms of latency (3,840 requests per second) exceeds on two cores. So
  the bound is on the ratio with 500 ms, and the ratio with 50 ms is reported beside it. `affinity` is the smallest
  share of a conversation's requests that one server answered, and `mean_affinity` the mean.
* `loss`: one of three servers is killed (SIGKILL) during the load, and starts again at its address 10 s later.
  `answered_twice` counts the requests that the servers' logs contain more than once.
* `routing`: cached prompt tokens by routing, of servers whose prefix cache holds the conversations of one server, but
  not those of all. `one_server` has a cache for all conversations.

    python -m bench.replicas [throughput] [loss] [routing]

The command prints one JSON line per measurement. The exit code is 1 if three servers answer less than 2.8 times as many
requests as one, a request is lost or answered twice, an affinity is below 90 %, or memflow's routing has less than 95 %
of the hits of one server.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop
from stub import count_answers

from bench.measure import report
from memflow.chat.conversation import ASSISTANT, EPISODE
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, ServedCompletion
from memflow.fingerprint import seeded
from resources.endpoints import replica_set
from resources.endpoints.chat import OpenAIChat
from resources.endpoints.endpoint import Endpoint
from resources.endpoints.routing import LoadedServer, choose, rendezvous_order

SERVERS, CONCURRENCY, RATIO, AFFINITY, HITS = 3, 64, 2.8, 0.9, 0.95
LATENCIES = (0.5, 0.05)
"""Seconds per request. The first has the bound."""
CONVERSATIONS, REQUESTS = 288, 16
DOWN_S = 10.0
WORDS = "river letter garden music doctor budget train bread winter paper story light table friend"

Route = Callable[[str, Sequence[LoadedServer], int, float], LoadedServer]
"""Chooses the server of a request, as `choose` does."""


@dataclass
class StubServer:
    """A stub server in a process of its own, which can be killed and started again at its address."""

    behavior: dict[str, Any]
    port: int = 0

    def start(self) -> None:
        """Start the server, and wait for its address."""
        options = [f"--{name.replace('_', '-')}={value}" for name, value in self.behavior.items()]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "stub", f"--port={self.port}", *options],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            raise SystemExit(
                "the stub server did not start. Fix the error that it printed above, then rerun."
            )
        self.port = int(self.url.rpartition(":")[2].partition("/")[0])

    def kill(self) -> None:
        """End the process with SIGKILL."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def counts(self) -> dict[str, int]:
        """Return the server's counts of requests and tokens."""
        with urllib.request.urlopen(self.url.replace("/v1", "/stub/counts")) as response:
            counts: dict[str, int] = json.load(response)
        return counts


@asynccontextmanager
async def servers(
    number: int, folder: Path | None = None, **behavior: Any
) -> AsyncIterator[list[StubServer]]:
    """Yield running servers, with a log of answers in `folder`."""
    started: list[StubServer] = []
    try:
        for each in range(number):
            log = {"log": str(folder / f"{each}.jsonl")} if folder is not None else {}
            started.append(StubServer({**behavior, **log}))
            await asyncio.to_thread(started[-1].start)
        yield started
    finally:
        for server in started:
            server.kill()


def chat_at(stubs: Sequence[StubServer]) -> OpenAIChat:
    """Return a chat model that the servers serve."""
    first, *others = (stub.url for stub in stubs)
    endpoint = Endpoint(first, other_urls=others, concurrency=CONCURRENCY, model="stub")
    return OpenAIChat(first, "stub", "bench", endpoint=endpoint)


async def converse(chat: OpenAIChat, name: str, requests: int, length: int = 60) -> list[Completion]:
    """Send the requests of a conversation, each of which extends the one before by about `length` characters."""
    EPISODE.set(name)
    chance = random.Random(seeded("bench", "replicas", name))
    said = (WORDS + " ") * (2 * length // len(WORDS) + 1)
    messages = [ChatMessage("system", f"You are the assistant of {name}. {said[:length]}")]
    answers = []
    for number in range(requests):
        messages.append(ChatMessage("user", f"{number}: {said[: chance.randint(1, 2 * length)]}"))
        answers.append(await chat.complete(ChatRequest("bench/replicas", {}, tuple(messages))))
        messages.append(ChatMessage("assistant", answers[-1].text))
    return answers


async def play(
    chat: OpenAIChat, conversations: int, requests: int, length: int = 60
) -> tuple[float, list[list[Completion]]]:
    """Return the wall seconds of all conversations, and their answers."""
    ASSISTANT.set(("bench", "full"))
    began = time.perf_counter()
    played = await asyncio.gather(
        *(converse(chat, f"episode {number}", requests, length) for number in range(conversations))
    )
    return time.perf_counter() - began, played


def affinities(played: Sequence[Sequence[Completion]]) -> list[float]:
    """Return for each conversation the share of its requests that its most frequent server answered."""
    shares = []
    for answers in played:
        counts = Counter(answer.address for answer in answers if isinstance(answer, ServedCompletion))
        shares.append(max(counts.values()) / len(answers))
    return shares


async def measure_throughput(latency: float) -> bool:
    """Report the throughput of three servers relative to one. Return whether the bounds hold."""
    rates, shares = {}, [1.0]
    cpu = time.process_time()
    for number in (1, SERVERS):
        async with servers(number, latency=latency) as stubs, chat_at(stubs) as chat:
            await play(chat, 8, 1)  # open connections, check the addresses
            seconds, played = await play(chat, CONVERSATIONS, REQUESTS)
            rates[number] = CONVERSATIONS * REQUESTS / seconds
            shares = affinities(played) if number > 1 else shares
            spread = [stub.counts()["answered"] for stub in stubs]
    ratio = rates[SERVERS] / rates[1]
    report(
        {
            "name": f"replicas throughput {latency:g} s",
            "value": round(rates[SERVERS], 1),
            "unit": "requests/s",
        },
        one_server=round(rates[1], 1),
        ratio=round(ratio, 2),
        bound=RATIO if latency == LATENCIES[0] else None,
        affinity=round(min(shares), 2),
        mean_affinity=round(sum(shares) / len(shares), 3),
        conversations_below_90_percent=sum(share < AFFINITY for share in shares),
        requests_by_server=spread,
        client_cpu_ms=round(1000 * (time.process_time() - cpu) / (2 * CONVERSATIONS * REQUESTS), 2),
    )
    return latency != LATENCIES[0] or (ratio >= RATIO and min(shares) >= AFFINITY)


async def measure_loss() -> bool:
    """Report what the loss of one of three servers for DOWN_S seconds costs. Return whether nothing was lost."""
    conversations, requests = 96, 120
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with servers(SERVERS, folder, latency=0.25) as stubs, chat_at(stubs) as chat:

            async def outage() -> float:
                await asyncio.sleep(4)
                stubs[0].kill()
                await asyncio.sleep(DOWN_S)
                await asyncio.to_thread(stubs[0].start)
                return time.time()

            returning = asyncio.create_task(outage())
            seconds, played = await play(chat, conversations, requests)
            returned = await returning
        lines = [json.loads(line) for line in (folder / "0.jsonl").read_text(encoding="utf-8").splitlines()]
        answered = sum((count_answers(folder / f"{each}.jsonl") for each in range(SERVERS)), Counter[str]())
    flat = [answer for answers in played for answer in answers if isinstance(answer, ServedCompletion)]
    moved = sum(len(answer.failed_at) for answer in flat)
    twice = sum(number > 1 for number in answered.values())
    valid = sum(bool(answer.text) and answer.end == "answered" for answer in flat)
    report(
        {"name": "replicas loss", "value": conversations * requests - valid, "unit": "lost requests"},
        requests=conversations * requests,
        answered_twice=twice,
        attempts_at_the_killed_server=moved,
        answered_after_its_return=sum(line["at"] > returned for line in lines),
        down_s=DOWN_S,
        wall_s=round(seconds, 1),
        ideal_s=round(requests * 0.25, 1),
    )
    return valid == conversations * requests == len(answered) and not twice


def _round_robin(key: str, choices: Sequence[LoadedServer], turn: int, load: float) -> LoadedServer:
    return choices[turn % len(choices)]


def _least_outstanding(key: str, choices: Sequence[LoadedServer], turn: int, load: float) -> LoadedServer:
    return choose("", choices, turn)


def _hashing(key: str, choices: Sequence[LoadedServer], turn: int, load: float) -> LoadedServer:
    first, *_ = rendezvous_order(key, tuple(each.url for each in choices))
    return next(each for each in choices if each.url == first)


ROUTES: dict[str, Route] = {
    "round robin": _round_robin,
    "least outstanding": _least_outstanding,
    "hashing": _hashing,
    "memflow": choose,
}


async def measure_routing() -> bool:
    """Report the hits of prefix caches by routing. Return whether memflow's reach the bound."""
    conversations, requests, length, blocks = 100, 16, 700, 9_000
    shares: dict[str, float] = {}
    for name, route in {"one server": choose, **ROUTES}.items():
        number = 1 if name == "one server" else SERVERS
        replica_set.choose = route  # type: ignore[assignment]
        behavior = {"latency": 0.1, "prefill": 0.1, "prefix_blocks": blocks * SERVERS // number}
        async with servers(number, **behavior) as stubs, chat_at(stubs) as chat:
            seconds, played = await play(chat, conversations, requests, length)
            counts = [stub.counts() for stub in stubs]
        replica_set.choose = choose
        prompt, cached = (sum(each[field] for each in counts) for field in ("prompt_tokens", "cached_tokens"))
        shares[name] = cached / prompt
        report(
            {"name": f"replicas routing: {name}", "value": round(100 * shares[name], 1), "unit": "% cached"},
            wall_s=round(seconds, 1),
            imbalance=round(
                max(each["answered"] for each in counts) * number / (conversations * requests), 2
            ),
            mean_affinity=round(sum(affinities(played)) / conversations, 3) if number > 1 else 1.0,
        )
    return shares["memflow"] >= HITS * shares["one server"]


def main() -> int:
    """Run the named measurements, or all. Return 1 if a bound is not met, else 0."""
    named = sys.argv[1:] or ["throughput", "loss", "routing"]
    held = []
    if "throughput" in named:
        held += [uvloop.run(measure_throughput(latency)) for latency in LATENCIES]
    if "loss" in named:
        held.append(uvloop.run(measure_loss()))
    if "routing" in named:
        held.append(uvloop.run(measure_routing()))
    return 0 if all(held) else 1


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_API_KEY", "EMPTY")
    sys.exit(main())
