"""Dagster's instance under the home folder: the one that the command line runs on and the UI shows.

A run of the command line is a process. When that is killed, nobody else would end its runs in the instance or give back
its places in the pools, and the next run would wait for them for ever; so each process holds a lock for as long as it
lives, its runs name it, and whoever opens the instance next ends what the dead have left.
"""

import fcntl
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import dagster as dg

from resources.process_locks import LOCKS, instance_folder, stale_locks

PROCESS = "memflow/process"
"""The tag by which a run names the process that it is."""
IN_PROGRESS = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]


@dataclass(frozen=True)
class Opened:
    """The instance, and the tags that this process's runs bear."""

    instance: dg.DagsterInstance
    tags: dict[str, str]


def dagster_home(home: Path) -> Path:
    """The instance's folder, made with its dagster.yaml where it is not there yet. DAGSTER_HOME goes over it."""
    folder = instance_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "dagster.yaml"
    if not settings.exists():
        example = files("resources").joinpath("instance.yaml").read_text(encoding="utf-8")
        settings.write_text(example, encoding="utf-8")
    return folder


@contextmanager
def open_instance(home: Path) -> Iterator[Opened]:
    """The instance of `home`, after the runs of processes that were killed have been ended."""
    folder = dagster_home(home)
    locks = folder / LOCKS
    locks.mkdir(exist_ok=True)
    name = secrets.token_hex(8)
    made = locks / f".{name}"
    with made.open("w") as held, _instance(folder) as instance:
        fcntl.flock(held, fcntl.LOCK_EX)
        made.rename(locks / name)  # nobody may find it before it is held
        try:
            for dead in stale_locks(locks):
                _end(instance, dead.name)
                dead.unlink(missing_ok=True)
            yield Opened(instance, {PROCESS: name})
        finally:
            (locks / name).unlink(missing_ok=True)


@contextmanager
def _instance(folder: Path) -> Iterator[dg.DagsterInstance]:
    """Dagster's instance, its databases made by one process at a time: two at once leave them in no known version."""
    with (folder / ".making").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        instance = dg.DagsterInstance.from_config(str(folder))
        _ = instance.run_storage, instance.event_log_storage, instance.schedule_storage
    with instance:
        yield instance


def _end(instance: dg.DagsterInstance, process: str) -> None:
    """Fail the runs of a dead process that are still in progress, and give back their places in the pools."""
    left = dg.RunsFilter(tags={PROCESS: process}, statuses=IN_PROGRESS)
    for run in instance.get_runs(left):
        instance.report_run_failed(
            run, "Its process was killed. What it had been answered is in the ledger: run it again."
        )
    for run in instance.get_runs(dg.RunsFilter(tags={PROCESS: process})):
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
