"""Time of evaluating a memory on 200 trajectories of 100 messages with embeddings; the server takes 50 ms per request.

Messages are embedded when they are written, one by one within a trajectory; questions are embedded when they are asked.
The peer sends one request per text, sequentially on one open connection, and ranks by cosine. memflow plays all
trajectories concurrently, stores every vector in the ledger, and also lets the server answer each question. Both use
the same stub server in a subprocess. Texts are drawn from a seed, and all are different.

    python -m bench.trajectories [--memory embed_message_10] [--whole] [--profile]

10 trajectories of the peer are timed and the total is extrapolated; with --whole all are timed (about 17 minutes).
memflow takes at most three rounds, and the fastest counts. The command prints one JSON line. The exit code is 1 if
memflow sends more than 1 / 50 of the peer's embedding requests or takes more than 1 / 20 of its time.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from stub import stub_process

from bench.measure import arguments, play_and_answer, repeat, report, request_context
from bench.memories_bm25 import draw_texts
from memflow.benchmarks.api import States
from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.kinds import find_kind
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.turns import ChoiceQuestion, Step, Trajectory, turn_rows
from memflow.benchmarks.registry import find_domain
from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Sampling
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.embedder import EndpointEmbedder
from memflow.resources.ledger.sql_ledger import SqlLedger

TRAJECTORIES, MESSAGES, LATENCY, CONCURRENCY = 200, 100, 0.05, 256
FEWER, FASTER = 50, 20
SAMPLED = 10


@dataclass(frozen=True)
class Cost:
    """The number of embedding requests that the server answered, and the wall seconds."""

    requests: int
    wall_s: float


def main() -> int:
    options = arguments(memory="retrieval", whole=False)
    texts, questions = draw_texts(TRAJECTORIES * MESSAGES, TRAJECTORIES)
    trajectories = [
        trajectory(at, texts[at * MESSAGES : (at + 1) * MESSAGES], question)
        for at, question in enumerate(questions)
    ]
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY, log=Path(name) / "log") as url:
        log = Path(name) / "log"
        timed = TRAJECTORIES if options.whole else SAMPLED
        peer = run_one_by_one(url, log, trajectories[:timed])
        peer = Cost(peer.requests * TRAJECTORIES // timed, peer.wall_s * TRAJECTORIES / timed)

        def run_round(number: int) -> Cost:
            before, began = count_embedding_requests(log), time.perf_counter()
            with SqlLedger(f"sqlite:///{name}/{number}.sqlite") as ledger:
                asyncio.run(evaluate(url, options.memory, trajectories, ledger))
            return Cost(count_embedding_requests(log) - before, time.perf_counter() - began)

        rounds = repeat(run_round, lambda each: within_bounds(peer, each), options.profile)
    best = min(rounds, key=lambda each: each.wall_s)
    report(
        {"name": "trajectories", "memory": options.memory, "value": round(best.wall_s, 2), "unit": "s"},
        peer=round(peer.wall_s, 1),
        ratio=round(peer.wall_s / best.wall_s, 1),
        bound=FASTER,
        requests=best.requests,
        peer_requests=peer.requests,
        times_fewer=round(peer.requests / best.requests, 1),
        bound_fewer=FEWER,
        sampled=not options.whole,
        walls=[round(each.wall_s, 2) for each in rounds],
    )
    return 0 if within_bounds(peer, best) else 1


def within_bounds(peer: Cost, ours: Cost) -> bool:
    """Return whether memflow sends at most 1 / 50 of the peer's requests and takes at most 1 / 20 of its time."""
    return ours.requests * FEWER <= peer.requests and ours.wall_s * FASTER <= peer.wall_s


def trajectory(number: int, texts: Sequence[str], question: str) -> Trajectory:
    """Return an observed trajectory of these messages, with one question about the first message."""
    steps = tuple(Step(f"{text} ({number}.{at})") for at, text in enumerate(texts))
    name = f"observation/simple/roles/{number}"
    made = Trajectory(name, "bench", "observation", find_kind("simple"), "roles", "en", steps)
    options = ("one", "two", "three", "four")
    asked = ChoiceQuestion(f"{question} ({number})", None, options, 1, options[0], (made.message_id(0),))
    return replace(made, questions=(asked,))


async def evaluate(url: str, memory: str, trajectories: Sequence[Trajectory], ledger: SqlLedger) -> None:
    """Play all trajectories with memflow, and ask every question."""
    domain = find_domain("membench_memdaily")
    turns = [turn for each in trajectories for turn in turn_rows(domain.name, each)]
    probes = [probe for each in trajectories for probe in probe_rows(domain.name, each)]
    async with (
        OpenAIChat(url, "stub", "bench", Sampling(max_tokens=64), concurrency=CONCURRENCY) as served,
        EndpointEmbedder(url, "stub", ledger) as embedder,
    ):
        chat = LedgeredChat(served, ledger, request_context(domain.name, memory, "answer"))
        await play_and_answer(MemBench(), domain, memory, States([]), turns, probes, chat, chat, embedder)


def run_one_by_one(url: str, log: Path, trajectories: Sequence[Trajectory]) -> Cost:
    """Embed each text with a separate request (the peer), and rank messages per question. Return requests and time."""
    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "", place.port or 80)

    def embed(text: str) -> Any:
        body = json.dumps({"model": "stub", "input": [text], "encoding_format": "float"})
        connection.request("POST", f"{place.path}/embeddings", body, {"Content-Type": "application/json"})
        vector = np.asarray(json.loads(connection.getresponse().read())["data"][0]["embedding"])
        return vector / np.linalg.norm(vector)

    before, began = count_embedding_requests(log), time.perf_counter()
    for each in trajectories:
        rows = np.stack([embed(step.user) for step in each.steps])
        np.argsort(-(rows @ embed(each.questions[0].question)))
    wall = time.perf_counter() - began
    connection.close()
    return Cost(count_embedding_requests(log) - before, wall)


def count_embedding_requests(log: Path) -> int:
    """Return the number of embedding requests in the server's log."""
    return sum("/v1/embeddings" in line for line in log.read_text().splitlines())


if __name__ == "__main__":
    sys.exit(main())
