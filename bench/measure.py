"""Functions that the benchmarks share: published inputs, timing, rounds, profiles, playing and answering, reports."""

import argparse
import cProfile
import json
import os
import pstats
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from memflow.benchmarks.api import Benchmark, States
from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import RequestContext
from memflow.chat.requests import Chat
from memflow.memories.memory import Embedder, Tools
from memflow.memories.registry import memory_factory
from memflow.records import Probe, Reply, TranscriptMessage, Turn
from memflow.run.answer import answer_all
from memflow.run.play import PlayedEpisode, play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

ROUNDS = 3
"""Maximum number of rounds; the best one counts."""

T = TypeVar("T")


def report(line: dict[str, Any], **more: Any) -> None:
    """Print a measurement as one line of JSON, together with the machine's load."""
    print(json.dumps({**line, **more, "load": round(os.getloadavg()[0], 1)}), flush=True)


def arguments(**defaults: Any) -> argparse.Namespace:
    """Return the parsed command line. Each default declares an option, and False a flag; `--profile` always exists."""
    parser = argparse.ArgumentParser()
    for name, default in {**defaults, "profile": False}.items():
        if default is False:
            parser.add_argument(f"--{name}", action="store_true")
        else:
            parser.add_argument(f"--{name}", type=type(default), default=default)
    return parser.parse_args()


def repeat(work: Callable[[int], T], within: Callable[[T], bool], profiled: bool) -> list[T]:
    """Call `work` with the round number, up to ROUNDS times, until a result meets the condition `within`.

    Return the results of all rounds. If `profiled`, print a profile of the rounds.
    """
    profile = cProfile.Profile(time.process_time)
    results: list[T] = []
    while len(results) < ROUNDS and not (results and within(results[-1])):
        if profiled:
            profile.enable()
        results.append(work(len(results)))
        profile.disable()
    if profiled:
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(30)
    return results


def cpu_seconds(work: Callable[[], T]) -> tuple[float, T]:
    """Call `work`. Return the CPU seconds of the call, and its result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def child_cpu_seconds() -> float:
    """Return the CPU seconds, user and system, of all ended subprocesses."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def published(path: str) -> Path | None:
    """Return the path of a file below MEMFLOW_DATA; None if it is missing."""
    folder = os.environ.get("MEMFLOW_DATA")
    found = Path(folder or "") / path
    return found if folder and found.is_file() else None


def request_context(domain: str, memory: str, stage: str) -> RequestContext:
    """Return the context with which the ledger records a benchmark's requests."""
    return RequestContext(run="bench", stage=stage, domain=domain, assistant=memory, model="stub")


async def play_and_answer(
    benchmark: Benchmark,
    domain: Domain,
    memory: str,
    states: States,
    turns: Sequence[Turn],
    probes: Sequence[Probe],
    playing: Chat,
    answering: Chat,
    embedder: Embedder,
    *,
    own_replies: bool = False,
) -> tuple[list[PlayedEpisode], float, float]:
    """Play the turns, then ask the probes. Return the episodes, and the wall seconds of playing and of answering.

    With `own_replies` the assistant replies to the turns (on-policy). Raises SystemExit if a message or probe failed.
    """
    began = time.perf_counter()
    episodes = benchmark.episodes(domain, states, turns, [], playing)
    replier = benchmark.replier(domain, playing) if own_replies else None
    played = await play_all(episodes, memory_factory(memory, Tools(playing, embedder)), replier)
    between = time.perf_counter()
    messages, entries = transcript_rows(domain.name, memory, played), entry_rows(domain.name, memory, played)
    histories = episode_histories(entries, messages, probes)
    factory = memory_factory(memory, Tools(answering, embedder))
    replies = await answer_all(benchmark, domain, memory, probes, histories, factory, answering)
    ended = time.perf_counter()
    rows: list[TranscriptMessage | Reply] = [*messages, *replies]
    failed = [row.reason for row in rows if row.reason]
    if failed or len(messages) < len(turns) or len(replies) != len(probes):
        raise SystemExit(
            f"{len(failed)} messages or probes failed. Fix the first error, then rerun: {(failed or ['not played'])[0]}"
        )
    return played, between - began, ended - between


@dataclass(frozen=True)
class PostgresServer:
    """A running PostgreSQL server for the user memflow on 127.0.0.1, and the function that runs its programs."""

    port: int
    run: Callable[..., None]

    def restart(self, mode: str) -> None:
        """Restart the server; `mode` is `fast`, or `immediate` for a restart as after a crash."""
        self.run("pg_ctl", "-w", "-m", mode, "restart")


@contextmanager
def postgres_server() -> Iterator[int | None]:
    """Start an empty PostgreSQL server for the user memflow, and yield its port; None if it is not installed."""
    with restartable_postgres() as server:
        yield None if server is None else server.port


@contextmanager
def restartable_postgres() -> Iterator[PostgresServer | None]:
    """Start an empty PostgreSQL server, and yield it; None if it is not installed."""
    on_path = shutil.which("initdb")
    programs = [Path(on_path)] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        yield None
        return
    home = Path(tempfile.mkdtemp(prefix="memflow-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(home, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(name: str, *options: str) -> None:
        command = [*as_user, str(programs[-1].parent / name), "-D", str(home / "data"), *options]
        subprocess.run(
            command, check=True, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )  # pipes would stay open as long as the server runs

    run("initdb", "-U", "memflow", "--auth=trust", "--no-sync")
    run("pg_ctl", "-w", "-l", str(home / "log"), "-o", f"-p {port} -h 127.0.0.1 -k {home}", "start")
    try:
        yield PostgresServer(port, run)
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)
