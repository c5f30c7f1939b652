"""CPU time of evaluating eight assistants concurrently on a server of a GPU's speed.

Eight memories are evaluated on AMemGym users: `memflow run` with Dagster, checks and publishing. All roles are models
of a stub server in a subprocess, which answers 60 requests a second: .25 s each, 15 at once. The domain is generated
before the measurement.

    python -m bench.fleet [--memories none,full,...]

The command prints one JSON line. The exit code is 1 if a request takes more than BOUND CPU ms of the whole run: at 60
requests a second, less than a third of a core. `--memories` measures other memories.
"""

import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stub import stub_process

from bench.homes import stub_settings
from bench.measure import arguments, child_cpu_seconds, report
from bench.player import users_file
from memflow.benchmarks.registry import find_dataset
from memflow.cli.run import FAULTY_MEMORY

DOMAIN, USERS, LATENCY, CONCURRENCY, BOUND = "amemgym_base", 1, 0.25, 15, 5.0
MEMORIES = (
    *("full", "recent", "rag_2_4_30", "bm25_message"),
    *("bm25_session", "embed_message", "embed_session", "mem0"),
)


@dataclass(frozen=True)
class Fleet:
    """The measurements of a run: wall and CPU seconds, and requests."""

    wall_s: float
    cpu_s: float
    requests: int

    @property
    def cpu_ms(self) -> float:
        """The CPU milliseconds a request."""
        return 1000 * self.cpu_s / self.requests


def run_fleet(folder: Path, url: str, data: Path, names: Sequence[str]) -> Fleet:
    """Generate the domain, then evaluate the memories `names`. Return the measurements of the evaluation."""
    folder.mkdir()
    settings = folder / "memflow.toml"
    settings.write_text(f'home = "{folder}"\ndata = "{data}"\n' + stub_settings(url, CONCURRENCY))
    run = [sys.executable, "-m", "memflow.cli", "--settings", str(settings), "run"]
    run += ["--domain", DOMAIN, "--limit", str(USERS), "--no-baselines", "--format", "json"]
    subprocess.run([*run, "--memory", "none"], check=True, capture_output=True)
    ledger = folder / "ledger.sqlite"
    before, used, began = _completions(ledger), child_cpu_seconds(), time.perf_counter()
    memories = [part for name in names for part in ("--memory", name)]
    ended = subprocess.run([*run, *memories], check=False, capture_output=True, text=True)
    wall = time.perf_counter() - began
    if ended.returncode not in (0, FAULTY_MEMORY):
        raise SystemExit(f"`memflow run` failed. Fix the error, then rerun: {ended.stderr[-2000:]}")
    failed = json.loads(ended.stdout)["runs"]["failed"]
    if failed:
        raise SystemExit(f"partitions failed. Fix the errors, then rerun: {failed}")
    return Fleet(wall, child_cpu_seconds() - used, _completions(ledger) - before)


def _completions(ledger: Path) -> int:
    with sqlite3.connect(ledger) as connection:
        return int(connection.execute("SELECT count(*) FROM completions").fetchone()[0])


def main() -> int:
    options = arguments(memories=",".join(MEMORIES))
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY) as url:
        users, from_data = users_file(Path(name))
        relative = Path(find_dataset("amemgym_v1_base").files[0])
        data = (
            users.parents[len(relative.parts) - 1] if from_data else _write_users(users, relative, Path(name))
        )
        fleet = run_fleet(Path(name) / "run", url, data, options.memories.split(","))
    report(
        {"name": "fleet", "value": round(fleet.cpu_ms, 2), "unit": "CPU ms a request"},
        bound=BOUND,
        requests=fleet.requests,
        requests_per_s=round(fleet.requests / fleet.wall_s, 1),
        cpu_s=round(fleet.cpu_s, 1),
        memories=options.memories,
        peak_mb=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        published_users=from_data,
    )
    return 0 if fleet.cpu_ms <= BOUND else 1


def _write_users(users: Path, relative: Path, folder: Path) -> Path:
    """Write random users to the path of the published file. Return the data folder."""
    target = folder / "data" / relative
    target.parent.mkdir(parents=True)
    target.write_bytes(users.read_bytes())
    return folder / "data"


if __name__ == "__main__":
    sys.exit(main())
