"""Worker processes for the steps that call models: each has a share of the episodes and of the models' concurrency.

A worker starts when it is first needed, and serves all partitions of its parent, which writes the rows.
worker_process.py is the program of a worker.
"""

import gc
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import Any

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import RequestContext
from memflow.errors import WorkerLost
from memflow.pipeline import Step
from memflow.run.context import Tables
from memflow.shares import WHOLE, Share
from resources.channel import Channel
from resources.embedder import CONCURRENCY
from resources.limits import Budget, Spending
from resources.process import default_signals, terminate
from resources.request_claims import RequestClaims
from resources.settings import Settings

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from resources.worker_process import main; main(int(sys.argv[1]))"
)
CLOSING_S = 3.0
"""Seconds in which a worker can end by itself."""

Watch = Callable[[RequestContext, int, int], None]


@dataclass(frozen=True)
class WorkerSetup:
    """The first message to a worker. `share` is its share of the models' concurrency."""

    settings: Settings
    share: Share
    has_budget: bool
    collect_after: tuple[int, int, int]
    """The thresholds of the garbage collection."""


class Workers:
    """The worker processes of one parent process. Close them after use.

    The workers share `budget`, ask `server_url` for the address of a started server, and report progress to `watch`.
    """

    def __init__(self, budget: Budget | None, server_url: Callable[[str], str], watch: Watch) -> None:
        self.budget = budget
        self.server_url = server_url
        self.claims = RequestClaims()
        self._watch = watch
        self._lock = threading.Lock()
        self._interrupted = False
        self._workers: dict[int, _Worker] = {}
        self._progress: dict[RequestContext, dict[int, tuple[int, int]]] = {}

    def run(
        self,
        settings: Settings,
        step: Step,
        run_id: str,
        domain: Domain,
        assistant: str,
        asks_early: bool,
    ) -> Tables:
        """Return the rows of a step's tables, of which each worker computes a share.

        A step that is not divisible runs in one worker. If a share fails, the others end first. Raises WorkerLost if a
        worker process ends before its work.
        """
        count = min(settings.processes, _concurrency(settings, step, assistant))
        if step.is_divisible(registry.benchmark(domain.benchmark), domain):
            shares = {number: Share(number, count) for number in range(count)}
        else:
            shares = {self._least_busy(count): WHOLE}
        workers = [(self._worker(number, settings), share) for number, share in shares.items()]
        calls = [
            worker.run(step.name, run_id, domain, assistant, asks_early, share) for worker, share in workers
        ]
        wait(calls)
        with self._lock:
            self._progress.pop(RequestContext(run_id, step.stage, "", domain.name, assistant), None)
        parts = [worker.result(call) for (worker, _), call in zip(workers, calls, strict=True)]
        return {table: [row for part in parts for row in part[table]] for table in parts[0]}

    def end_run(self, run_id: str) -> None:
        """Drop what a run has left in the workers."""
        self._post("end_run", run_id)

    def interrupt(self) -> None:
        """Cancel the running steps, and reject further steps."""
        self._interrupted = True
        self._post("interrupt")

    def close(self) -> None:
        """End all workers."""
        self._post("close")
        with self._lock:
            workers = [*self._workers.values()]
            self._workers.clear()
        for worker in workers:
            worker.close()

    def add_progress(self, number: int, context: RequestContext, done: int, total: int) -> None:
        """Add the progress of one worker to that of the others, and report the sum."""
        with self._lock:
            shares = self._progress.setdefault(context, {})
            shares[number] = done, total
            done, total = map(sum, zip(*shares.values(), strict=True))
        self._watch(context, done, total)

    def _post(self, method: str, *arguments: Any) -> None:
        with self._lock:
            workers = [*self._workers.values()]
        for worker in workers:
            worker.channel.post(method, *arguments)

    def _least_busy(self, count: int) -> int:
        with self._lock:
            busy = {number: len(worker.running) for number, worker in self._workers.items()}
        return min(range(count), key=lambda number: busy.get(number, 0))

    def _worker(self, number: int, settings: Settings) -> "_Worker":
        """Return a worker; start it if it does not run."""
        with self._lock:
            worker = self._workers.get(number)
            if worker is None or worker.process.poll() is not None:
                worker = self._workers[number] = _Worker(self, settings, number)
                if self._interrupted:
                    worker.channel.post("interrupt")
            return worker


class _Worker:
    """One worker process, and the methods that it calls."""

    def __init__(self, workers: Workers, settings: Settings, number: int) -> None:
        self.running: set[Future[Tables]] = set()
        self._workers = workers
        self._number = number
        self._starting = ThreadPoolExecutor(1)
        self._reserved = Spending()
        parent, child = Pipe()
        setup = WorkerSetup(
            Settings.model_construct(**dict(settings) | {"processes": 1}),
            Share(number, settings.processes),
            workers.budget is not None and workers.budget.is_limited,
            gc.get_threshold(),
        )
        with child:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(child.fileno()), json.dumps(sys.path)],
                pass_fds=[child.fileno()],
                preexec_fn=default_signals(),  # noqa: PLW1509  (it calls no Python code that takes locks)
                start_new_session=True,  # Ctrl-C in a terminal reaches only the parent
            )
            parent.send(setup)
        self.channel = Channel(parent, self, self._on_end)
        self.channel.open()

    def run(self, *arguments: Any) -> Future[Tables]:
        """Start a step."""
        call = self.channel.call("run", *arguments)
        self.running.add(call)
        call.add_done_callback(self.running.discard)
        return call

    def result(self, call: Future[Tables]) -> Tables:
        """Return the rows of a step that has ended."""
        try:
            return call.result()
        except ConnectionError:
            code = self.process.wait()
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise WorkerLost(
                f"worker process {self._number} (pid {self.process.pid}) {how}. Rerun: answered requests come "
                "from the ledger. If memory was short, use fewer `processes`."
            ) from None

    def close(self) -> None:
        """Wait until the process has ended; terminate it if that takes too long."""
        try:
            self.process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            terminate(self.process)

    def progress(self, context: RequestContext, done: int, total: int) -> None:
        """Report the progress of a step."""
        self._workers.add_progress(self._number, context, done, total)

    def server_url(self, name: str) -> Future[str]:
        """Return the address of a model's server, started if necessary."""
        return self._starting.submit(self._workers.server_url, name)

    def claim(self, digest: str) -> Future[None]:
        """Wait until no other worker sends a request."""
        return self._workers.claims.claim(self, digest)

    def release(self, digest: str) -> None:
        """Let other workers send a request, or find its stored completion."""
        self._workers.claims.release(self, digest)

    def reserve(self, most: Spending) -> bool:
        """Reserve a part of the budget for a request."""
        assert self._workers.budget is not None, "only a worker with a budget reserves"
        reserved = self._workers.budget.reserve(most)
        if reserved:
            self._reserved += most
        return reserved

    def settle(self, reserved: Spending, spent: Spending) -> None:
        """Replace a reservation by the actual spending."""
        assert self._workers.budget is not None, "only a worker with a budget reserves"
        self._reserved -= reserved
        self._workers.budget.settle(reserved, spent)

    def _on_end(self) -> None:
        """Count the requests of an ended process as spent, since their servers may answer them."""
        self._starting.shutdown(wait=False, cancel_futures=True)
        self._workers.claims.release_all(self)
        if self._workers.budget is not None:
            self._workers.budget.settle(self._reserved, self._reserved)


def _concurrency(settings: Settings, step: Step, assistant: str) -> int:
    """Return how many workers can call the models of a step: each needs a share of at least one request."""
    roles = dict(settings.roles)
    names = [settings.model_of(assistant) if role == "assistant" else roles.get(role) for role in step.models]
    called = [settings.models[name] for name in names if name is not None]
    limits = [model.concurrency for model in called if model.kind != "scripted"]
    return min(
        [*limits, CONCURRENCY] if settings.embedder.kind == "endpoint" else limits, default=sys.maxsize
    )
