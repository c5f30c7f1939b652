"""Wall time of evaluating a memory, compared with a client that only posts the same requests, and the critical path.

The first 12 users of AMemGym are played with `rag_2_4_30`, then all questions and state probes are asked. The server
takes 200 ms per request; at most 256 requests run concurrently. The server is the stub in a subprocess; requests go
through the ledger, as in a run. The users are the published ones if MEMFLOW_DATA contains them, as in bench/player.py.

After each round, the bare client (bench/bare_client.py) posts the same bodies in the same order of dependence: the
chain of each user, then all probes. The bound is relative to its time, since both depend on the machine. The critical
path depends on no machine: its length is chain + ceil(probes / 256) rounds of 200 ms. `chain` is the longest chain of
dependent requests while a user is played.

    python -m bench.evaluation [--profile]

The command runs at most three rounds, and the fastest of each client counts. It prints one JSON line, and its exit code
is 1 if the wall time is above 1.25 x the wall time of the bare client.
"""

import sys
import tempfile
import time
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import uvloop
from stub import stub_process

from bench.bare_client import RecordingChat, chains_of, replay
from bench.measure import arguments, play_and_answer, repeat, report, request_context
from bench.player import users_file
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Sampling
from memflow.memories.hashing_embedder import HashingEmbedder
from resources.endpoints.chat import OpenAIChat
from resources.ledger.sql_ledger import SqlLedger

MEMORY, LATENCY, CONCURRENCY, BOUND = "rag_2_4_30", 0.2, 256, 1.25
USERS = 12


@dataclass(frozen=True)
class Evaluation:
    """The measurements of one evaluation: requests, longest chain of dependent requests, wall and CPU seconds.

    `bare_s` is the wall time of the bare client.
    """

    played: int
    answered: int
    chain: int
    play_s: float
    answer_s: float
    cpu_s: float
    bare_s: float

    @property
    def wall_s(self) -> float:
        return self.play_s + self.answer_s

    @property
    def path(self) -> float:
        """The duration of the critical path in seconds."""
        return (self.chain + ceil(self.answered / CONCURRENCY)) * LATENCY


async def evaluate(url: str, users: Path, ledger: SqlLedger) -> Evaluation:
    """Play the first 12 users, ask all probes, then post the same requests with the bare client."""
    benchmark, domain = AMemGym(), find_domain("amemgym_base").limited(USERS)
    source = find_dataset("amemgym_v1_base")
    sampling = Sampling(max_tokens=256)
    async with OpenAIChat(url, "stub", "bench", sampling, concurrency=CONCURRENCY) as chat:
        recorder = RecordingChat(chat)
        playing, asking = (
            LedgeredChat(recorder, ledger, request_context(domain.name, MEMORY, stage))
            for stage in ("memory", "answer")
        )
        records = benchmark.records(source, {source.files[0]: users})
        states = await benchmark.states(domain, records, playing)
        turns = await benchmark.turns(domain, records, states, playing)
        probes = await benchmark.probes(domain, records, states, turns, playing)
        used = time.process_time()
        given = (benchmark, domain, MEMORY, states, turns, probes, playing, asking, HashingEmbedder())
        played, play_s, answer_s = await play_and_answer(*given, own_replies=True)
        cpu = time.process_time() - used
    requests = {row.by["stage"]: row.requests for row in ledger.usage(by=("stage",))}
    bodies = recorder.bodies()
    chains = chains_of(played, bodies)
    bare_s = await replay(url, chains, CONCURRENCY)
    bare_s += await replay(url, [[body] for body in bodies.values()], CONCURRENCY)
    chain = max(map(len, chains))
    return Evaluation(requests["memory"], requests["answer"], chain, play_s, answer_s, cpu, bare_s)


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY) as url:
        users, from_data = users_file(Path(name))

        def run_round(number: int) -> Evaluation:
            with SqlLedger(f"sqlite:///{name}/{number}.sqlite") as ledger:
                return uvloop.run(evaluate(url, users, ledger))

        rounds = repeat(run_round, lambda each: each.wall_s <= BOUND * each.bare_s, options.profile)
    best, bare = min(rounds, key=lambda each: each.wall_s), min(each.bare_s for each in rounds)
    requests = best.played + best.answered
    report(
        {"name": "evaluation", "value": round(best.wall_s, 3), "unit": "s", "peer": round(bare, 3)},
        ratio=round(best.wall_s / bare, 3),
        bound=BOUND,
        critical_path_s=round(best.path, 3),
        ratio_to_critical_path=round(best.wall_s / best.path, 3),
        requests=requests,
        longest_chain=best.chain,
        play_s=round(best.play_s, 2),
        answer_s=round(best.answer_s, 2),
        cpu_s=round(best.cpu_s, 2),
        one_by_one_s=round(requests * LATENCY, 1),
        times_faster=round(requests * LATENCY / best.wall_s, 1),
        walls=[round(each.wall_s, 2) for each in rounds],
        published_users=from_data,
    )
    return 0 if best.wall_s <= BOUND * bare else 1


if __name__ == "__main__":
    sys.exit(main())
