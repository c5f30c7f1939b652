"""CPU seconds of `memflow run` compared with the same pipeline steps without Dagster.

The benchmark measures three processes, including startup and imports. The first is `memflow run`. The second, `work`,
executes the same steps without Dagster: it generates users, plays episodes, answers probes and scores the answers with
the scripted chat. It also writes all tables, evaluates the checks and publishes the leaderboard. The third,
`in_memory`, executes the steps without writing tables. There are two sizes: the demo, and 12 AMemGym users with
`rag_2_4_30`, `none` and `oracle`. The users are the published ones if MEMFLOW_DATA contains them, otherwise random.

    python -m bench.overhead [demo] [users]

The command prints one JSON line per size. The exit code is 1 if `work` takes less than 60 % of the CPU time of
`memflow run` for the demo, or less than 80 % for the users: Dagster's overhead is then too large.
"""

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.measure import child_cpu_seconds, report
from bench.player import users_file
from memflow.assets.fingerprints import ALL, Fingerprints
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_dataset
from memflow.cli.run import COLLECTION_THRESHOLDS
from memflow.operations.selection import DEMO_MEMORIES, demo_domains
from memflow.pipeline import Scope, partition_key, steps_of
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.models import Models
from memflow.resources.publishing.drift import DRIFT, drift_table
from memflow.resources.publishing.publication import publication
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings, load
from memflow.resources.steps import StepRunner
from memflow.resources.validation.checks import Scope as CheckScope
from memflow.resources.validation.checks import check_partition
from memflow.resources.validation.gx import DATA_DOCS, SUITES, validate_suite

USERS, MEMORY, PARTITIONS = "amemgym_base", "rag_2_4_30", ("none", "oracle", "rag_2_4_30")
BOUNDS = {"demo": 0.6, "users": 0.8}


class Work:
    """An executor of the pipeline steps in this process, without Dagster.

    Tables are written and checked if `stored` is True; otherwise they stay in memory.
    """

    def __init__(self, settings: Settings, models: Models, stored: bool) -> None:
        self.settings = settings
        self.fingerprints = Fingerprints.of(settings)
        self.lake = self.fingerprints.lake if stored else MemoryLake(settings.lake_root)
        self.stored = stored
        self.warehouse = Warehouse(self.lake, settings.warehouse_path)
        self.runner = StepRunner(
            settings,
            self.lake,
            self.fingerprints.library,
            models,
        )

    def run(self, domain: Domain, assistants: Sequence[str]) -> None:
        """Generate a domain, and evaluate the assistants in it."""
        for name in domain.datasets:
            self._run("dataset", name, dataset=name)
        self._run("domain", domain.name, domain=domain)
        for assistant in assistants:
            self._run(
                "domain x assistant",
                partition_key(domain.name, assistant),
                domain=domain,
                assistant=assistant,
            )

    def publish(self) -> None:
        """Write the leaderboard and memflow.duckdb."""
        if self.stored:
            code = self.fingerprints.scoring
            tables = publication(self.settings, self.lake, self.warehouse, "bench", code)
            for table, published in tables.items():
                self.lake.write(table, ALL, published.rows, fingerprint="bench", meta=published.meta)
                self._check(table, ALL)
            self.lake.write(DRIFT, ALL, drift_table(self.settings, self.lake), fingerprint="bench")
            self._check(DRIFT, ALL)
            self.warehouse.publish()

    def _run(self, scope: Scope, key: str, **partition: Any) -> None:
        for step in steps_of(scope):
            meta: dict[str, str] = {}
            tables = self.runner.run(step, "bench", **partition)
            if self.stored and "domain" in partition:
                meta = self.fingerprints.provenance(step, partition["domain"], partition.get("assistant", ""))
            for table, rows in tables.items():
                self.lake.write(table, key, rows, fingerprint="bench", meta=meta)
                if self.stored:
                    self._check(table, key)

    def _check(self, table: str, key: str) -> None:
        results = check_partition(table, key, self.lake, CheckScope.of(table, key, self.settings))
        if table in SUITES:
            results += validate_suite(table, key, self.lake.read(table, key), self.settings.home / DATA_DOCS)
        if failed := [each.name for each in results if not each.passed and each.severity == "error"]:
            raise SystemExit(
                f"{table} of {key} failed the checks {', '.join(failed)}. Fix the step that returns the rows."
            )


class MemoryLake(Lake):
    """A lake that stores its rows in memory and writes no file."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.tables: dict[tuple[str, str], list[Any]] = {}

    def write(
        self, table: str, partition: str, rows: Iterable[Any], *, fingerprint: str, meta: Any = None
    ) -> Facts:
        self.tables[table, partition] = list(rows)
        return Facts("", fingerprint, len(self.tables[table, partition]))

    def stream(
        self, table: str, partition: str, *, vectors: bool = True, episodes: Collection[str] | None = None
    ) -> Iterator[Any]:
        for row in self.tables[table, partition]:
            if episodes is None or row.episode_id in episodes:
                yield row

    def partitions(self, table: str) -> list[str]:
        return [partition for name, partition in self.tables if name == table]


def work(size: str, home: Path, stored: bool) -> None:
    """Run all pipeline steps of a size in this process, without Dagster."""
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    settings = load(over={"home": home})
    home.mkdir(parents=True, exist_ok=True)
    domains, assistants = (demo_domains(), DEMO_MEMORIES) if size == "demo" else ((USERS,), PARTITIONS)
    with closing(Models(settings, SqlLedger(settings.ledger_url))) as models:
        of_size = Work(settings, models, stored)
        for name in domains:
            of_size.run(settings.domain(name).limited(12 if size == "users" else 0), assistants)
        of_size.publish()


def _run(arguments: Sequence[str], data: Path) -> tuple[float, float]:
    """Run a Python command in a subprocess. Return the CPU and wall seconds of the subprocess."""
    before, started = child_cpu_seconds(), time.perf_counter()
    ended = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "MEMFLOW_DATA": str(data)},
    )
    if ended.returncode:
        raise SystemExit(f"`{' '.join(arguments)}` failed. Fix the error, then rerun: {ended.stderr[-2000:]}")
    return child_cpu_seconds() - before, time.perf_counter() - started


def measure(size: str) -> bool:
    """Print the CPU seconds of `memflow run` and of `work`. Return whether `work` takes at least the required share."""
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name), Path(name) / "data"
        data.mkdir()
        more: dict[str, Any] = {}
        if size == "users":
            path = data / find_dataset("amemgym_v1_base").files[0]
            path.parent.mkdir(parents=True)
            users, more["published_users"] = users_file(folder)
            path.symlink_to(users)
        options = ["--demo"] if size == "demo" else ["--domain", USERS, "--memory", MEMORY, "--limit", "12"]
        command = ["-m", "memflow.cli", "--home", str(folder / "run"), "run", *options]
        alone, _ = _run(["-m", "bench.overhead", "--work", size, str(folder / "work"), "stored"], data)
        in_memory, _ = _run(["-m", "bench.overhead", "--work", size, str(folder / "memory"), ""], data)
        first, wall = _run(command, data)
        again, _ = _run(command, data)
    report(
        {"name": f"overhead {size}", "value": round(first, 2), "unit": "CPU s", "work": round(alone, 2)},
        ratio=round(alone / first, 3),
        bound=BOUNDS[size],
        in_memory=round(in_memory, 2),
        up_to_date=round(again, 2),
        wall_s=round(wall, 1),
        **more,
    )
    return alone / first >= BOUNDS[size]


def main() -> int:
    """Measure the named sizes, or both. Return 1 if `work` takes too small a share of the CPU time, else 0."""
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], Path(sys.argv[3]), bool(sys.argv[4]))
        return 0
    held = [measure(size) for size in sys.argv[1:] or list(BOUNDS)]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
