"""CPU time per answered probe at zero latency, which limits the answers per second of one process.

Ten generated AMemGym users are played with `rag_2_4_30`; then all 2,200 questions and state probes are asked of the
scripted chat, through a ledger in SQLite. The time includes restoring and reading the memories, prompts, the scripted
answers, parsing and the ledger. With `--memory full_100000` the prompts contain the whole conversation.

    python -m bench.probes [--memory rag_2_4_30] [--users 10] [--profile]

The fastest of at most three rounds counts. The command prints one JSON line. The exit code is 1 above 1.5 ms per probe.
"""

import asyncio
import sys
import tempfile
import time

from bench.measure import arguments, repeat, report, request_context
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.chat.ledger import LedgeredChat
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.resources.data.library import Library
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.run.answer import answer_all
from memflow.run.handlers import handlers
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

BOUND_MS = 1.5


async def answer_users(ledger: SqlLedger, memory: str, users: int) -> tuple[int, float]:
    """Generate users, play them and ask all probes. Return the number of probes, and the CPU seconds of asking."""
    benchmark, domain = AMemGym(), find_domain("amemgym_base_generated").limited(users)
    chat = LedgeredChat(ScriptedChat(handlers({})), ledger, request_context(domain.name, memory, "answer"))
    source = find_dataset(domain.datasets[0])
    records = benchmark.records(source, Library(None).paths(source))
    states = await benchmark.states(domain, records, chat)
    turns = await benchmark.turns(domain, records, states, chat)
    probes = await benchmark.probes(domain, records, states, turns, chat)
    episodes = benchmark.episodes(domain, states, turns, [], chat)
    factory = memory_factory(memory, Tools(chat, HashingEmbedder()))
    played = await play_all(episodes, factory, benchmark.replier(domain, chat))
    messages, entries = transcript_rows(domain.name, memory, played), entry_rows(domain.name, memory, played)
    began = time.process_time()
    histories = episode_histories(entries, messages, probes)
    replies = await answer_all(
        benchmark, domain, memory, probes, histories, factory, chat, clock=time.perf_counter
    )
    used = time.process_time() - began
    if failed := [reply.reason for reply in replies if reply.reason]:
        raise SystemExit(f"{len(failed)} probes failed. Fix the first error, then rerun: {failed[0]}")
    return len(probes), used


def main() -> int:
    options = arguments(memory="rag_2_4_30", users=10)
    with tempfile.TemporaryDirectory() as name:

        def run_round(number: int) -> tuple[int, float]:
            with SqlLedger(f"sqlite:///{name}/{number}.sqlite") as ledger:
                return asyncio.run(answer_users(ledger, options.memory, options.users))

        rounds = repeat(run_round, lambda each: False, options.profile)
    probes, used = min(rounds, key=lambda each: each[1])
    each_ms = 1000 * used / probes
    report(
        {"name": "probes", "value": round(each_ms, 3), "unit": "CPU ms", "peer": None},
        bound=BOUND_MS,
        memory=options.memory,
        probes=probes,
        probes_per_second=round(probes / used),
        cpu_s=[round(each, 2) for _, each in rounds],
    )
    return 0 if each_ms <= BOUND_MS else 1


if __name__ == "__main__":
    sys.exit(main())
