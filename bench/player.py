"""Wall time of playing 12 AMemGym users with `rag_2_4_30`, on-policy, on a server with 50 ms latency.

Within an episode requests are sequential; at most 64 requests run concurrently. The server is the stub in a subprocess.
The users are the published ones if MEMFLOW_DATA contains them, otherwise random ones of the same shape.

After each round, the bare client (bench/bare_client.py) posts the same chains of requests. The bound is relative to its
time, since both depend on the machine. The ideal depends on no machine: it is the larger of (longest chain x latency)
and (requests x latency / concurrency).

    python -m bench.player [--profile]

The command prints the best of at most three rounds as a JSON line. The exit code is 1 above 1.25 x the wall time of the
bare client.
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

from bench.bare_client import RecordingChat, chains_of, replay
from bench.measure import arguments, published, repeat, report, request_context
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Sampling
from memflow.fingerprint import seeded
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.run.play import play_all
from resources.endpoints.chat import OpenAIChat
from resources.ledger.sql_ledger import SqlLedger

MEMORY, LATENCY, CONCURRENCY, BOUND = "rag_2_4_30", 0.05, 64, 1.25
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
    """The measurements of one round: seconds of playing (wall, CPU), seconds of the bare client, and requests."""

    wall_s: float
    cpu_s: float
    bare_s: float
    requests: int
    longest_chain: int

    @property
    def ideal_s(self) -> float:
        return max(self.longest_chain, self.requests / CONCURRENCY) * LATENCY


async def play_users(url: str, users: Path, ledger: SqlLedger) -> Round:
    """Play the first 12 users, then post the same requests with the bare client. Return the measurements."""
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
    bare = await replay(url, chains, CONCURRENCY)
    return Round(wall, cpu, bare, len(recorder.requests), max(map(len, chains)))


def run_round(url: str, users: Path, folder: Path) -> Round:
    """Play the users on an empty ledger, and post the same requests again. Return the measurements."""
    with SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger:
        return uvloop.run(play_users(url, users, ledger))


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY) as url:
        users, from_data = users_file(Path(name))
        rounds = repeat(
            lambda number: run_round(url, users, Path(name) / f"{number}"),
            lambda each: each.wall_s <= BOUND * each.bare_s,
            options.profile,
        )
    best, bare = min(rounds, key=lambda each: each.wall_s), min(each.bare_s for each in rounds)
    report(
        {"name": "player", "value": round(best.wall_s, 3), "unit": "s", "peer": round(bare, 3)},
        ratio=round(best.wall_s / bare, 3),
        bound=BOUND,
        ideal_s=round(best.ideal_s, 3),
        ratio_to_ideal=round(best.wall_s / best.ideal_s, 3),
        requests=best.requests,
        longest_chain=best.longest_chain,
        cpu_s=round(best.cpu_s, 2),
        rounds=len(rounds),
        published_users=from_data,
    )
    return 0 if best.wall_s <= BOUND * bare else 1


if __name__ == "__main__":
    sys.exit(main())
