"""CPU seconds to publish a leaderboard of 14, 214 and 2,000 partitions, after one of them changed.

The demo is run once; its partitions are copied under other names of assistants. Each publication is a separate process,
including startup and imports. It computes the fingerprint of the leaderboard, its scores, its file in the lake, and
memflow.duckdb. `value` is the time after one changed partition, `first` that of the first publication, and `work` the
part of `value` without startup. `show` is the time of `memflow show leaderboard`.

    python -m bench.publish [--sizes 14,214,2000]

The command prints one JSON line per size. The exit code is 1 if publishing 214 partitions takes more than MOST_RATIO
times the CPU seconds of 14 in the same run.
"""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bench.measure import arguments, child_cpu_seconds, report
from memflow.assets.fingerprints import Fingerprints
from memflow.cli.run import COLLECTION_THRESHOLDS
from memflow.pipeline import tables_of
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.leaderboard import leaderboard
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import load

SIZES = "14,214,2000"
MOST_RATIO, RATIO_AT = 1.5, 214
CHANGED = "amemgym_demo/full"
"""The partition that changes before the second publish."""


def main() -> int:
    """Print the CPU seconds of publishing each number of partitions. Return 1 if a limit is exceeded, else 0."""
    options = arguments(sizes=SIZES, home="")
    if options.home:
        print(publish(Path(options.home)))
        return 0
    missed, smallest = 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        demo = Path(name) / "demo"
        run("memflow.cli", "--home", str(demo), "run", "--demo")
        for size in map(int, options.sizes.split(",")):
            home = Path(name) / str(size)
            copy_partitions(demo, home, size)
            first_s, _ = run("bench.publish", "--home", str(home))
            copy_assistant(Lake(home / "lake"), CHANGED, CHANGED)
            value_s, work_s = run("bench.publish", "--home", str(home))
            show_s, _ = run("memflow.cli", "--home", str(home), "show", "leaderboard")
            smallest = smallest or value_s
            missed += size == RATIO_AT and value_s > MOST_RATIO * smallest
            report(
                {"name": "publish", "partitions": size, "value": round(value_s, 2), "unit": "CPU s"},
                ratio=round(value_s / smallest, 2),
                work=round(float(work_s), 2),
                first=round(first_s, 2),
                show=round(show_s, 2),
            )
            shutil.rmtree(home)
    return int(missed > 0)


def run(module: str, *options: str) -> tuple[float, str]:
    """Run a Python module in a subprocess. Return its CPU seconds and its output."""
    before = child_cpu_seconds()
    ended = subprocess.run(
        [sys.executable, "-m", module, *options],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
    )
    if ended.returncode:
        raise SystemExit(
            f"`{module} {' '.join(options)}` failed. Fix the error, then rerun: {ended.stderr[-2000:]}"
        )
    return child_cpu_seconds() - before, ended.stdout


def publish(home: Path) -> float:
    """Publish the leaderboard as the pipeline step does. Return the CPU seconds."""
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    began = time.process_time()
    settings = load(over={"home": home})
    fingerprints = Fingerprints.of(settings)
    lake = fingerprints.lake
    warehouse = Warehouse(lake, settings.warehouse_path)
    fingerprint = fingerprints.table("score.leaderboard")
    scores = leaderboard(settings, lake, warehouse, fingerprints.scoring)
    lake.write("score.leaderboard", "all", scores.rows, fingerprint=fingerprint, meta=scores.meta)
    warehouse.publish()
    return time.process_time() - began


def copy_partitions(demo: Path, home: Path, size: int) -> None:
    """Copy the demo's lake, then copy its assistants under new names until there are `size` partitions."""
    shutil.copytree(
        demo / "lake", home / "lake", ignore=shutil.ignore_patterns(".cache", "score/leaderboard")
    )
    lake = Lake(home / "lake")
    found = lake.partitions("score.verdicts")
    for number in range(len(found), size):
        copies, at = divmod(number, len(found))
        copy_assistant(lake, found[at], f"{found[at]}_copy_{copies}")
    then = time.time() - 60
    for file in Path(lake.root).rglob("*.parquet"):
        os.utime(file, (then, then))  # the metadata of files that were just written is not cached


def copy_assistant(lake: Lake, partition: str, name: str) -> None:
    """Copy every table of an assistant to the partition `name`, which may be the assistant's current name."""
    for table in tables_of("domain x assistant"):
        facts = lake.facts(table, partition)
        rows = [replace(row, assistant=name.partition("/")[2]) for row in lake.read(table, partition)]
        if facts is not None:
            lake.write(
                table,
                name,
                rows,
                fingerprint=facts.fingerprint,
                meta={**facts.meta, "copied": str(time.time_ns())},
            )


if __name__ == "__main__":
    sys.exit(main())
