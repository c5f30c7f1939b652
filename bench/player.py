"""CPU time of playing AMemGym users with `rag_2_4_30`, on-policy, on a server of a GPU's speed.

The server is the stub in a subprocess, which answers 60 requests a second: .25 s each, 15 at once. Within an episode
requests are sequential. The users are the published ones if MEMFLOW_DATA contains them, otherwise random ones of the
same shape.

After each round, the OpenAI SDK alone (bench/sdk_client.py) sends the same chains of requests. The bound is relative to
its CPU time, since both depend on the machine.

    python -m bench.player [--profile]

The command prints the best of at most three rounds as a JSON line. The exit code is 1 if memflow takes more than BOUND
times the CPU time of the SDK alone.
"""

import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import uvloop
from stub import stub_process
from stub.answers import random_text

from bench.measure import arguments, published, repeat, report, request_context
from bench.sdk_client import RecordingChat, chains_of, replay
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Sampling
from memflow.fingerprint import seeded
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.run.play import play_all

MEMORY, LATENCY, CONCURRENCY, BOUND = "rag_2_4_30", 0.25, 15, 1.5
USERS, PERIODS, VARIABLES = 12, 11, 20


def draw_user(number: int) -> dict[str, Any]:
    """Return a random user in the format of the published file: 11 sessions at first, then 3 or 4 per period."""
    chance = random.Random(seeded("bench", "player", number))
    schema = {f"variable_{index}": [f"value_{value}" for value in range(3)] for index in range(VARIABLES)}
    state = {variable: "value_0" for variable in schema}
    periods: list[dict[str, Any]] = []
    for period in range(PERIODS):
        moved = dict.fromkeys(schema) if period == 0 else dict.fromkeys(chance.sample(list(schema), 4))
        before = state
        if period:
            state = {
                **state,
                **{name: chance.choice([v for v in schema[name] if v != state[name]]) for name in moved},
            }
        end = date(2020, 10, 1) + timedelta(days=91 * period)
        sessions = [
            {
                "event": None,
                "exposed_states": {name: state[name] for name in list(moved)[at::count]},
                "query": " ".join(random_text(chance, 60, 80) for _ in range(3)),
                "session_time": f"{end - timedelta(days=count - at)} 20:15:06",
            }
            for count in [11 if period == 0 else chance.choice((3, 4))]
            for at in range(count)
        ]
        updates = {name: {"old": before[name] if period else None, "new": state[name]} for name in moved}
        periods.append({"period_end": f"{end}", "sessions": sessions, "state": state, "updates": updates})
    profile = "\n".join(f"trait {index}: {random_text(chance, 60, 80)}" for index in range(9))
    return {
        "id": f"user-{number}",
        "start_time": "2020-10-01",
        "user_profile": {"name": f"User {number}", "formatted_str": profile},
        "state_schema": schema,
        "periods": periods,
        "qas": [
            {
                "query": "What suits me?",
                "required_info": ["variable_0"],
                "answer_choices": [
                    {"state": [f"value_{value}"], "answer": f"Answer {value}."} for value in range(3)
                ],
            }
        ],
    }


def users_file(folder: Path) -> tuple[Path, bool]:
    """Return the published file, or a random one in `folder`; and whether the file is the published one."""
    if (path := published(find_dataset("amemgym_v1_base").files[0])) is not None:
        return path, True
    drawn = folder / "data.json"
    drawn.write_text(json.dumps([draw_user(number) for number in range(USERS)]), encoding="utf-8")
    return drawn, False


@dataclass(frozen=True)
class Round:
    """The measurements of one round: wall and CPU seconds of playing, CPU seconds of the SDK alone, and requests."""

    wall_s: float
    cpu_s: float
    sdk_s: float
    requests: int

    @property
    def ratio(self) -> float:
        """The CPU time as a multiple of that of the SDK alone."""
        return self.cpu_s / self.sdk_s


async def play_users(url: str, users: Path, ledger: SqlLedger) -> Round:
    """Play the first 12 users, then send the same requests by the SDK alone. Return the measurements."""
    benchmark, domain = AMemGym(), find_domain("amemgym_base").limited(USERS)
    source = find_dataset("amemgym_v1_base")
    async with OpenAIChat(url, "stub", "bench", Sampling(max_tokens=256), concurrency=CONCURRENCY) as chat:
        recorder = RecordingChat(chat)
        ledgered = LedgeredChat(recorder, ledger, request_context(domain.name, MEMORY, "memory"))
        records = benchmark.records(source, {source.files[0]: users})
        states = await benchmark.states(domain, records, ledgered)
        turns = await benchmark.turns(domain, records, states, ledgered)
        started, used = time.perf_counter(), time.process_time()
        episodes = benchmark.episodes(domain, states, turns, [], ledgered)
        memory = memory_factory(MEMORY, Tools(ledgered, HashingEmbedder()))
        played = await play_all(episodes, memory, benchmark.replier(domain, ledgered))
        wall, cpu = time.perf_counter() - started, time.process_time() - used
    if lost := [line.reason for episode in played for line in episode.lines if line.reason]:
        raise SystemExit(f"{len(lost)} messages failed. Fix the first error, then rerun: {lost[0]}")
    chains = chains_of(played, recorder.bodies())
    return Round(wall, cpu, await replay(url, chains, CONCURRENCY), len(recorder.requests))


def run_round(url: str, users: Path, folder: Path) -> Round:
    """Play the users on an empty ledger, and send the same requests again. Return the measurements."""
    with SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger:
        return uvloop.run(play_users(url, users, ledger))


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY) as url:
        users, from_data = users_file(Path(name))
        rounds = repeat(
            lambda number: run_round(url, users, Path(name) / f"{number}"),
            lambda each: each.ratio <= BOUND,
            options.profile,
        )
    best = min(rounds, key=lambda each: each.ratio)
    cpu_ms, sdk_ms = (1000 * seconds / best.requests for seconds in (best.cpu_s, best.sdk_s))
    report(
        {"name": "player", "value": round(cpu_ms, 2), "unit": "CPU ms a request", "peer": round(sdk_ms, 2)},
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
