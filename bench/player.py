"""Wall time of playing 12 AMemGym users with `rag_2_4_30`, on-policy, on a server with 50 ms latency.

Within an episode requests are sequential; at most 64 requests run concurrently. The ideal is the larger of (longest
chain of dependent requests x latency) and (requests x latency / concurrency). The server is the stub in a subprocess.
The users are the published ones if MEMFLOW_DATA contains them, otherwise random ones of the same shape.

    python -m bench.player [--profile]

The command prints the best of at most three rounds as a JSON line. The exit code is 1 above 1.25 x the ideal.
"""

import asyncio
import json
import random
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from bench.measure import arguments, published, repeat, report, request_context
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.chat.ledger import LedgeredChat
from memflow.chat.requests import Sampling
from memflow.fingerprint import seeded
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.run.play import PlayedEpisode, play_all
from resources.chat import OpenAIChat
from resources.ledger import SqlLedger
from resources.stub import stub_process
from resources.stub_answers import random_text

MEMORY, LATENCY, CONCURRENCY, BOUND = "rag_2_4_30", 0.05, 64, 1.25
USERS, PERIODS, VARIABLES = 12, 11, 20


def draw_user(number: int) -> dict[str, Any]:
    """Return a random user in the shape of the published file: 11 sessions at first, then 3 or 4 per period."""
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
    """Return the published file, or a random one written to `folder`; and whether the file is the published one."""
    if (path := published(find_dataset("amemgym_v1_base").files[0])) is not None:
        return path, True
    drawn = folder / "data.json"
    drawn.write_text(json.dumps([draw_user(number) for number in range(USERS)]), encoding="utf-8")
    return drawn, False


async def play_users(url: str, users: Path, ledger: SqlLedger) -> tuple[list[PlayedEpisode], float, float]:
    """Play the first 12 users. Return the episodes, and the wall and CPU seconds."""
    benchmark, domain = AMemGym(), find_domain("amemgym_base").limited(USERS)
    source = find_dataset("amemgym_v1_base")
    async with OpenAIChat(url, "stub", "bench", Sampling(max_tokens=256), concurrency=CONCURRENCY) as chat:
        ledgered = LedgeredChat(chat, ledger, request_context(domain.name, MEMORY, "memory"))
        records = benchmark.records(source, {source.files[0]: users})
        states = await benchmark.states(domain, records, ledgered)
        turns = await benchmark.turns(domain, records, states, ledgered)
        started, used = time.perf_counter(), time.process_time()
        episodes = benchmark.episodes(domain, states, turns, [], ledgered)
        memory = memory_factory(MEMORY, Tools(ledgered, HashingEmbedder()))
        played = await play_all(episodes, memory, benchmark.replier(domain, ledgered))
        return played, time.perf_counter() - started, time.process_time() - used


def run_round(url: str, users: Path, folder: Path) -> tuple[float, float, dict[str, Any]]:
    """Return the wall seconds, the ideal seconds, and further measurements of one round."""
    with SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger:
        played, wall, used = asyncio.run(play_users(url, users, ledger))
        requests = ledger.usage(by=())[0].requests
    if lost := [line.reason for episode in played for line in episode.lines if line.reason]:
        raise SystemExit(f"{len(lost)} messages failed. Fix the first: {lost[0]}")
    longest = max(sum(line.completion is not None for line in episode.lines) for episode in played)
    ideal = max(longest * LATENCY, requests * LATENCY / CONCURRENCY)
    return wall, ideal, {"requests": requests, "longest_chain": longest, "cpu_s": round(used, 2)}


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY) as url:
        users, from_data = users_file(Path(name))
        rounds = repeat(
            lambda number: run_round(url, users, Path(name) / f"{number}"),
            lambda each: each[0] <= BOUND * each[1],
            options.profile,
        )
    best, ideal, about = min(rounds, key=lambda each: each[0])
    report(
        {"name": "player", "value": round(best, 3), "unit": "s", "peer": round(ideal, 3)},
        ratio=round(best / ideal, 3),
        bound=BOUND,
        **about,
        rounds=len(rounds),
        published_users=from_data,
    )
    return 0 if best <= BOUND * ideal else 1


if __name__ == "__main__":
    sys.exit(main())
