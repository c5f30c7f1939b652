"""Dagster's instance in the home folder, shared by the CLI and the UI.

Without cleanup, runs of a killed process would stay in progress and keep their pool slots. So each process locks a file
and tags its runs with the file's name. The next process that opens the instance fails the runs of processes that have
ended, and returns the daemon's runs without a process to the queue (run_recovery.py).
"""

import fcntl
import hashlib
import logging
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import dagster as dg
import yaml
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.tags import MAX_RETRIES_TAG
from dagster._serdes import ConfigurableClassData

from memflow.errors import BadSettings
from resources.reconnect import is_lost
from resources.runs.code_location import job_origin, workspace
from resources.runs.leases import lease_folder_id
from resources.runs.process_locks import LOCKS, instance_folder, stale_locks
from resources.runs.recovery import PROCESS, PROCESS_FOLDER, fail_runs_of, requeue_runs

NO_COMPUTE_LOGS = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
    }
}
"""The CLI does not capture standard streams, which would take four processes per run."""
EVENT_BATCHES = {"DAGSTER_EVENT_BATCH_SIZE": "1000"}
"""The number of planned events that Dagster stores in one transaction."""
FORMER_SETTINGS = {
    "24385fd62088fa23f6090ec84f4e9c9299b2939fdd039796b731bc6c71697fba",
    "0cccb2961f9937a1ddaf061a1bf5a891152cad3801f638714b94813cde7eeea2",
    "9c3cec9021211ef28019191d06e3246e505d8300fff11847898dd0ed9a8d5a08",
    "0da73d3550df3c1649f3331f98df291e088295c3855fb65d0840d2c1f0f75ddc",
    "3158abab414cb32b76be717959285b081b9858ca62f1404d1d3326b9ae79c2b4",
    "6abd3ce2d2cbb3132cd62b092f6ed867a527b22f4974406d3676e5032affaa35",
    "8ecec759b2dc4433b95fbcf6fb5f1944f76f10658fb946df84e735127dfe9c6a",
    "cb182c36ecc096848c20a18fe1fe27f69a6a935c12c837223376851f705c5763",
}
"""SHA-256 of each former instance.yaml: a dagster.yaml with one of them was never edited. Add to it on each edit."""
FORMER_MODULES = {
    "resources.event_log": "resources.instance.event_log",
    "resources.postgres_event_log": "resources.instance.postgres_event_log",
    "resources.postgres_run_storage": "resources.instance.postgres_run_storage",
    "resources.run_launcher": "resources.runs.launcher",
    "resources.ray_launcher": "resources.runs.ray_launcher",
}
"""The modules that a dagster.yaml of a former version names, and their names now."""
CHOICES = {"storage", "run_storage", "event_log_storage", "schedule_storage", "instance_class"}
"""The entries of dagster.yaml that configure a storage."""


@dataclass(frozen=True)
class OpenInstance:
    """The open Dagster instance, and the tags of the runs that this process starts."""

    instance: dg.DagsterInstance
    tags: dict[str, str]


def dagster_home(home: Path) -> Path:
    """Return the instance's folder, with a dagster.yaml in it. DAGSTER_HOME overrides the folder.

    If a dagster.yaml of an older memflow version was not edited, the current file replaces it. Runs and events are
    kept. An edited file is not replaced; a message names the missing entry.

    Raises BadSettings if an edited file names modules that have other names now.
    """
    folder = instance_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "dagster.yaml"
    example = files("resources.instance").joinpath("instance.yaml").read_text(encoding="utf-8")
    found = settings.read_bytes() if settings.exists() else None
    if found is None or hashlib.sha256(found).hexdigest() in FORMER_SETTINGS:
        new = folder / f".dagster.yaml.{secrets.token_hex(4)}"
        new.write_text(example, encoding="utf-8")
        new.replace(settings)
    elif former := _former_modules(found):
        raise BadSettings(
            f"{settings} was edited and names modules of a former version of memflow. Replace "
            + ", ".join(f"{module} by {FORMER_MODULES[module]}" for module in former)
        )
    elif missing := _missing_event_log(found, example):
        logging.getLogger("memflow").warning(
            "%s was edited and uses Dagster's own event log, which is slower. To use memflow's on the same files, add:"
            "\n\n%s",
            settings,
            missing,
        )
    return folder


def workspace_file(folder: Path, working_directory: Path) -> Path:
    """Write the workspace of the code location `memflow` to the instance's folder. Return its path."""
    file = folder / "workspace.yaml"
    file.write_text(yaml.safe_dump(workspace(working_directory)), encoding="utf-8")
    return file


def _former_modules(found: bytes) -> list[str]:
    """Return the modules of a former version that an edited dagster.yaml names."""
    text = found.decode("utf-8", "replace")
    return [
        module
        for module in FORMER_MODULES
        if re.search(rf"^\s*module:\s*{re.escape(module)}\s*$", text, re.M)
    ]


def _missing_event_log(found: bytes, example: str) -> str:
    """Return the event log entry that an edited dagster.yaml lacks; "" if the file has one."""
    try:
        settings = yaml.safe_load(found)
    except yaml.YAMLError:
        return ""  # Dagster names the line when it reads the file
    if CHOICES & set(settings or {}):
        return ""
    return yaml.safe_dump(
        {"event_log_storage": yaml.safe_load(example)["event_log_storage"]}, sort_keys=False
    )


@contextmanager
def open_instance(home: Path) -> Iterator[OpenInstance]:
    """Open the instance of `home` and fail the runs of killed processes."""
    for name, value in EVENT_BATCHES.items():
        os.environ.setdefault(name, value)
    folder = dagster_home(home)
    locks = folder / LOCKS
    locks.mkdir(exist_ok=True)
    name = secrets.token_hex(8)
    made = locks / f".{name}"
    with made.open("w") as held, _instance(folder) as instance:
        fcntl.flock(held, fcntl.LOCK_EX)
        made.rename(locks / name)  # visible only after it is locked
        try:
            for dead in stale_locks(locks):
                fail_runs_of(instance, dead.name)
                dead.unlink(missing_ok=True)
            requeue_runs(instance, folder)
            tags = {PROCESS: name, PROCESS_FOLDER: lease_folder_id(folder), MAX_RETRIES_TAG: "0"}
            yield OpenInstance(instance, tags)
        finally:
            (locks / name).unlink(missing_ok=True)


class RunThreadsInstance(dg.DagsterInstance):
    """A Dagster instance that can execute runs in several threads of one process.

    Dagster configures Python's logging for each run, even if dagster.yaml names no handler. The configuration locks the
    logging module and waits for the handlers of other runs. These handlers may wait for the same lock: a deadlock. So
    this class returns the handlers without that configuration.
    """

    def get_yaml_python_handlers(self) -> Sequence[logging.Handler]:
        """Return the logging handlers that dagster.yaml names."""
        return super().get_yaml_python_handlers() if self.get_python_log_dagster_handler_config() else []

    def create_run_for_job(self, *arguments: Any, **fields: Any) -> dg.DagsterRun:
        """Create a run that belongs to its job in the code location."""
        fields["remote_job_origin"] = job_origin(fields["job_def"].name)
        return super().create_run_for_job(*arguments, **fields)

    def run_will_resume(self, run_id: str) -> bool:
        """Return False: an interrupted `memflow run` is not continued by the daemon."""
        return False


def recover_runs(folder: Path) -> int:
    """Return the runs of killed processes to the queue, before a daemon starts. Return their number."""
    with _instance(folder) as instance:
        for dead in stale_locks(folder / LOCKS):
            fail_runs_of(instance, dead.name)
            dead.unlink(missing_ok=True)
        return len(requeue_runs(instance, folder, before_daemon=True))


@contextmanager
def _instance(folder: Path) -> Iterator[dg.DagsterInstance]:
    """Open Dagster's instance; a lock prevents two processes from creating its databases at the same time."""
    with (folder / ".making").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        ref = InstanceRef.from_dir(str(folder), overrides=_compute_logs(folder))
        own = ConfigurableClassData(__name__, RunThreadsInstance.__name__, "{}")
        try:
            instance = dg.DagsterInstance.from_ref(ref._replace(custom_instance_class_data=own))
            _ = instance.run_storage, instance.event_log_storage, instance.schedule_storage
        except Exception as error:
            if not is_lost(error):
                raise
            raise _unreachable(folder, error) from error
    with instance:
        yield instance


def _unreachable(folder: Path, error: Exception) -> BadSettings:
    """Return the error for a database of Dagster that cannot be connected to."""
    cause = error.__cause__ or error
    reason = str(getattr(cause, "orig", None) or cause).strip().splitlines()[0]
    return BadSettings(
        f"cannot connect to Dagster's database ({reason}). Start its server, or fix {folder / 'dagster.yaml'} and the "
        "variables that it names, then rerun."
    )


def _compute_logs(folder: Path) -> dict[str, Any]:
    """Return the setting that disables capturing of standard streams, unless dagster.yaml has such a setting."""
    settings = yaml.safe_load((folder / "dagster.yaml").read_text(encoding="utf-8")) or {}
    return {} if "compute_logs" in settings else NO_COMPUTE_LOGS
