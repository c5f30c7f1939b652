"""The run launcher of `memflow dev`: it starts a process per run with a lease, and finds runs whose process has ended.

Dagster's own launcher starts runs inside the code server and cannot tell whether a run still has a process, so a killed
run stays in progress for ever. resources/instance/instance.yaml and resources/instance/deployment.yaml name this class.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.events import DagsterEvent, DagsterEventType
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, ResumeRunContext, WorkerStatus
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._grpc.types import ExecuteRunArgs, GetCurrentRunsResult, ResumeRunArgs
from dagster._serdes import deserialize_value, serialize_value
from dagster._serdes.config_class import ConfigurableClassData

from memflow.errors import MemflowError
from resources.process import default_signals
from resources.runs.leases import Holder, acquire, is_leased, lease_folder_id, run_lease, signal_holder
from resources.runs.process_locks import LOCKS
from resources.runs.recovery import (
    LEASE,
    PROCESS,
    PROCESS_FOLDER,
    fail_runs_of,
    free_slots,
    is_launched_here,
    requeue,
)

RUNNING = CheckRunHealthResult(WorkerStatus.RUNNING)
MAX_LAUNCHES = 5
"""The number of processes that may end before they start a run. Then the run fails."""


class LeasedRunLauncher(DefaultRunLauncher):
    """Starts each run as a process of its own, which holds the lease of the run as long as it exists.

    Runs of a code server at an address (`grpc_server` in the workspace) are started there, as Dagster's own launcher
    does, and that server is asked for them. A run of another host is left to that host.
    """

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]
    ) -> "LeasedRunLauncher":
        """Return the launcher that dagster.yaml configures."""
        return cls(inst_data)

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Whether Dagster's monitoring may ask for the health of runs."""
        return True

    @property
    def supports_resume_run(self) -> bool:
        """Whether a run whose process has ended can continue with another."""
        return True

    @property
    def _folder(self) -> Path:
        return Path(self._instance.root_directory)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Start the process of a run."""
        run = context.dagster_run
        if not is_launched_here(run):
            super().launch_run(context)
            return
        self._run_ids.add(run.run_id)
        self._start(run, resume=False)

    def resume_run(self, context: ResumeRunContext) -> None:
        """Start another process for a run whose process has ended."""
        run = context.dagster_run
        if is_launched_here(run):
            self._start(run, resume=True)
        else:
            requeue(self._instance, self._folder, run)

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Return whether the process of a run still runs."""
        if process := run.tags.get(PROCESS):
            mine = lease_folder_id(self._folder)
            if run.tags.get(PROCESS_FOLDER, mine) == mine and not is_leased(self._folder / LOCKS / process):
                fail_runs_of(self._instance, process)
            return RUNNING
        if leases := run.tags.get(LEASE):
            if leases != lease_folder_id(self._folder) or is_leased(run_lease(self._folder, run.run_id)):
                return RUNNING
            return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "the process of the run has ended")
        if GRPC_INFO_TAG in run.tags:
            return self._served_health(run)
        return RUNNING  # executed in a process that no one here has started

    def terminate(self, run_id: str) -> bool:
        """End a run at a user's request. Return False if its process is on another host."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        leases = run.tags.get(LEASE)
        if leases is None:
            return super().terminate(run_id)
        if leases != lease_folder_id(self._folder):
            self._instance.report_engine_event(
                "The process of the run is on another host. End it there.", run
            )
            return False
        self._instance.report_run_canceling(run)
        if not is_leased(run_lease(self._folder, run_id)):
            self._instance.report_run_canceled(run)
            free_slots(self._instance, run_id)
            return True
        return signal_holder(run_lease(self._folder, run_id), signal.SIGTERM)

    def _start(self, run: dg.DagsterRun, *, resume: bool) -> None:
        """Start the process of a run, unless a process works on it already or it is no longer to be started."""
        lease = acquire(run_lease(self._folder, run.run_id))
        if lease is None:
            self._instance.report_engine_event(
                "A process already works on the run; no other is started.", run
            )
            found = self._instance.get_run_by_id(run.run_id)
            if found is not None and found.status is dg.DagsterRunStatus.STARTING:
                started = DagsterEvent(DagsterEventType.PIPELINE_START.value, job_name=run.job_name)
                self._instance.report_dagster_event(started, run_id=run.run_id)
            return
        try:
            found = self._instance.get_run_by_id(run.run_id)
            expected = dg.DagsterRunStatus.STARTED if resume else dg.DagsterRunStatus.STARTING
            if found is None or found.status is not expected:
                lease.release()
                return  # returned to the queue, canceled or deleted meanwhile
            free_slots(self._instance, run.run_id)
            self._instance.add_run_tags(run.run_id, {LEASE: lease_folder_id(self._folder)})
            worker = subprocess.Popen(
                self._command(run, lease.descriptor, resume=resume),
                pass_fds=[lease.descriptor],
                stdin=subprocess.DEVNULL,
                preexec_fn=default_signals(),  # noqa: PLW1509
            )
        except BaseException:
            lease.release()
            raise
        lease.hand_over(Holder.of(worker.pid))
        watch = threading.Thread(target=self._await_worker, args=(run.run_id, worker), daemon=True)
        watch.start()

    def _command(self, run: dg.DagsterRun, descriptor: int, *, resume: bool) -> list[str]:
        if run.job_code_origin is None:
            raise MemflowError(f"the run {run.run_id} does not state where its code is. Launch it again.")
        ref = self._instance.get_ref()
        arguments: Any = (ResumeRunArgs if resume else ExecuteRunArgs)(run.job_code_origin, run.run_id, ref)
        command = "resume_run" if resume else "execute_run"
        worker = [sys.executable, "-m", "resources.runs.worker", str(descriptor)]
        return [*worker, str(run_lease(self._folder, run.run_id)), command, serialize_value(arguments)]

    def _await_worker(self, run_id: str, worker: subprocess.Popen[bytes]) -> None:
        """Wait until the process of a run ends. If it did not start the run, return the run to the queue.

        Dagster's monitoring asks only for the health of runs that have started.
        """
        status = worker.wait()
        run = self._instance.get_run_by_id(run_id) if self.has_instance else None
        if run is not None and run.status is dg.DagsterRunStatus.CANCELING:
            self._instance.report_run_canceled(run)
        if run is None or run.status is not dg.DagsterRunStatus.STARTING:
            return
        launches = self._instance.all_logs(run_id, of_type=DagsterEventType.PIPELINE_STARTING)
        if len(launches) < MAX_LAUNCHES:
            requeue(self._instance, self._folder, run)
        else:
            self._instance.report_run_failed(
                run,
                f"Its process has ended {len(launches)} times before the run started, at last with exit status "
                f"{status}. Fix the error in the output of `memflow dev`, then rerun.",
            )

    def _served_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Ask the code server that started a run whether it still executes it.

        A server that does not answer may be restarting or unreachable, and its runs may still work. So only a server
        that answers, or a socket file that is gone, shows that a run has no process.
        """
        client = self._get_grpc_client_for_termination(run.run_id)
        if client is None:
            return RUNNING
        if client.socket and not Path(client.socket).exists():
            return CheckRunHealthResult(
                WorkerStatus.NOT_FOUND, "the code server that started the run has ended"
            )
        try:
            current = deserialize_value(client.get_current_runs(), GetCurrentRunsResult).current_runs
        except DagsterUserCodeUnreachableError as error:
            return CheckRunHealthResult(WorkerStatus.RUNNING, f"its code server does not answer: {error}")
        if run.run_id in current:
            return RUNNING
        return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "its code server does not execute it any more")
