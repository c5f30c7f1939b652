"""The player against the ideal: AMemGym's 12 users with `rag_2_4_30`, on-policy, on a server that takes 50
ms.

Inside an episode every request waits for the one before; 64 may be in flight. So no client can be faster than
the larger of (longest chain of dependent requests x latency) and (requests x latency / concurrency). The
server is the stub, in a process of its own; requests go through the ledger, as in a run. The users are the
published ones where MEMFLOW_DATA has them, otherwise drawn from a seed in the same shape.

    python -m bench.player [--profile]

Prints one JSON line, and ends with 1 where the wall time is above 1.25 x the ideal.
"""

import asyncio
import cProfile
import json
import os
import pstats
import random
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from memflow.benchmarks.amemgym import AMemGym
from memflow.chat.ledger import Account, LedgeredChat
from memflow.chat.requests import Sampling
from memflow.datasets import dataset
from memflow.domains import DOMAINS
from memflow.fingerprint import seeded
from memflow.hashing import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import remember
from memflow.play import Played, play_all
from resources.chat import OpenAIChat
from resources.ledger import SqlLedger
from resources.stub import stub_process
from resources.stub_answers import text

MEMORY, LATENCY, CONCURRENCY, BOUND = "rag_2_4_30", 0.05, 64, 1.25
USERS, PERIODS, VARIABLES = 12, 11, 20


def drawn_user(number: int) -> dict[str, Any]:
    """A user in the shape of the published file: 11 sessions at first, then 3 or 4 a period."""
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
                "query": " ".join(text(chance, 60, 80) for _ in range(3)),
                "session_time": f"{end - timedelta(days=count - at)} 20:15:06",
            }
            for count in [11 if period == 0 else chance.choice((3, 4))]
            for at in range(count)
        ]
        updates = {name: {"old": before[name] if period else None, "new": state[name]} for name in moved}
        periods.append({"period_end": f"{end}", "sessions": sessions, "state": state, "updates": updates})
    profile = "\n".join(f"trait {index}: {text(chance, 60, 80)}" for index in range(9))
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
    """The published file where there is one, or else a drawn one in `folder`; and whether it is published."""
    published = Path(os.environ.get("MEMFLOW_DATA", "")) / dataset("amemgym_v1_base").files[0]
    if "MEMFLOW_DATA" in os.environ and published.is_file():
        return published, True
    drawn = folder / "data.json"
    drawn.write_text(json.dumps([drawn_user(number) for number in range(USERS)]), encoding="utf-8")
    return drawn, False


async def play_users(url: str, users: Path, ledger: SqlLedger) -> tuple[list[Played], float, float]:
    """The first 12 users as they were played, and the seconds it took: of the clock, and of this process."""
    benchmark, domain = AMemGym(), DOMAINS["amemgym_base"].limited(USERS)
    source = dataset("amemgym_v1_base")
    async with OpenAIChat(url, "stub", "bench", Sampling(max_tokens=256), concurrency=CONCURRENCY) as chat:
        account = Account(run="bench", stage="memory", domain=domain.name, assistant=MEMORY, model="stub")
        ledgered = LedgeredChat(chat, ledger, account)
        records = benchmark.records(source, {source.files[0]: users})
        states = await benchmark.states(domain, records, ledgered)
        turns = await benchmark.turns(domain, records, states, ledgered)
        episodes = benchmark.episodes(domain, states, turns, [], ledgered)
        replier = benchmark.replier(domain, ledgered)
        memory = remember(MEMORY, Tools(ledgered, HashingEmbedder()))
        started, used = time.perf_counter(), time.process_time()
        played = await play_all(episodes, memory, replier)
        return played, time.perf_counter() - started, time.process_time() - used


def main() -> int:
    """Play, and say how near to the ideal that was."""
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder, stub_process(latency=LATENCY) as url:
        users, published = users_file(Path(folder))
        with SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger:
            if "--profile" in sys.argv:
                profile.enable()
            played, wall, used = asyncio.run(play_users(url, users, ledger))
            profile.disable()
            asked = ledger.accounts(by=())[0].asked
    chains = [sum(line.completion is not None for line in episode.lines) for episode in played]
    if lost := [line.reason for episode in played for line in episode.lines if line.reason]:
        raise SystemExit(f"{len(lost)} messages were lost; the first: {lost[0]}")
    ideal = max(max(chains) * LATENCY, asked * LATENCY / CONCURRENCY)
    figure = {"name": "player", "value": round(wall, 3), "unit": "s", "peer": round(ideal, 3)}
    told = {"bound": BOUND, "requests": asked, "longest_chain": max(chains), "cpu_s": round(used, 2)}
    print(json.dumps({**figure, "ratio": round(wall / ideal, 3), **told, "published_users": published}))
    if "--profile" in sys.argv:
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(30)
    return 0 if wall <= BOUND * ideal else 1


if __name__ == "__main__":
    sys.exit(main())
