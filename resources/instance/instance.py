"""Dagster's instance in the home folder, shared by the CLI and the UI.

Without cleanup, runs of a killed process would stay in progress and keep their pool slots. So each process locks a file
and tags its runs with the file's name. The next process that opens the instance ends the runs of processes that have
ended (resources/runs/recovery.py).
"""

import fcntl
import importlib.util
import logging
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
from dagster._serdes import ConfigurableClassData

from memflow.errors import BadSettings
from memflow.resources.reconnect import is_lost
from memflow.resources.runs.code_location import job_origin, workspace
from memflow.resources.runs.process_locks import LOCKS, instance_folder
from memflow.resources.runs.recovery import PROCESS, end_killed_runs, requeue_runs

NO_COMPUTE_LOGS = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
    }
}
"""The CLI does not capture standard streams, which would take four processes per run."""
EXTRAS = {"dagster_ray": "ray", "dagster_k8s": "kubernetes"}
"""The launchers that a dagster.yaml may name, and the extras that install them."""


@dataclass(frozen=True)
class OpenInstance:
    """The open Dagster instance, and the tags of the runs that this process starts."""

    instance: dg.DagsterInstance
    tags: dict[str, str]


def dagster_home(home: Path) -> Path:
    """Return the instance's folder, with a dagster.yaml in it. DAGSTER_HOME overrides the folder.

    Raises BadSettings if dagster.yaml names the launcher of an extra which is not installed.
    """
    folder = instance_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "dagster.yaml"
    if not settings.exists():
        new = folder / f".dagster.yaml.{secrets.token_hex(4)}"
        new.write_text(
            files("memflow.resources.instance").joinpath("instance.yaml").read_text(encoding="utf-8")
        )
        new.replace(settings)
    text = settings.read_text(encoding="utf-8")
    for module, extra in EXTRAS.items():
        if module in text and importlib.util.find_spec(module) is None:
            raise BadSettings(
                f"{settings} names {module}, which is not installed. Install memflow-bench[{extra}]."
            )
    return folder


def workspace_file(folder: Path, socket: Path) -> Path:
    """Write the workspace of the code location behind a socket to the instance's folder. Return its path."""
    file = folder / "workspace.yaml"
    file.write_text(yaml.safe_dump(workspace(socket)), encoding="utf-8")
    return file


@contextmanager
def open_instance(home: Path) -> Iterator[OpenInstance]:
    """Open the instance of `home` and end the runs of killed processes."""
    folder = dagster_home(home)
    locks = folder / LOCKS
    locks.mkdir(exist_ok=True)
    name = secrets.token_hex(8)
    made = locks / f".{name}"
    with made.open("w") as held, _instance(folder) as instance:
        fcntl.flock(held, fcntl.LOCK_EX)
        made.rename(locks / name)  # visible only after it is locked
        try:
            end_killed_runs(instance, folder)
            yield OpenInstance(instance, {PROCESS: name, "dagster/max_retries": "0"})
        finally:
            (locks / name).unlink(missing_ok=True)


def require_own_runs(instance: dg.DagsterInstance) -> None:
    """Raise BadSettings if the instance starts runs on a cluster, whose monitoring would start those of this process.

    A launcher that asks its cluster for each run in progress finds none for a run of `memflow run`.
    """
    if instance.run_launcher.supports_check_run_worker_health:
        raise BadSettings(
            f"this Dagster instance starts runs with {type(instance.run_launcher).__name__}, which would start those "
            "of `memflow run` again on its cluster. Start them in the UI (`memflow dev`), or set DAGSTER_HOME to "
            "another folder."
        )


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


def recover_runs(folder: Path) -> int:
    """Return the runs of a daemon that has ended to the queue, before another starts. Return their number."""
    with _instance(folder) as instance:
        end_killed_runs(instance, folder)
        return len(requeue_runs(instance))


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
