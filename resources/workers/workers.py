"""Worker processes that execute steps which call models, each for a share of the episodes and of the concurrency.
They also check large tables, each for a share of the rules.

`memflow run` starts all workers with its first partition; otherwise a worker starts when a step needs it. Workers
execute steps of all partitions. The parent process writes the rows. worker_process.py is the program of a worker.
"""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import wait
from itertools import chain, zip_longest
from typing import Any

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import RequestContext
from memflow.checks.evaluation import RuleResult
from memflow.pipeline import Step
from memflow.run.context import Tables
from memflow.shares import WHOLE, Share
from resources.endpoints.embedder import CONCURRENCY
from resources.endpoints.limits import Budget
from resources.settings.settings import Settings
from resources.workers.worker import ParentServices, Worker

Watch = Callable[[RequestContext, int, int], None]


class Workers:
    """The worker processes of one parent process. Close this object after use.

    The workers share `budget`, get the addresses of model servers from `server_urls`, and report progress to `watch`.
    """

    def __init__(
        self, budget: Budget | None, server_urls: Callable[[str], tuple[str, ...]], watch: Watch
    ) -> None:
        self._services = ParentServices(budget, server_urls, self._add_progress)
        self._watch = watch
        self._lock = threading.Lock()
        self._interrupted = False
        self._workers: dict[int, Worker] = {}
        self._progress: dict[RequestContext, dict[int, tuple[int, int]]] = {}
        self._of_server: dict[tuple[str, str, str], int] = {}
        """The worker of each run, domain and assistant with a memory server."""

    def start(self, settings: Settings) -> None:
        """Start the worker processes that the settings configure, so that they import modules while others work."""
        for number in range(settings.processes if settings.processes > 1 else 0):
            self._worker(number, settings)

    def run(
        self,
        settings: Settings,
        step: Step,
        run_id: str,
        domain: Domain,
        assistant: str,
        asks_early: bool,
    ) -> Tables:
        """Return the rows of a step's tables, concatenated from the shares that the workers compute.

        A step that is not divisible runs in one worker. So do the steps of an assistant with a memory server: one
        server plays the episodes and is read afterwards. If one share fails, the error is raised after the others have
        ended. Raises WorkerLost if a worker process ends before its step.
        """
        count = min(settings.processes, _concurrency(settings, step, assistant))
        if assistant and settings.memory_of(assistant).server is not None:
            key = (run_id, domain.name, assistant)
            shares = {self._of_server.setdefault(key, self._least_busy(count)): WHOLE}
        elif step.is_divisible(registry.benchmark(domain.benchmark), domain):
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
        return {table: list(chain.from_iterable(part[table] for part in parts)) for table in parts[0]}

    def check(self, table: str, partition: str) -> list[RuleResult] | None:
        """Return the result of every rule of a table on a partition of the lake; None if no worker is running.

        The rules are divided among the workers. Raises the errors of `check_partition`, and WorkerLost.
        """
        with self._lock:
            workers = [each for each in self._workers.values() if each.process.poll() is None]
        shares = [Share(number, len(workers)) for number in range(len(workers))]
        calls = [each.check(table, partition, share) for each, share in zip(workers, shares, strict=True)]
        wait(calls)
        parts = [worker.result(call) for worker, call in zip(workers, calls, strict=True)]
        return [each for results in zip_longest(*parts) for each in results if each] if parts else None

    def end_run(self, run_id: str) -> None:
        """Cancel the requests of a run's early answers in all workers."""
        self._of_server = {key: number for key, number in self._of_server.items() if key[0] != run_id}
        self._post("end_run", run_id)

    def interrupt(self) -> None:
        """Cancel the running steps in all workers, and reject new steps."""
        self._interrupted = True
        self._post("interrupt")

    def close(self) -> None:
        """End all worker processes."""
        self._post("close")
        with self._lock:
            workers = [*self._workers.values()]
            self._workers.clear()
        for worker in workers:
            worker.close()

    def _add_progress(self, number: int, context: RequestContext, done: int, total: int) -> None:
        """Record the progress of one worker, and report the sum over all workers."""
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

    def _worker(self, number: int, settings: Settings) -> Worker:
        """Return the worker with this number, and start the worker if necessary."""
        with self._lock:
            worker = self._workers.get(number)
            if worker is None or worker.process.poll() is not None:
                worker = self._workers[number] = Worker(self._services, settings, number)
                if self._interrupted:
                    worker.channel.post("interrupt")
            return worker


def _concurrency(settings: Settings, step: Step, assistant: str) -> int:
    """Return the maximum number of workers for a step, so that each can send at least one request at a time."""
    names = [name for role, name in settings.roles.assigned() if role in step.models and role != "assistant"]
    if "assistant" in step.models:
        names.append(settings.model_of(assistant))
    called = [settings.models[name] for name in names]
    limits = [model.concurrency for model in called if model.kind != "scripted"]
    return min(
        [*limits, CONCURRENCY] if settings.embedder.kind == "endpoint" else limits, default=sys.maxsize
    )
