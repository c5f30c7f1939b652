"""CPU seconds of `memflow run` if every partition is up to date: 20, 200 and 2,000 pairs of domain and assistant.

The benchmark writes the lake directly: tables without rows, with the fingerprints of a run, and a leaderboard with as
many scores per assistant as in the demo. Fingerprints do not depend on rows, so all partitions are up to date. The
first run reads the metadata in every file; later runs find it in the cache. CPU seconds are user and system. `growth`
is the time per partition, divided by the time per partition at the smallest size.

    python -m bench.up_to_date

The command prints one JSON line per size. The exit code is 1 if a run takes longer than its bound or runs a partition.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.measure import child_cpu_seconds, report
from memflow.assets.fingerprints import Fingerprints
from memflow.pipeline import Scope, partition_key, steps_of, tables_of
from memflow.records import Score
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import load

SIZES = (20, 200, 2_000)
BOUNDS_S = {20: 3.0, 200: 5.0, 2_000: 15.0}
DOMAINS = {
    "amemgym_demo": (
        130,
        ("accuracy", "memory_score", "random", "upper_bound", "state_match", "read_failure"),
    ),
    "memorybench_demo": (71, ("locomo_f1", "rouge_l", "checklist", "quality", "min_max", "z_score")),
}
"""Rows of the leaderboard for each assistant, as many as in the demo, and some of the metrics."""


def main() -> int:
    """Print the CPU seconds of `memflow run` at each size. Return 1 if it is too slow or runs a partition, else 0."""
    missed = 0
    first_s = 0.0
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            settings = write_settings(Path(folder), size)
            files = build_lake(settings)
            cold_s, _ = run(settings)
            warm_s, ran = run(settings)
        first_s = first_s or warm_s / size
        within = warm_s <= BOUNDS_S[size] and cold_s <= 2 * BOUNDS_S[size] and not ran
        missed += not within
        report(
            {"name": "up_to_date", "partitions": size, "value": round(warm_s, 2), "unit": "CPU s"},
            files=files,
            first_run_cpu_s=round(cold_s, 2),
            bound=BOUNDS_S[size],
            growth=round(warm_s / size / first_s, 2),
            partitions_run=ran,
        )
    return int(missed > 0)


def write_settings(folder: Path, size: int) -> Path:
    """Write a memflow.toml with `size` pairs of domain and assistant, and create its home folder. Return its path."""
    assistants = [f"rag_2_4_{k}" for k in range(1, size // len(DOMAINS) + 1)]
    path = folder / "memflow.toml"
    path.write_text(
        f"home = {json.dumps(str(folder / 'home'))}\n"
        f"domains = {json.dumps([*DOMAINS])}\n"
        f"assistants = {json.dumps(assistants)}\n"
    )
    return path


def build_lake(path: Path) -> int:
    """Write every partition with the current input fingerprints. Return the number of files."""
    settings = load(path)
    fingerprints = Fingerprints.of(settings)
    lake = fingerprints.lake

    def write(scope: Scope, where: str, assistant: str = "") -> None:
        for step in steps_of(scope):
            today, meta = fingerprints.step(step, where, assistant), {}
            if scope.startswith("domain"):
                meta = fingerprints.provenance(step, settings.domain(where), assistant)
            for table in step.writes:
                lake.write(table, partition_key(where, assistant), [], fingerprint=today, meta=meta)

    for name in {name for domain in settings.domains for name in settings.domain(domain).datasets}:
        write("dataset", name)
    for domain in settings.domains:
        write("domain", domain)
        for assistant in settings.assistants:
            write("domain x assistant", domain, assistant)
    scores = [
        score(domain, assistant, number)
        for domain in settings.domains
        for assistant in settings.assistants
        for number in range(DOMAINS[domain][0])
    ]
    for table in tables_of("all"):
        rows = scores if table == "score.leaderboard" else []
        lake.write(table, "all", rows, fingerprint=fingerprints.table(table))
    return _set_old_times(lake)


def _set_old_times(lake: Lake) -> int:
    """Set back the files' modification times, since metadata of new files is not cached. Return the number of files."""
    then = time.time() - 60
    files = [*Path(lake.root).rglob("*.parquet")]
    for file in files:
        os.utime(file, (then, then))
    return len(files)


def score(domain: str, assistant: str, number: int) -> Score:
    """Return one score of an assistant in a domain; the first score of each metric is over all probes."""
    rows, metrics = DOMAINS[domain]
    slices, metric = divmod(number, len(metrics))
    return Score(
        domain=domain,
        assistant=assistant,
        memory=assistant,
        metric=metrics[metric],
        slice=f"period {slices}" if slices else "all",
        value=number / rows,
        model="scripted",
        low=0.0,
        high=1.0,
        n=10,
        n_episodes=3,
        coverage=1.0,
        simulator="scripted",
        scripted=True,
    )


def run(settings: Path) -> tuple[float, int]:
    """Execute `memflow run`. Return its CPU seconds, and the number of partitions that it ran."""
    before = child_cpu_seconds()
    done = subprocess.run(
        [sys.executable, "-m", "memflow.cli", "--settings", str(settings), "run"],
        check=True,
        capture_output=True,
        text=True,
    )
    ran = re.search(r"(\d+) runs done", done.stdout)
    return child_cpu_seconds() - before, int(ran[1]) if ran else -1


if __name__ == "__main__":
    sys.exit(main())
