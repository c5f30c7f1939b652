"""Evaluating a memory against the critical path: AMemGym's 12 users with `rag_2_4_30`, played and then asked every
question and state probe, on a server that takes 200 ms, with 256 requests in flight at most.

The critical path is a number of rounds of 200 ms: the longest chain of requests that wait for one another while a
user is played, and after it as many rounds as it takes to put all probes through 256 places, since a memory is asked
when it has been played: chain + ceil(probes asked / 256). A client that asked the probes of early periods while later
ones are played could do with chain + 1; how near to that it came is `ratio_to_one_round`. One request after the other
takes requests x latency. The server is the stub, in a process of its own; requests go through the ledger, as in a run.
The users are the published ones where MEMFLOW_DATA has them, as in bench/player.py.

    python -m bench.evaluation [--profile]

Takes at most three rounds, and counts the best. Prints one JSON line, and ends with 1 where its wall time is above 1.25
x the critical path.
"""

import asyncio
import cProfile
import json
import os
import pstats
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from bench.player import users_file
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import find
from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.chat.requests import Sampling
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.run.answer import answer_all
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows
from resources.chat import OpenAIChat
from resources.ledger import SqlLedger
from resources.stub import stub_process

MEMORY, LATENCY, CONCURRENCY, BOUND = "rag_2_4_30", 0.2, 256, 1.25
USERS, ROUNDS = 12, 3


@dataclass(frozen=True)
class Evaluation:
    """Numbers of requests, the longest chain of dependent ones, wall and CPU seconds."""

    played: int
    answered: int
    chain: int
    play_s: float
    answer_s: float
    cpu_s: float

    @property
    def path(self) -> float:
        """The critical path in seconds."""
        return (self.chain + ceil(self.answered / CONCURRENCY)) * LATENCY


async def evaluate(url: str, users: Path, ledger: SqlLedger) -> Evaluation:
    """Play the first 12 users, and ask all probes of the memory that came of it."""
    benchmark, domain = AMemGym(), find("amemgym_base").limited(USERS)
    source = dataset("amemgym_v1_base")
    sampling = Sampling(max_tokens=256)
    async with OpenAIChat(url, "stub", "bench", sampling, concurrency=CONCURRENCY) as chat:
        account = RequestContext(
            run="bench", stage="memory", domain=domain.name, assistant=MEMORY, model="stub"
        )
        playing = LedgeredChat(chat, ledger, account)
        asking = LedgeredChat(chat, ledger, replace(account, stage="answer"))
        records = benchmark.records(source, {source.files[0]: users})
        states = await benchmark.states(domain, records, playing)
        turns = await benchmark.turns(domain, records, states, playing)
        probes = await benchmark.probes(domain, records, states, turns, playing)
        embedder = HashingEmbedder()
        started, used = time.perf_counter(), time.process_time()
        episodes = benchmark.episodes(domain, states, turns, [], playing)
        remembered = memory_factory(MEMORY, Tools(playing, embedder))
        played = await play_all(episodes, remembered, benchmark.replier(domain, playing))
        between = time.perf_counter()
        said, entries = transcript_rows(domain.name, MEMORY, played), entry_rows(domain.name, MEMORY, played)
        pasts = episode_histories(entries, said, probes)
        remembered = memory_factory(MEMORY, Tools(asking, embedder))
        replies = await answer_all(benchmark, domain, MEMORY, probes, pasts, remembered, asking)
        ended, cpu = time.perf_counter(), time.process_time() - used
    lost = [row.reason for row in (*said, *replies) if row.reason]
    if lost:
        raise SystemExit(f"{len(lost)} messages or probes were lost; the first: {lost[0]}")
    asked = {row.by["stage"]: row.requests for row in ledger.usage(by=("stage",))}
    chain = max(sum(line.completion is not None for line in episode.lines) for episode in played)
    return Evaluation(asked["memory"], asked["answer"], chain, between - started, ended - between, cpu)


def main() -> int:
    """Evaluate until the bound is held, three rounds at most, and say how near to the critical path the best was."""
    rounds: list[Evaluation] = []
    profile = cProfile.Profile(time.process_time)
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY) as url:
        users, published = users_file(Path(name))
        for number in range(ROUNDS):
            ledger = SqlLedger(f"sqlite:///{name}/{number}.sqlite")
            with ledger, profile if "--profile" in sys.argv else nullcontext():
                rounds.append(asyncio.run(evaluate(url, users, ledger)))
            if rounds[-1].play_s + rounds[-1].answer_s <= BOUND * rounds[-1].path:
                break
    best = min(rounds, key=lambda each: each.play_s + each.answer_s)
    wall, requests = best.play_s + best.answer_s, best.played + best.answered
    about: dict[str, Any] = {
        "bound": BOUND,
        "requests": requests,
        "longest_chain": best.chain,
        "ratio_to_one_round": round(wall / ((best.chain + 1) * LATENCY), 3),
        "play_s": round(best.play_s, 2),
        "answer_s": round(best.answer_s, 2),
        "cpu_s": round(best.cpu_s, 2),
        "one_by_one_s": round(requests * LATENCY, 1),
        "times_faster": round(requests * LATENCY / wall, 1),
        "rounds": len(rounds),
        "walls": [round(each.play_s + each.answer_s, 2) for each in rounds],
        "load": round(os.getloadavg()[0], 1),
        "published_users": published,
    }
    figure = {"name": "evaluation", "value": round(wall, 3), "unit": "s", "peer": round(best.path, 3)}
    print(json.dumps({**figure, "ratio": round(wall / best.path, 3), **about}))
    if "--profile" in sys.argv:
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(40)
    return 0 if wall <= BOUND * best.path else 1


if __name__ == "__main__":
    sys.exit(main())
