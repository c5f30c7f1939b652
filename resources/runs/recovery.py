"""Recovery of runs whose process has ended without reporting it: they return to the queue, or fail.

Runs of `memflow run` are executed in its process and fail. Runs of the daemon have a lease (leases.py) and return to
the queue, so that their backfill continues. Both lose their pool slots.
"""

from pathlib import Path

import dagster as dg
from dagster._core.events import DagsterEvent
from dagster._core.remote_origin import GrpcServerCodeLocationOrigin

from resources.runs.leases import acquire, is_leased, lease_folder_id, run_lease, run_leases

PROCESS = "memflow/process"
"""The tag with the process of a run of `memflow run`."""
PROCESS_FOLDER = "memflow/process_folder"
"""The tag with the id of the folder that contains the lock of that process."""
LEASE = "memflow/leases"
"""The tag with the id of the folder that contains the lease of a run."""
IN_PROGRESS = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
KILLED = "Its process was killed. Rerun: answered requests come from the ledger."


def fail_runs_of(instance: dg.DagsterInstance, process: str) -> None:
    """Fail the runs in progress of a `memflow run` that has ended, and free their pool slots."""
    for run in instance.get_runs(dg.RunsFilter(tags={PROCESS: process}, statuses=IN_PROGRESS)):
        instance.report_run_failed(run, KILLED)
    for run in instance.get_runs(dg.RunsFilter(tags={PROCESS: process})):
        free_slots(instance, run.run_id)


def free_slots(instance: dg.DagsterInstance, run_id: str) -> None:
    """Free the pool slots of a run."""
    instance.event_log_storage.free_concurrency_slots_for_run(run_id)


def requeue_runs(instance: dg.DagsterInstance, folder: Path, *, before_daemon: bool = False) -> list[str]:
    """Return the daemon's runs in progress without a process to the queue. Return their ids.

    Runs of other hosts and of a code server at an address are left alone: their processes cannot be seen here. With
    `before_daemon`, no daemon is running. Then also runs that a killed daemon created or dequeued, but did not start
    yet, return to the queue.
    """
    mine = lease_folder_id(folder)
    requeued = []
    for run in instance.get_runs(dg.RunsFilter(statuses=[*IN_PROGRESS, dg.DagsterRunStatus.CANCELING])):
        leases = run.tags.get(LEASE)
        unstarted = run.status in IN_PROGRESS[:2] and leases is None and is_launched_here(run)
        if run.status is dg.DagsterRunStatus.CANCELING:
            if leases == mine and not is_leased(run_lease(folder, run.run_id)):
                instance.report_run_canceled(run)
        elif (leases == mine or (before_daemon and unstarted)) and requeue(instance, folder, run):
            requeued.append(run.run_id)
    for path in run_leases(folder):
        _remove_ended(instance, path)
    return requeued


def _remove_ended(instance: dg.DagsterInstance, path: Path) -> None:
    """Remove the lease of a run that is not in progress, and free its pool slots."""
    lease = acquire(path)
    if lease is None:
        return
    run = instance.get_run_by_id(path.name)
    if run is None or run.status not in IN_PROGRESS:
        free_slots(instance, path.name)
        lease.release()
    else:
        lease.file.close()


def requeue(instance: dg.DagsterInstance, folder: Path, run: dg.DagsterRun) -> bool:
    """Return a run to the queue and free its pool slots, unless a process works on it. Return whether it was queued.

    The lease is held meanwhile, so that no daemon starts the run at the same time.
    """
    lease = acquire(run_lease(folder, run.run_id))
    if lease is None:
        return False
    try:
        found = instance.get_run_by_id(run.run_id)
        if found is None or found.status not in IN_PROGRESS:
            return False
        free_slots(instance, run.run_id)
        if found.status is not dg.DagsterRunStatus.NOT_STARTED:
            instance.report_engine_event(
                "The process of the run has ended without a result. The run returns to the queue. Answered requests "
                "come from the ledger.",
                found,
            )
        instance.report_dagster_event(DagsterEvent.job_enqueue(found), run_id=run.run_id)
        return True
    finally:
        lease.release()


def is_launched_here(run: dg.DagsterRun) -> bool:
    """Return whether the daemon starts the process of a run itself, and not a code server at an address."""
    origin = run.remote_job_origin
    if origin is None or PROCESS in run.tags:
        return False  # executed in the process that created it
    location = origin.repository_origin.code_location_origin
    return not isinstance(location, GrpcServerCodeLocationOrigin)
