"""Time that a run with many asset checks spends in Dagster's event log, with the shipped storage and with memflow's.

    python -m bench event_log

The graph has one asset and 60 checks and runs for four partitions: 240 planned checks, 240 evaluations. Each storage
runs twice, alternately, in its own process; the shorter time counts. Only the time in store_event and store_event_batch
is measured. The bound on SQLite: memflow's storage takes at most a fifth of the time. PostgreSQL is measured too if it
is installed, without a bound. Wall time depends on the disk, so compare CPU seconds as well.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg2
import yaml

from bench.measure import postgres_server, report

CHECKS = 60
PARTITIONS = ("a", "b", "c", "d")
ROUNDS = 2
BOUND = 5.0
BATCHES = "1000"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

Storages = dict[str, dict[str, Any]]
"""Entries of dagster.yaml."""


class StoreTimer:
    """A timer of the calls of a storage's methods. A nested call counts once."""

    def __init__(self) -> None:
        self.wall_s = self.cpu_s = 0.0
        self._depth = 0

    def measure(self, call: Callable[..., None]) -> Callable[..., None]:
        """Return a wrapper of the method `call` that adds its time to the timer."""

        def measured(*arguments: Any) -> None:
            wall, cpu = time.perf_counter(), time.process_time()
            self._depth += 1
            try:
                call(*arguments)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.wall_s += time.perf_counter() - wall
                    self.cpu_s += time.process_time() - cpu

        return measured


def build_job() -> dg.JobDefinition:
    """Return the Dagster job of a graph with one asset and its checks."""
    warnings.simplefilter("ignore")  # partitioned checks are in preview
    partitions = dg.StaticPartitionsDefinition(list(PARTITIONS))
    names = [f"check_{number}" for number in range(CHECKS)]

    @dg.asset(partitions_def=partitions)
    def table() -> None: ...

    @dg.multi_asset_check(
        specs=[dg.AssetCheckSpec(name, asset="table", partitions_def=partitions) for name in names]
    )
    def checks() -> Iterator[dg.AssetCheckResult]:
        for name in names:
            yield dg.AssetCheckResult(passed=True, check_name=name, asset_key="table", metadata={"rows": 100})

    job = dg.define_asset_job("job", dg.AssetSelection.all(), partitions_def=partitions)
    definitions = dg.Definitions([table], asset_checks=[checks], jobs=[job], executor=dg.in_process_executor)
    return definitions.resolve_job_def("job")


def run(home: Path) -> dict[str, float]:
    """Execute the job for every partition. Return the seconds in the event log's methods: CPU and wall time."""
    job, timer = build_job(), StoreTimer()
    with dg.DagsterInstance.from_config(str(home)) as instance:
        storage = instance.event_log_storage
        storage.store_event = timer.measure(storage.store_event)  # type: ignore[method-assign]
        storage.store_event_batch = timer.measure(storage.store_event_batch)  # type: ignore[method-assign]
        wall, cpu = time.perf_counter(), time.process_time()
        for partition in PARTITIONS:
            result = job.execute_in_process(instance=instance, partition_key=partition, run_config=QUIET)
            assert result.success
        spent = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
        for number in range(CHECKS):
            key = dg.AssetCheckKey(dg.AssetKey("table"), f"check_{number}")
            history = storage.get_asset_check_execution_history(key, limit=9)
            assert [each.status.value for each in history] == ["SUCCEEDED"] * len(PARTITIONS)
    return {"store_s": timer.wall_s, "store_cpu_s": timer.cpu_s, **spent}


def measure(storages: Storages, batches: str) -> dict[str, float]:
    """Run the benchmark in a new process with a new home folder. Return its measurements."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**storages, "telemetry": {"enabled": False}}
        (Path(folder) / "dagster.yaml").write_text(yaml.safe_dump(settings))
        environment = {**os.environ, "DAGSTER_EVENT_BATCH_SIZE": batches}
        command = [sys.executable, "-m", "bench.event_log", folder]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(name: str, shipped: Callable[[], Storages], ours: Callable[[], Storages]) -> float:
    """Print a JSON line that compares memflow's storage with the shipped storage.

    Return the ratio of the times spent in the storage.
    """
    rounds = [(measure(shipped(), "0"), measure(ours(), BATCHES)) for _ in range(ROUNDS)]
    peer, own = (min((each[side] for each in rounds), key=lambda spent: spent["store_s"]) for side in (0, 1))
    ratio = peer["store_s"] / own["store_s"]
    report(
        {"name": name, "value": round(own["store_s"], 2), "unit": "s in the store"},
        peer=round(peer["store_s"], 2),
        ratio=round(ratio, 1),
        **{
            each: [round(side[each], 2) for side in (own, peer)]
            for each in ("store_cpu_s", "cpu_s", "wall_s")
        },
    )
    return ratio


def class_entry(module: str, name: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of dagster.yaml that names a storage class."""
    return {"module": module, "class": name, "config": config}


def main() -> int:
    """Compare memflow's event log with Dagster's. Return 1 if it is less than 5 times as fast on SQLite, else 0."""
    ours = class_entry("resources.instance.event_log", "SqliteEventLog", {"base_dir": "history/runs"})
    ratio = compare("event_log_sqlite", dict, lambda: {"event_log_storage": ours})
    with postgres_server() as port:
        databases = count()

        def storages(module: str, name: str) -> Storages:
            database = f"events{next(databases)}"
            connection = psycopg2.connect(host="127.0.0.1", port=port, user="memflow", dbname="postgres")
            connection.autocommit = True
            connection.cursor().execute(f"CREATE DATABASE {database}")
            connection.close()
            config = {"postgres_url": f"postgresql://memflow@127.0.0.1:{port}/{database}"}
            return {"event_log_storage": class_entry(module, name, config)}

        if port is not None:
            compare(
                "event_log_postgres",
                lambda: storages("dagster_postgres.event_log", "PostgresEventLogStorage"),
                lambda: storages("resources.instance.postgres_event_log", "PostgresEventLog"),
            )
    return 0 if ratio >= BOUND else 1


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(run(Path(sys.argv[1]))))
    else:
        sys.exit(main())
