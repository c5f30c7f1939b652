"""Answers at four checkpoints from one memory, compared with rebuilding the memory for each checkpoint.

The domain is CoMem, the memory `memp`, and the server has 50 ms latency. The peer cannot read an earlier state of a
memory. For each checkpoint the peer plays all earlier messages to a new memory and then asks the questions. Both ways
use the same player and questions, and play all contexts concurrently. Requests within a context are sequential, so the
longest context determines the time. memflow also records every request in the ledger. The peer needs 0.25 + 0.5 + 0.75
+ 1 = 2.5 times as many requests of the memory; the number of answers is equal. Texts are drawn from a seed.

    python -m bench.checkpoints [--memory mem0] [--contexts 10] [--messages 80] [--profile]

memflow runs at most three rounds, and the fastest counts. The command prints one JSON line. The exit code is 1 if the
memory sends more requests than one pass needs, or if memflow is less than twice as fast as the peer.
"""

import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stub import stub_process

from bench.measure import arguments, play_and_answer, repeat, report, request_context
from bench.memories_bm25 import draw_texts
from memflow.benchmarks.api import States
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling, TokenBound
from memflow.fingerprint import seeded
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.records import Probe, Turn
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.ledger.sql_ledger import SqlLedger

LATENCY, CONCURRENCY, QUESTIONS, FASTER = 0.05, 256, 3, 2.0
DOMAIN = Domain("bench", "comem", ("bench",), "", {"keys": "rule"})


@dataclass
class CountingChat:
    """A chat that counts its requests and forwards them to another chat."""

    inner: Chat
    requests: int = 0
    fingerprint: str = field(init=False)
    sampling: Sampling = field(init=False)
    bound: TokenBound = field(init=False)
    scripted: bool = field(init=False)

    def __post_init__(self) -> None:
        self.fingerprint, self.sampling = self.inner.fingerprint, self.inner.sampling
        self.bound = self.inner.bound
        self.scripted = self.inner.scripted

    async def complete(self, request: ChatRequest) -> Completion:
        """Count the request. Return the inner chat's answer."""
        self.requests += 1
        return await self.inner.complete(request)


@dataclass(frozen=True)
class Cost:
    """Numbers of requests for writing and for answering, and the wall time in seconds."""

    writing: int
    answering: int
    wall_s: float


def main() -> int:
    options = arguments(memory="memp", contexts=10, messages=80)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        turns, probes = asyncio.run(build_contexts(folder, options.contexts, options.messages))
        with stub_process(latency=LATENCY) as url:
            peer = asyncio.run(run_rebuilding(url, options.memory, turns, probes))

            def run_round(number: int) -> Cost:
                with SqlLedger(f"sqlite:///{folder}/{number}.sqlite") as ledger:
                    return asyncio.run(run_single_pass(url, options.memory, turns, probes, ledger))

            rounds = repeat(run_round, lambda each: within_bounds(peer, each), options.profile)
    best = min(rounds, key=lambda each: each.wall_s)
    requests, peer_requests = best.writing + best.answering, peer.writing + peer.answering
    report(
        {"name": "checkpoints", "memory": options.memory, "value": round(best.wall_s, 2), "unit": "s"},
        contexts=options.contexts,
        messages=options.messages,
        peer=round(peer.wall_s, 2),
        ratio=round(peer.wall_s / best.wall_s, 2),
        bound=FASTER,
        writing=best.writing,
        peer_writing=peer.writing,
        times_fewer_writing=round(peer.writing / best.writing, 2),
        answering=best.answering,
        requests=requests,
        peer_requests=peer_requests,
        times_fewer=round(peer_requests / requests, 2),
        walls=[round(each.wall_s, 2) for each in rounds],
    )
    return 0 if within_bounds(peer, best) else 1


def within_bounds(peer: Cost, ours: Cost) -> bool:
    """Return whether memflow sends at most 1 / 2.4 of the peer's requests for writing, in at most half the time."""
    # A memory may send a little more or less for a shorter context: a summary falls due, or does not.
    return ours.writing * 2.4 <= peer.writing and ours.wall_s * FASTER <= peer.wall_s


async def build_contexts(folder: Path, contexts: int, messages: int) -> tuple[list[Turn], list[Probe]]:
    """Return the turns and probes of random contexts, drawn from a fixed seed.

    The answer to every question is in the first quarter of its context.
    """
    chance = random.Random(seeded("bench", "checkpoints"))
    texts, questions = draw_texts(contexts * messages, contexts * QUESTIONS)
    dialogues = [
        {
            "id": f"c{number}",
            "messages": [
                {
                    "role": ("user", "assistant")[at % 2],
                    "text": f"{texts[number * messages + at]} ({number}.{at})",
                }
                for at in range(messages)
            ],
            "questions": [
                {
                    "id": f"q{at}",
                    "question": f"{questions[number * QUESTIONS + at]} ({number})?",
                    "options": ["one", "two", "three", "I don't know."],
                    "known": [{"after": chance.randint(1, messages // 4), "option": 1 + at % 3}],
                }
                for at in range(QUESTIONS)
            ],
        }
        for number in range(contexts)
    ]
    path = folder / "dialogues.json"
    path.write_text(json.dumps(dialogues), encoding="utf-8")
    benchmark, source = CoMem(), Dataset("bench", "bench", "comem", (path.name,), "", "", "")
    records = benchmark.records(source, {path.name: path})
    nobody: Any = None  # neither turns nor keys by rule ask anybody
    turns = await benchmark.turns(DOMAIN, records, States(), nobody)
    keys = await benchmark.gold_labels(DOMAIN, records, turns, None)
    return turns, await benchmark.probes(DOMAIN, records, States(), turns, nobody, keys)


async def run_single_pass(
    url: str, memory: str, turns: Sequence[Turn], probes: Sequence[Probe], ledger: SqlLedger
) -> Cost:
    """Play every context once, and ask each question as of its checkpoint. Return the cost."""
    began = time.perf_counter()
    async with OpenAIChat(url, "stub", "bench", Sampling(max_tokens=64), concurrency=CONCURRENCY) as served:
        writing, answering = (
            CountingChat(LedgeredChat(served, ledger, request_context(DOMAIN.name, memory, stage)))
            for stage in ("memory", "answer")
        )
        await play(memory, turns, probes, writing, answering)
    return Cost(writing.requests, answering.requests, time.perf_counter() - began)


async def run_rebuilding(url: str, memory: str, turns: Sequence[Turn], probes: Sequence[Probe]) -> Cost:
    """Rebuild the memory from all earlier messages at each checkpoint. Return requests and wall time."""
    began = time.perf_counter()
    async with OpenAIChat(url, "stub", "bench", Sampling(max_tokens=64), concurrency=CONCURRENCY) as served:
        writing, answering = CountingChat(served), CountingChat(served)
        for checkpoint in sorted({probe.checkpoint for probe in probes}):
            earlier = [turn for turn in turns if turn.checkpoint <= checkpoint]
            asked = [probe for probe in probes if probe.checkpoint == checkpoint]
            await play(memory, earlier, asked, writing, answering)
    return Cost(writing.requests, answering.requests, time.perf_counter() - began)


async def play(
    memory: str, turns: Sequence[Turn], probes: Sequence[Probe], writing: Chat, answering: Chat
) -> None:
    given = (CoMem(), DOMAIN, memory, States(), turns, probes, writing, answering, HashingEmbedder())
    await play_and_answer(*given)


if __name__ == "__main__":
    sys.exit(main())
