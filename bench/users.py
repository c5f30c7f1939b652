"""CPU seconds and peak memory of `memflow run` as the number of users grows: 10, 40 and 160 generated AMemGym users.

Each size is one `memflow run` in a new home folder, with the scripted chat and `rag_2_4_30`: users are generated,
played, asked at 11 checkpoints, scored and published. Peak memory is the resident memory of the process, shared
libraries included. `fixed` is the peak at one user: Dagster, Great Expectations, LanceDB and DuckDB.

    python -m bench.users [--users 1000]

The command prints one JSON line per size; `--users` adds a size. The exit code is 1 if a peak, or the CPU time per
probe, is above its bound.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import arguments, report

SIZES = (1, 10, 40, 160)
MEMORY = "rag_2_4_30"
BOUNDS_MB = {160: 600, 1_000: 1_350}
"""The largest peaks, by number of users."""
BOUNDS_MS = {160: 2.5, 1_000: 2.5}
"""The largest CPU time of a whole run per probe, by number of users."""
REPLIES = 220
"""Probes per user: 10 questions, each with a state probe, at 11 checkpoints."""
SETTINGS = """home = "{home}"
[own_datasets.personas]
benchmark = "amemgym"
files = ["{home}/personas.jsonl"]
[own_domains.users]
benchmark = "amemgym"
datasets = ["personas"]
parameters = {{ users = {users} }}
"""


def run(users: int) -> None:
    """Execute `memflow run` on generated users in this process. Print peak memory, wall seconds and CPU seconds."""
    from memflow.cli import app

    with tempfile.TemporaryDirectory() as home:
        personas = ({"id": f"p{n}", "name": f"User {n}", "about": "Likes to cook."} for n in range(users))
        Path(home, "personas.jsonl").write_text("\n".join(map(json.dumps, personas)), encoding="utf-8")
        Path(home, "memflow.toml").write_text(SETTINGS.format(home=home, users=users), encoding="utf-8")
        os.chdir(home)
        options = ["run", "--domain", "users", "--memory", MEMORY, "--no-baselines", "--format", "json"]
        began = time.perf_counter()
        try:
            app(options, standalone_mode=False)
        finally:
            used = resource.getrusage(resource.RUSAGE_SELF)
            measured = {
                "peak_mb": used.ru_maxrss / 1024,
                "cpu_s": used.ru_utime + used.ru_stime,
                "wall_s": time.perf_counter() - began,
            }
            print(json.dumps(measured), file=sys.stderr)


def measure(users: int) -> dict[str, Any]:
    """Return peak memory in MB, wall seconds and CPU seconds of a size, measured in a separate process."""
    command = [sys.executable, "-m", "bench.users", "--only", str(users)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed. Fix the error, then rerun: {ended.stderr[-2000:]}")
    measured: dict[str, Any] = json.loads(ended.stderr.splitlines()[-1])
    return measured


def main() -> int:
    """Print memory and CPU time of `memflow run` by number of users. Return 1 if one is above its bound, else 0."""
    options = arguments(users=0, only=0)
    if options.only:
        run(options.only)
        return 0
    missed, fixed = 0, 0.0
    for users in (*SIZES, *([options.users] if options.users else [])):
        measured = measure(users)
        peak, cpu = measured["peak_mb"], measured["cpu_s"]
        fixed = fixed or peak
        bound, bound_ms, ms = BOUNDS_MB.get(users), BOUNDS_MS.get(users), cpu * 1000 / (users * REPLIES)
        missed += (bound is not None and peak > bound) or (bound_ms is not None and ms > bound_ms)
        report(
            {"name": "users", "users": users, "value": round(peak), "unit": "MB", "bound": bound},
            fixed=round(fixed),
            kb_per_user=round((peak - fixed) * 1024 / users),
            cpu_s=round(cpu, 1),
            cpu_ms_per_probe=round(ms, 2),
            bound_ms=bound_ms,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
