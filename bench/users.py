"""CPU seconds and peak memory of `memflow run` as the number of users grows: 10, 40 and 160 generated AMemGym users.

Each size is one `memflow run` in a new home folder, with the scripted chat and `rag_2_4_30`: users are generated,
played, asked at 11 checkpoints, scored and published. Peak memory is the resident memory of the process, shared
libraries included. `fixed` is the peak at one user: Dagster, Great Expectations, LanceDB and DuckDB.

    python -m bench.users [--users 1000]
    python -m bench.users --processes 2 [--users 160]

The command prints one JSON line per size; `--users` adds a size. The exit code is 1 if a peak is above its bound.

With `--processes`, the command compares a run in one process with a run that has worker processes. The speedup by wall
time holds only on a quiet machine with enough cores. The speedup by CPU time is that of the command's own process and
the busiest worker, as if they never computed at the same time, so it is a lower bound.
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

from bench.measure import arguments, child_cpu_seconds, report

SIZES = (1, 10, 40, 160)
MEMORY = "rag_2_4_30"
BOUNDS_MB = {160: 700, 1_000: 1_350}
GOALS_MB = {160: 600, 1_000: 1_500}
"""Peaks that memflow should reach. They are reported: 160 users take 658 MB and miss theirs, 1,000 take 1,200 MB."""
GOAL_SPEEDUP = 1.7
"""How many times as fast two processes on two cores should be as one."""
REPLIES = 220
"""Probes per user: 10 questions, each with a state probe, at 11 checkpoints."""
SETTINGS = """home = "{home}"
[own_domains.users]
benchmark = "amemgym"
datasets = ["personas_en"]
parameters = {{ users = {users} }}
"""


def run(users: int, processes: int) -> None:
    """Execute `memflow run` on generated users in this process. Print peak memory, wall seconds and CPU seconds."""
    from memflow.cli import app

    with tempfile.TemporaryDirectory() as home:
        Path(home, "memflow.toml").write_text(SETTINGS.format(home=home, users=users), encoding="utf-8")
        os.chdir(home)
        options = ["run", "--domain", "users", "--memory", MEMORY, "--no-bounds", "--format", "json"]
        # Only then, since this imports Arrow before the command chooses its allocator.
        ended = _record_worker_cpu() if processes > 1 else []
        began = time.perf_counter()
        try:
            app([*options, "--processes", str(processes)], standalone_mode=False)
        finally:
            used = resource.getrusage(resource.RUSAGE_SELF)
            measured = {
                "peak_mb": used.ru_maxrss / 1024,
                "cpu_s": used.ru_utime + used.ru_stime,
                "wall_s": time.perf_counter() - began,
                "workers_cpu_s": ended,
            }
            print(json.dumps(measured), file=sys.stderr)


def _record_worker_cpu() -> list[float]:
    """Return a list to which each worker process that ends from now on adds its CPU seconds."""
    from resources.workers.worker import Worker

    ended: list[float] = []
    close = Worker.close

    def recording(worker: Worker) -> None:
        before = child_cpu_seconds()
        close(worker)
        ended.append(child_cpu_seconds() - before)

    Worker.close = recording  # type: ignore[method-assign]
    return ended


def measure(users: int, processes: int = 1) -> dict[str, Any]:
    """Return peak memory in MB, wall seconds and CPU seconds of a size, measured in a separate process."""
    command = [sys.executable, "-m", "bench.users", "--only", str(users), "--processes", str(processes)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed. Fix the error, then rerun: {ended.stderr[-2000:]}")
    measured: dict[str, Any] = json.loads(ended.stderr.splitlines()[-1])
    return measured


def compare(users: int, processes: int) -> int:
    """Print how much faster several processes are than one. Return 1 if the speedup is below its goal, else 0."""
    one, several = measure(users), measure(users, processes)
    longest = several["cpu_s"] + max(several["workers_cpu_s"])
    speedup = one["wall_s"] / several["wall_s"]
    report(
        {"name": "users_processes", "users": users, "processes": processes, "value": round(speedup, 2)},
        unit="times faster",
        goal=GOAL_SPEEDUP,
        speedup_cpu=round(one["cpu_s"] / longest, 2),
        wall_s=[round(one["wall_s"], 1), round(several["wall_s"], 1)],
        cpu_s=[round(one["cpu_s"], 1), round(several["cpu_s"], 1)],
        workers_cpu_s=[round(each, 1) for each in several["workers_cpu_s"]],
        peak_mb=[round(one["peak_mb"]), round(several["peak_mb"])],
    )
    return int(processes == 2 and speedup < GOAL_SPEEDUP)


def main() -> int:
    """Print the peak memory of `memflow run` by number of users. Return 1 if a peak is above its limit, else 0."""
    options = arguments(users=0, only=0, processes=1)
    if options.only:
        run(options.only, options.processes)
        return 0
    if options.processes > 1:
        return compare(options.users or 160, options.processes)
    missed, fixed = 0, 0.0
    for users in (*SIZES, *([options.users] if options.users else [])):
        measured = measure(users)
        peak, cpu = measured["peak_mb"], measured["cpu_s"]
        fixed = fixed or peak
        bound = BOUNDS_MB.get(users)
        missed += bound is not None and peak > bound
        report(
            {"name": "users", "users": users, "value": round(peak), "unit": "MB", "bound": bound},
            goal=GOALS_MB.get(users),
            fixed=round(fixed),
            kb_per_user=round((peak - fixed) * 1024 / users),
            cpu_s=round(cpu, 1),
            cpu_ms_per_reply=round(cpu * 1000 / (users * REPLIES), 2),
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
