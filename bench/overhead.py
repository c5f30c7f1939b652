"""CPU seconds of `memflow run` beside those of the same work without Dagster, in one run.

`work` is all that a run does but for Dagster: it reads the data sets, generates users, plays, answers and scores with
the scripted chat and a ledger, writes the tables and the indexes, evaluates their rules, and publishes the leaderboard.
`in_memory` is the part of it that needs no store: read, generate, play, answer, score. All are whole processes, start
and imports included. Two sizes: the demo, and 12 AMemGym users with `rag_2_4_30` and the two bounds (the published
users where MEMFLOW_DATA has them; otherwise users drawn from a seed in their shape).

    python -m bench.overhead [demo] [users]

Prints one JSON line for each, and ends with 1 where the work is less than 60 % of the demo's CPU time, or less than
80 % of that of the users.
"""

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from assets.fingerprints import Fingerprints
from bench.player import users_file
from memflow.benchmarks import registry
from memflow.benchmarks.api import Benchmark, States
from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import RequestContext
from memflow.cli.run import COLLECT_AFTER
from memflow.cli.selection import DEMO, DEMO_MEMORIES
from memflow.metrics.backends import MetricBackends
from memflow.run.answer import answer_all
from memflow.run.evolution import Environment, live
from memflow.run.transcripts import entries_of, held_at, pasts_of, policies_of, said_of
from memflow.scoring.attribution import attribute
from resources.checks import Scope, check_partition
from resources.gx import SUITES, validate_suite
from resources.lake import Lake
from resources.lance import LanceIndex
from resources.leaderboard import leaderboard_rows
from resources.ledger import SqlLedger
from resources.library import Library
from resources.models import Chats, Models
from resources.settings import Settings, load
from resources.warehouse import Warehouse

USERS, MEMORY, PARTITIONS = "amemgym_base", "rag_2_4_30", ("none", "oracle", "rag_2_4_30")
BOUNDS = {"demo": 0.6, "users": 0.8}
STATES = ("state.profiles", "state.variables", "state.changes", "state.entities")


class Store:
    """Where the tables of a run go: a lake whose rules are evaluated, or nowhere."""

    def __init__(self, settings: Settings, stored: bool) -> None:
        self.settings = settings
        self.lake = Lake(settings.lake_root) if stored else None
        self.index = LanceIndex(str(settings.home / "lance"))
        self.recipes = Fingerprints(
            settings, Lake(settings.lake_root), Library(settings.data, settings.datasets)
        )

    def write(
        self, table: str, partition: str, rows: Sequence[Any], meta: Mapping[str, str] | None = None
    ) -> None:
        """Write a partition and evaluate its rules."""
        if self.lake is None:
            return
        self.lake.write(table, partition, rows, recipe="bench", meta=meta)
        results = check_partition(table, partition, self.lake, Scope.of(table, partition, self.settings))
        if table in SUITES:
            results += validate_suite(table, rows)
        if failed := [each.name for each in results if not each.passed and each.severity == "error"]:
            raise SystemExit(f"{table} of {partition}: {', '.join(failed)}")

    def publish(self) -> None:
        """Write the leaderboard, and memflow.duckdb."""
        if self.lake is not None:
            warehouse = Warehouse(self.lake, self.settings.warehouse_path)
            self.write("score.leaderboard", "all", leaderboard_rows(self.settings, self.lake, warehouse))
            warehouse.publish()


class Work:
    """A domain's users, and its assistants on them."""

    def __init__(self, settings: Settings, models: Models, store: Store) -> None:
        self.settings = settings
        self.models = models
        self.store = store

    def run(self, domain: Domain, assistants: Sequence[str]) -> None:
        """Generate users, and evaluate the assistants on them."""
        benchmark = registry.benchmark(domain.benchmark)
        library = Library(self.settings.data, self.settings.datasets)
        records: list[Any] = []
        for published in (library.dataset(name) for name in domain.datasets):
            rows = benchmark.records(published, library.paths(published))
            self.store.write("raw.records", published.name, rows)
            records += rows

        async def generate(chats: Chats) -> tuple[Any, ...]:
            simulator, backbone = await chats.role("simulator"), await chats.role("backbone")
            states = await benchmark.states(domain, records, simulator)
            turns = await benchmark.turns(domain, records, states, simulator)
            keys = await benchmark.keys(domain, records, turns, None)
            probes = await benchmark.probes(domain, records, states, turns, simulator, keys)
            tools = await chats.tools("none")
            feedback = await benchmark.feedback(domain, turns, probes, backbone, simulator, tools)
            return states, turns, keys, probes, feedback

        states, turns, keys, probes, feedback = self._stage(domain, "state", "", generate)
        of_states = (states.profiles, states.variables, states.changes, states.entities)
        for table, rows in (
            *zip(STATES, of_states, strict=True),
            ("utterance.turns", turns),
            ("question.keys", keys),
            ("question.probes", probes),
            ("feedback.sessions", feedback),
        ):
            self.store.write(table, domain.name, rows)
        for assistant in assistants:
            self._evaluate(benchmark, domain, assistant, states, turns, probes, feedback)

    def _evaluate(
        self,
        benchmark: Benchmark,
        domain: Domain,
        assistant: str,
        states: States,
        turns: Any,
        probes: Any,
        feedback: Any,
    ) -> None:
        recipe, name = self.settings.memory_of(assistant), domain.name
        asked = [probe for probe in probes if probe.split == "test"]

        async def play(chats: Chats) -> Any:
            simulator, answering = await chats.role("simulator"), await chats.answering(assistant)
            tools = await chats.tools(assistant)
            episodes = benchmark.episodes(domain, states, turns, feedback, simulator, probes)
            world = Environment(benchmark, domain, assistant, answering, tools.chat, turns, [])
            memory, replier = recipe.factory(tools), benchmark.replier(domain, answering)
            return await live(world, recipe, episodes, memory, replier, clock=time.perf_counter)

        async def answer(chats: Chats) -> Any:
            chat, memory = await chats.answering(assistant), recipe.factory(await chats.tools(assistant))
            put = (benchmark, domain, assistant, asked, pasts, memory, chat)
            return await answer_all(*put, clock=time.perf_counter)

        async def score(chats: Chats) -> Any:
            judge = await chats.role("judge")
            found = await benchmark.verdicts(domain, asked, replies, MetricBackends(judge))
            return found, await benchmark.judge_claims(domain, claims, held, judge) if claims else []

        played = self._stage(domain, "memory", assistant, play) if recipe.system.needs_playing else []
        said, entries = said_of(name, assistant, played), entries_of(name, assistant, played)
        policies = policies_of(name, assistant, recipe.values, played)
        pasts = pasts_of(entries, said, asked)
        replies = self._stage(domain, "answer", assistant, answer)
        claims = benchmark.claims(domain, assistant, states, turns) if recipe.system.recalls_entries else []
        held = held_at(pasts_of(entries, said, claims), claims, recipe.system.memory.bookkeeping_kinds)
        verdicts, judged = self._stage(domain, "score", assistant, score)
        attributed = attribute(
            name,
            assistant,
            recipe.system,
            said=said,
            entries=entries,
            probes=asked,
            replies=replies,
            verdicts=verdicts,
        )
        if self.store.lake is None:
            return
        self.store.index.rebuild(name, assistant, entries)
        recipes = self.store.recipes
        for table, rows, meta in (
            ("memory.transcripts", said, {}),
            ("memory.indexes", entries, {}),
            ("memory.policies", policies, {}),
            ("memory.feedback", benchmark.rounds(domain, assistant, played), {}),
            ("answer.replies", replies, {}),
            ("score.verdicts", verdicts, recipes.scored_by(domain, assistant)),
            ("score.attributions", attributed, {}),
            ("score.claims", judged, recipes.judging(name)),
        ):
            self.store.write(table, f"{name}/{assistant}", rows, meta)

    def _stage(self, domain: Domain, stage: str, assistant: str, work: Any) -> Any:
        return self.models.run(RequestContext("bench", stage, domain.name, assistant), work)


def work(size: str, home: Path, stored: bool) -> None:
    """Do the work of a size in this process."""
    gc.set_threshold(COLLECT_AFTER, 20, 20)
    settings = load(over={"home": home})
    home.mkdir(parents=True, exist_ok=True)
    domains, assistants = (DEMO, DEMO_MEMORIES) if size == "demo" else ((USERS,), PARTITIONS)
    with closing(Models(settings, SqlLedger(settings.ledger_url))) as models:
        store = Store(settings, stored)
        for name in domains:
            Work(settings, models, store).run(
                settings.domain(name).limited(12 if size == "users" else 0), assistants
            )
        store.publish()


def _run(arguments: Sequence[str], data: Path) -> tuple[float, float]:
    """Run a process; return its CPU and wall seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "MEMFLOW_DATA": str(data)},
    )
    if ended.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed: {ended.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - started


def measure(size: str) -> bool:
    """Print the figures of a size; return whether its bound holds."""
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name), Path(name) / "data"
        data.mkdir()
        more: dict[str, Any] = {}
        if size == "users":
            path = data / dataset("amemgym_v1_base").files[0]
            path.parent.mkdir(parents=True)
            users, more["published_users"] = users_file(folder)
            path.symlink_to(users)
        options = ["--demo"] if size == "demo" else ["--domain", USERS, "--memory", MEMORY, "--limit", "12"]
        command = ["-m", "memflow.cli", "--home", str(folder / "run"), "run", *options]
        alone, _ = _run(["-m", "bench.overhead", "--work", size, str(folder / "work"), "stored"], data)
        in_memory, _ = _run(["-m", "bench.overhead", "--work", size, str(folder / "memory"), ""], data)
        first, wall = _run(command, data)
        again, _ = _run(command, data)
    figure = {
        "name": f"overhead {size}",
        "value": round(first, 2),
        "unit": "CPU s",
        "work": round(alone, 2),
        "ratio": round(alone / first, 3),
        "bound": BOUNDS[size],
        "in_memory": round(in_memory, 2),
        "up_to_date": round(again, 2),
        "wall_s": round(wall, 1),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps({**figure, **more}))
    return alone / first >= BOUNDS[size]


def main() -> int:
    """Measure the sizes named on the command line, or both."""
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], Path(sys.argv[3]), bool(sys.argv[4]))
        return 0
    held = [measure(size) for size in sys.argv[1:] or list(BOUNDS)]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
