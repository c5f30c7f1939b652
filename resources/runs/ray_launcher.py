"""The run launcher for a Ray cluster: each run is a Ray job. resources/instance/deployment_ray.yaml names it.

dagster-ray submits the jobs. This class adds what a lost node needs. A run that has not begun to work when its node is
lost is submitted again, which Dagster's monitoring does not do. A job that is submitted twice works once. Runs of
`memflow run` on the same instance, and runs whose job cannot be asked for at the moment, are left alone. Every job gets
the names of the partitions that `memflow dev` shows, including those that `memflow run` added.
"""

import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus
from dagster_ray import RayRunLauncher

from resources.instance.instance import PROCESS
from resources.runs.added_partitions import partition_variables
from resources.settings.settings import load

POLL_S = 10.0
"""Seconds between two checks of the jobs that have not begun to work."""
MAX_SUBMISSIONS = 5
"""The number of submissions of one run. After the last, Dagster's `start_timeout_seconds` fails the run."""
NOT_FOUND = "status code 404"
"""What Ray's client states of a job that the cluster does not know."""
STARTING = (dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING)


@dataclass
class _Submission:
    """A job of a run that has not begun to work."""

    submission_id: str
    entrypoint: str
    run: dg.DagsterRun
    count: int = 1


class RayJobLauncher(RayRunLauncher):
    """Starts each run as a Ray job, and starts it again on another node if its node is lost."""

    _lock: threading.Lock
    _starting: dict[str, _Submission]
    _watcher: threading.Thread | None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lock, self._starting, self._watcher = threading.Lock(), {}, None

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Return the state of a run's job. A cluster that does not answer now is no reason to start the run again."""
        if PROCESS in run.tags:
            return CheckRunHealthResult(WorkerStatus.RUNNING, "executed by `memflow run`")
        try:
            found: CheckRunHealthResult = super().check_run_worker_health(run)
        except OSError as error:
            return CheckRunHealthResult(WorkerStatus.RUNNING, f"Ray's dashboard does not answer: {error}")
        if found.status is WorkerStatus.UNKNOWN and NOT_FOUND not in (found.msg or ""):
            return CheckRunHealthResult(WorkerStatus.RUNNING, found.msg)
        return found

    def _launch_ray_job(self, submission_id: str, entrypoint: str, run: dg.DagsterRun) -> None:
        """Submit the job of a run. A former job of this id is replaced if it has ended, and otherwise left alone."""
        self._submit(submission_id, entrypoint, run)
        if run.status in STARTING:
            self._watch(_Submission(submission_id, entrypoint, run))

    def _submit(self, submission_id: str, entrypoint: str, run: dg.DagsterRun) -> None:
        """Submit a job, unless one with this id works."""
        has_ended = self._has_ended(submission_id)
        if has_ended is False:
            self._instance.report_engine_event(
                "A Ray job already works on the run; no other is started.", run
            )
            return
        if has_ended:
            self.client.delete_job(submission_id)
        # The slots of a process that was killed.
        self._instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        # Names of partitions, which are no secrets: Ray shows these variables.
        self.env_vars = [f"{name}={value}" for name, value in partition_variables(load()).items()]
        super()._launch_ray_job(submission_id, entrypoint, run)

    def _has_ended(self, submission_id: str) -> bool | None:
        """Return whether a job has ended; None if Ray does not know it."""
        try:
            return bool(self.client.get_job_status(submission_id).is_terminal())
        except RuntimeError as error:
            if NOT_FOUND in str(error):
                return None
            raise

    def _watch(self, submission: _Submission) -> None:
        """Check a job until its run has begun to work, in a thread that all jobs share."""
        with self._lock:
            self._starting[submission.run.run_id] = submission
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._check_jobs, name="ray-jobs", daemon=True)
                self._watcher.start()

    def _check_jobs(self) -> None:
        while True:
            time.sleep(POLL_S)
            with self._lock:
                submissions = list(self._starting.values())
                if not submissions:
                    self._watcher = None
                    return
            for submission in submissions:
                try:
                    is_watched = self._check_job(submission)
                except Exception:  # the database or Ray may be away for a moment
                    logging.getLogger("memflow").exception(
                        "The Ray job %s cannot be checked now. It is checked again.", submission.submission_id
                    )
                    continue
                with self._lock:
                    if not is_watched and self._starting.get(submission.run.run_id) is submission:
                        del self._starting[submission.run.run_id]

    def _check_job(self, submission: _Submission) -> bool:
        """Submit a job again if it has ended and its run has not begun. Return whether to check it again."""
        has_ended = self._has_ended(submission.submission_id)
        # The run is read after the job: a job that has ended by itself has reported its run before.
        run = self._instance.get_run_by_id(submission.run.run_id)
        if run is None or run.status not in STARTING:
            return False
        if has_ended is False:
            return True
        if submission.count >= MAX_SUBMISSIONS:
            return False
        submission.count += 1
        self._instance.report_engine_event(
            "The Ray job has ended before the run began, for example because its node was lost. It is submitted again.",
            run,
        )
        self._submit(submission.submission_id, submission.entrypoint, run)
        return True
