"""Dagster's instance under the home folder: the one that the command line runs on and the UI shows.

A process that runs assets itself, without Dagster's daemon to watch over it, says so here (`at_work`), so that what it
leaves behind when it is killed is cleared away by the next one.
"""

import fcntl
import os
import platform
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import dagster as dg

HOST, PROCESS = "memflow/host", "memflow/process"
"""Tags of a run: the machine it runs on, and the name of its process's lock."""

UNDER_WAY = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def dagster_home(home: Path) -> Path:
    """The instance's folder, made with its dagster.yaml where it is not there yet. DAGSTER_HOME goes over it."""
    folder = Path(os.environ.get("DAGSTER_HOME") or home / "dagster").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "dagster.yaml"
    if not settings.exists():
        settings.write_text(
            files("resources").joinpath("instance.yaml").read_text(encoding="utf-8"), encoding="utf-8"
        )
    return folder


@contextmanager
def open_instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of `home`."""
    with dg.DagsterInstance.from_config(str(dagster_home(home))) as instance:
        yield instance


@contextmanager
def at_work(instance: dg.DagsterInstance, home: Path) -> Iterator[dict[str, str]]:
    """The tags for the runs of this process, for as long as it runs them.

    A killed process leaves its runs under way and its places in the pools taken, for ever where there is no daemon.
    So each holds a lock that ends with it, and begins by ending the runs of those that hold theirs no more.
    """
    folder = dagster_home(home) / "processes"
    folder.mkdir(exist_ok=True)
    _end_abandoned(instance, folder)
    mine = folder / uuid.uuid4().hex
    hidden = mine.with_name(f".{mine.name}")
    with hidden.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        hidden.rename(mine)  # nobody may find it before it is held
        try:
            yield {HOST: platform.node(), PROCESS: mine.name}
        finally:
            mine.unlink()


def _end_abandoned(instance: dg.DagsterInstance, folder: Path) -> None:
    of_this_machine = dg.RunsFilter(statuses=UNDER_WAY, tags={HOST: platform.node()})
    for run in instance.get_runs(of_this_machine):
        if not _alive(folder / run.tags[PROCESS]):
            instance.report_run_failed(run, "The process that ran it ended before it did.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    for lock in folder.glob("[!.]*"):
        if not _alive(lock):
            lock.unlink(missing_ok=True)


def _alive(lock: Path) -> bool:
    """Whether somebody holds the lock."""
    try:
        with lock.open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
