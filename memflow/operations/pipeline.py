"""The execution of `memflow run`: planned runs in the order of their dependencies, several at a time.

Partitions that are up to date are skipped. If a run fails, dependent runs are skipped and the other runs continue.
executor.py executes a run; importing it takes a second, so it is imported when the first partition has to run.
memflow/rendering/progress.py shows progress; selection.py selects partitions.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from memflow.assets.fingerprints import ALL, Fingerprints
from memflow.chat.ledger import RequestContext
from memflow.errors import MemflowError
from memflow.operations.planned_runs import Outcome, PlannedRun, RunRequest, failed_requests, plan_runs
from memflow.operations.retrieval_only import require_evidence
from memflow.records import ACCUMULATED
from memflow.resources.dagster_version import require_dagster
from memflow.resources.files.disks import failed_write
from memflow.resources.publishing.drift import new_drift
from memflow.resources.publishing.leaderboard import damaged_partitions
from memflow.resources.publishing.outputs import restore_outputs
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.runs.process_locks import has_stale_locks
from memflow.resources.settings.settings import Settings

if TYPE_CHECKING:
    from memflow.operations.executor import Executor
    from memflow.resources.ledger.sql_ledger import SqlLedger

DONE, UP_TO_DATE, SKIPPED = "done", "up to date", "skipped, because an input failed"
INTERRUPT_S = 10.0
"""Seconds in which interrupted runs can record their end."""


class Silent:
    """Callbacks for the progress of the planned runs, which print nothing. `step` is called in other threads."""

    def begin(self, runs: int) -> None: ...
    def start_run(self, run: PlannedRun) -> None: ...
    def step(self, context: RequestContext, done: int, total: int) -> None: ...
    def end_run(self, run: PlannedRun, result: str) -> None: ...


def run_pipeline(settings: Settings, request: RunRequest, watcher: Silent, budget: Any = None) -> Outcome:
    """Materialize the requested partitions, each as soon as its inputs exist. Return the outcome."""
    fingerprints = Fingerprints.of(settings)
    lake, outcome = fingerprints.lake, Outcome()
    for table in ("score.leaderboard", *sorted(ACCUMULATED)):
        lake.verify(table, ALL)  # their rows are read in any case
    planned = plan_runs(settings, request, fingerprints, outcome)
    watcher.begin(len(planned))
    with ExitStack() as stack:

        @cache
        def executor() -> "Executor":
            require_dagster()
            from memflow.operations.executor import open_executor

            return stack.enter_context(open_executor(settings, fingerprints, watcher.step, budget))

        if has_stale_locks(settings.home):
            # Opening the instance ends the runs of killed processes, also where nothing has to run.
            executor()
        Schedule(request, fingerprints, watcher, outcome, executor).run(planned)
        if outcome.runs:
            executor().record_models(*outcome.complete)
            outcome.usage = _usage(executor().models.ledger, set(outcome.runs))
    if any(run.scope == "all" for run in outcome.up_to_date):
        outcome.restored = restore_outputs(settings, lake)
    if any(run.retrieval_only for run in outcome.ran) and not any(run.scope == "all" for run in outcome.ran):
        Warehouse(lake, settings.warehouse_path).publish()  # as the leaderboard's asset does
    outcome.left_out = damaged_partitions(settings, lake)
    outcome.failed_requests = failed_requests(lake, planned)
    if lake.current_partitions("score.leaderboard"):
        outcome.scores = lake.read("score.leaderboard", "all")
    if any(run.scope == "all" for run in outcome.ran):
        outcome.drift = new_drift(lake)
    return outcome


@dataclass
class Schedule:
    """A scheduler that executes planned runs in threads, at most `request.parallel` at once."""

    request: RunRequest
    fingerprints: Fingerprints
    watcher: Silent
    outcome: Outcome
    executor: Callable[[], "Executor"]
    """Opens the executor at the first call."""
    _threads: dict[PlannedRun, threading.Thread] = field(default_factory=dict)
    _ended: SimpleQueue[tuple[PlannedRun, str, str] | BaseException] = field(default_factory=SimpleQueue)
    """The ended runs with id and reason, and exceptions that end all runs."""
    _available: dict[PlannedRun, bool] = field(default_factory=dict)
    """Whether the tables of each ended run are available."""

    def run(self, planned: Sequence[PlannedRun]) -> None:
        """Execute the planned runs. A run starts when all runs that it depends on have ended."""
        waiting = dict.fromkeys(planned)
        try:
            with self._queued_interrupts():
                while waiting or self._threads:
                    may_start = self._ended.empty() and len(self._threads) < self.request.parallel
                    ready = (run for run in waiting if all(before in self._available for before in run.after))
                    if may_start and (run := next(ready, None)) is not None:
                        del waiting[run]
                        self._start(run)
                    else:
                        self._record(self._ended.get())
        except BaseException:
            self._interrupt()
            raise

    @contextmanager
    def _queued_interrupts(self) -> Iterator[None]:
        """Queue SIGINT and SIGTERM as a KeyboardInterrupt. Raised by a signal handler, it can be lost in a callback."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        former = {
            number: signal.signal(number, lambda *_: self._ended.put(KeyboardInterrupt()))
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def _start(self, run: PlannedRun) -> None:
        self.watcher.start_run(run)
        where = (run.scope, run.partition or ALL, run.assistant)
        if run.after and not any(self._available[before] for before in run.after):
            self.outcome.skipped.append(run)
            self._end(run, SKIPPED, available=False)
        elif not self.request.force and self.fingerprints.up_to_date(*where, tables=run.tables):
            self.outcome.up_to_date.append(run)
            self._end(run, UP_TO_DATE)
        else:
            if tables := self.fingerprints.damaged(*where):
                self.outcome.damaged[run.name] = tables
            # A daemon thread does not keep an interrupted process alive.
            self._threads[run] = threading.Thread(
                target=self._execute, args=(self.executor(), run), name=run.name, daemon=True
            )
            self._threads[run].start()

    def _execute(self, executor: "Executor", run: PlannedRun) -> None:
        try:
            if run.retrieval_only and run.assistant:
                require_evidence(self.fingerprints.lake, run.domain)
            self._ended.put((run, *executor.run(run)))
        except MemflowError as error:
            self._ended.put((run, "", str(error)))
        except Exception as error:  # noqa: BLE001  (it fails one run; the others continue)
            explained = failed_write(error, executor.settings.home)
            self._ended.put((run, "", str(explained or f"{type(error).__name__}: {error}")))
        except BaseException as error:  # noqa: BLE001  (it is raised in the main thread)
            self._ended.put(error)

    def _record(self, ended: tuple[PlannedRun, str, str] | BaseException) -> None:
        if isinstance(ended, BaseException):
            raise ended
        run, run_id, reason = ended
        del self._threads[run]
        if run_id:  # else the run failed before Dagster recorded it
            self.outcome.runs.append(run_id)
        if reason:
            self.outcome.failed.append((run, reason))
        else:
            self.outcome.ran.append(run)
        self._end(run, reason or DONE, available=not reason)

    def _end(self, run: PlannedRun, result: str, available: bool = True) -> None:
        self._available[run] = available
        self.watcher.end_run(run, result)

    def _interrupt(self) -> None:
        """Cancel the requests, and wait some seconds until the running threads have recorded the end of their runs."""
        if self._threads:
            self.executor().models.interrupt()
        until = time.monotonic() + INTERRUPT_S
        for thread in self._threads.values():
            thread.join(max(0.0, until - time.monotonic()))


def _usage(ledger: "SqlLedger", runs: set[str]) -> list[dict[str, Any]]:
    """Return the usage of these Dagster runs, by stage and role."""
    rows = [asdict(row) for row in ledger.usage(("stage", "role"), runs=runs)]
    return [{**row.pop("by"), **row} for row in rows]
