"""CPU time of evaluating a memory on a server of a GPU's speed, compared with that of the OpenAI SDK alone.

AMemGym users are played with `rag_2_4_30`, then all questions and state probes are asked. The server is the stub in a
subprocess, which answers 60 requests a second: .25 s each, 15 at once. Requests go through the ledger, as in a run. The
users are the published ones if MEMFLOW_DATA contains them, as in bench/player.py.

After each round, the SDK alone (bench/sdk_client.py) sends the same bodies: the chain of each user, then all probes.
The bound is relative to its CPU time, since both depend on the machine.

    python -m bench.evaluation [--profile]

The command prints the best of at most three rounds as a JSON line. The exit code is 1 if memflow takes more than BOUND
times the CPU time of the SDK alone.
"""

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import uvloop
from stub import stub_process

from bench.measure import arguments, play_and_answer, repeat, report, request_context
from bench.player import users_file
from bench.sdk_client import RecordingChat, chains_of, replay
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Sampling
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.ledger.sql_ledger import SqlLedger

MEMORY, LATENCY, CONCURRENCY, BOUND = "rag_2_4_30", 0.25, 15, 1.5
USERS = 6


@dataclass(frozen=True)
class Evaluation:
    """The measurements of one evaluation: requests, wall and CPU seconds, and CPU seconds of the SDK alone."""

    requests: int
    wall_s: float
    cpu_s: float
    sdk_s: float

    @property
    def ratio(self) -> float:
        """The CPU time as a multiple of that of the SDK alone."""
        return self.cpu_s / self.sdk_s


async def evaluate(url: str, users: Path, ledger: SqlLedger) -> Evaluation:
    """Play the users, ask all probes, then send the same requests by the SDK alone."""
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
    bodies = recorder.bodies()
    chains = chains_of(played, bodies)
    requests = sum(map(len, chains)) + len(bodies)
    sdk = await replay(url, chains, CONCURRENCY)
    sdk += await replay(url, [[body] for body in bodies.values()], CONCURRENCY)
    return Evaluation(requests, play_s + answer_s, cpu, sdk)


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY) as url:
        users, from_data = users_file(Path(name))

        def run_round(number: int) -> Evaluation:
            with SqlLedger(f"sqlite:///{name}/{number}.sqlite") as ledger:
                return uvloop.run(evaluate(url, users, ledger))

        rounds = repeat(run_round, lambda each: each.ratio <= BOUND, options.profile)
    best = min(rounds, key=lambda each: each.ratio)
    cpu_ms, sdk_ms = (1000 * seconds / best.requests for seconds in (best.cpu_s, best.sdk_s))
    report(
        {
            "name": "evaluation",
            "value": round(cpu_ms, 2),
            "unit": "CPU ms a request",
            "peer": round(sdk_ms, 2),
        },
        ratio=round(best.ratio, 2),
        bound=BOUND,
        requests=best.requests,
        requests_per_s=round(best.requests / best.wall_s, 1),
        core_share=round(best.cpu_s / best.wall_s, 3),
        rounds=len(rounds),
        published_users=from_data,
    )
    return 0 if best.ratio <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
