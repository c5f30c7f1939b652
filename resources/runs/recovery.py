"""Runs whose process was killed: those of `memflow run` fail, those of `memflow dev` return to the queue.

Dagster's code server notices when the process of a run ends, but not when it is killed itself. Runs that return to
the queue keep their id, so that their backfill goes on. Runs of another launcher, such as that of Ray, are left to
Dagster's monitoring, and those of a code server at an address to that server.
"""

from pathlib import Path

import dagster as dg
from dagster._core.events import DagsterEvent

from memflow.resources.runs.process_locks import DEV, dev_was_killed, lock, stale_locks

PROCESS = ".dagster/memflow_process"
"""The tag with the process of a run of `memflow run`, which is the name of its lock; the UI hides it."""
IN_PROGRESS = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
KILLED = "Its process was killed. Rerun: answered requests come from the ledger."
REQUEUED = "Its process was killed. The run returns to the queue. Answered requests come from the ledger."


def end_killed_runs(instance: dg.DagsterInstance, folder: Path) -> None:
    """End the runs of killed processes of the instance in a folder."""
    for dead in stale_locks(folder):
        fail_runs_of(instance, dead.name)
        dead.unlink(missing_ok=True)
    if dev_was_killed(folder) and (held := lock(folder / DEV)) is not None:
        with held:
            requeue_runs(instance)
            held.truncate(0)


def fail_runs_of(instance: dg.DagsterInstance, process: str) -> None:
    """Fail the runs in progress of a `memflow run` that has ended, and free their pool slots."""
    for run in instance.get_runs(dg.RunsFilter(tags={PROCESS: process})):
        if run.status in IN_PROGRESS:
            instance.report_run_failed(run, KILLED)
        _free_slots(instance, run)


def requeue_runs(instance: dg.DagsterInstance) -> list[str]:
    """Return the daemon's runs in progress to the queue, and free their pool slots. Return their ids.

    No process of a daemon may run meanwhile. Runs that a user was canceling are canceled.
    """
    if not isinstance(instance.run_launcher, dg.DefaultRunLauncher):
        return []
    requeued = []
    for run in instance.get_runs(dg.RunsFilter(statuses=[*IN_PROGRESS, dg.DagsterRunStatus.CANCELING])):
        if not _is_launched_here(run):
            continue
        _free_slots(instance, run)
        if run.status is dg.DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run)
            continue
        instance.report_engine_event(REQUEUED, run)
        instance.report_dagster_event(DagsterEvent.job_enqueue(run), run_id=run.run_id)
        requeued.append(run.run_id)
    return requeued


def _free_slots(instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)


def _is_launched_here(run: dg.DagsterRun) -> bool:
    """Return whether `memflow dev` starts the process of a run, and not `memflow run` or a code server elsewhere."""
    origin = run.remote_job_origin
    location = origin.repository_origin.code_location_origin if origin is not None else None
    return getattr(location, "socket", None) is not None
