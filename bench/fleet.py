"""Wall time of evaluating eight assistants concurrently, compared with the critical path and a sequential run.

Eight memories are evaluated on the first 12 users of AMemGym: `memflow run` with Dagster, checks and publishing. All
roles are models of a stub server in a subprocess, which takes 200 ms per request; at most 256 requests run at once. The
domain is generated before the measurement. The ideal wall time is the larger of two numbers:

* the critical path: (longest chain of dependent requests of an episode + 1 round of probes) x latency;
* all requests x latency / 256.

    python -m bench.fleet [--serial] [--memories none,full,...]

The command prints one JSON line. The exit code is 1 if the wall time is above 1.3 x the ideal. `--serial` also measures
a run with one partition at a time. The longest chain is that of `mem0`, whose requests for each message depend on each
other; `--memories` measures other memories.
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
from memflow.benchmarks.samples import sample_name
from resources.lake.lake import Lake

DOMAIN, USERS, LATENCY, CONCURRENCY, BOUND = "amemgym_base", 12, 0.2, 256, 1.3
MEMORIES = (
    *("full", "recent", "rag_2_4_30", "bm25_message"),
    *("bm25_session", "embed_message", "embed_session", "mem0"),
)


@dataclass(frozen=True)
class Fleet:
    """The measurements of a run: wall and CPU seconds, requests, and the longest chain of dependent requests."""

    wall_s: float
    cpu_s: float
    requests: int
    chain: int

    @property
    def ideal_s(self) -> float:
        return max((self.chain + 1) * LATENCY, self.requests * LATENCY / CONCURRENCY)

    @property
    def in_flight(self) -> float:
        """The mean number of concurrent requests."""
        return self.requests * LATENCY / self.wall_s


def run_fleet(folder: Path, url: str, data: Path, names: Sequence[str], *options: str) -> Fleet:
    """Generate the domain, then evaluate the memories `names`. Return the measurements of the evaluation."""
    folder.mkdir()
    settings = folder / "memflow.toml"
    settings.write_text(f'home = "{folder}"\ndata = "{data}"\n' + stub_settings(url, CONCURRENCY))
    run = [sys.executable, "-m", "memflow.cli", "--settings", str(settings), "run"]
    run += ["--domain", DOMAIN, "--limit", str(USERS), "--no-bounds", "--format", "json"]
    subprocess.run([*run, "--memory", "none"], check=True, capture_output=True)
    ledger = folder / "ledger.sqlite"
    before, used, began = _completions(ledger), child_cpu_seconds(), time.perf_counter()
    memories = [part for name in names for part in ("--memory", name)]
    ended = subprocess.run([*run, *memories, *options], check=False, capture_output=True, text=True)
    wall = time.perf_counter() - began
    if ended.returncode:
        raise SystemExit(f"`memflow run` failed. Fix the error, then rerun: {ended.stderr[-2000:]}")
    failed = json.loads(ended.stdout)["runs"]["failed"]
    if failed:
        raise SystemExit(f"partitions failed. Fix the errors, then rerun: {failed}")
    return Fleet(
        wall,
        child_cpu_seconds() - used,
        _completions(ledger) - before,
        _longest_chain(folder / "lake", names),
    )


def _completions(ledger: Path) -> int:
    with sqlite3.connect(ledger) as connection:
        return int(connection.execute("SELECT count(*) FROM completions").fetchone()[0])


def _longest_chain(lake: Path, names: Sequence[str]) -> int:
    """Return the length of the longest chain of dependent requests of an episode, of memory and replies."""
    tables = Lake(lake)
    chains = []
    for memory in names:
        counts: dict[str, int] = {}
        for line in tables.read("memory.transcripts", f"{sample_name(DOMAIN, USERS)}/{memory}"):
            calls = (line.completion is not None) + (line.model_calls or 0)
            counts[line.episode_id] = counts.get(line.episode_id, 0) + calls
        chains.append(max(counts.values()))
    return max(chains)


def main() -> int:
    options = arguments(serial=False, memories=",".join(MEMORIES))
    names = options.memories.split(",")
    with tempfile.TemporaryDirectory() as name, stub_process(latency=LATENCY) as url:
        users, from_data = users_file(Path(name))
        relative = Path(find_dataset("amemgym_v1_base").files[0])
        data = (
            users.parents[len(relative.parts) - 1] if from_data else _write_users(users, relative, Path(name))
        )
        fleet = run_fleet(Path(name) / "parallel", url, data, names, "--parallel", "8")
        serial = (
            run_fleet(Path(name) / "serial", url, data, names, "--parallel", "1") if options.serial else None
        )
    ratio = fleet.wall_s / fleet.ideal_s
    report(
        {"name": "fleet", "value": round(fleet.wall_s, 1), "unit": "s", "peer": round(fleet.ideal_s, 1)},
        ratio=round(ratio, 2),
        bound=BOUND,
        requests=fleet.requests,
        longest_chain=fleet.chain,
        in_flight=round(fleet.in_flight, 1),
        cpu_s=round(fleet.cpu_s, 1),
        memories=options.memories,
        peak_mb=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        published_users=from_data,
        **(
            {"serial_s": round(serial.wall_s, 1), "times_faster": round(serial.wall_s / fleet.wall_s, 1)}
            if serial
            else {}
        ),
    )
    return 0 if ratio <= BOUND else 1


def _write_users(users: Path, relative: Path, folder: Path) -> Path:
    """Write random users to the path of the published file. Return the data folder."""
    target = folder / "data" / relative
    target.parent.mkdir(parents=True)
    target.write_bytes(users.read_bytes())
    return folder / "data"


if __name__ == "__main__":
    sys.exit(main())
