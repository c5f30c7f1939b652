"""The program of a worker process: executes the steps that its parent sends, returns their rows, and checks tables.

The process reads inputs from the lake and writes to the ledger. Its parent owns the budget, the model servers and the
progress display. worker.py starts the process.
"""

import asyncio
import gc
import os
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection

from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import RequestContext
from memflow.chat.replacements import replace_prompts
from memflow.checks.evaluation import RuleResult
from memflow.pipeline import STEPS
from memflow.run.context import Tables
from memflow.shares import Share
from resources.data.library import CHECKSUMS, Library
from resources.endpoints.limits import Budget, Spending
from resources.lake.lake import Lake
from resources.models.models import Models
from resources.settings.sections import BudgetLimits
from resources.settings.settings import Settings
from resources.steps import StepRunner
from resources.validation.checks import Scope, check_partition
from resources.vllm_servers.servers import VllmServers
from resources.workers.channel import Channel
from resources.workers.worker import WorkerSetup
from resources.workers.worker_ledger import Grant, WorkerLedger

PROGRESS_S = 0.1
"""Minimum number of seconds between two progress messages of a step."""
STEPS_AT_ONCE = 256
"""Maximum number of steps of different partitions that run at once."""


def main(file_descriptor: int) -> None:
    """Execute the steps that the parent sends over a connection, until the parent closes the worker or ends."""
    # The parent ends the worker. A signal of the terminal reaches only the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(file_descriptor)
    setup: WorkerSetup = connection.recv()
    gc.set_threshold(*setup.collect_after)
    replace_prompts(setup.prompts)
    _StepServer(setup).serve(connection)


class _StepServer:
    """The handler of the parent's calls in a worker process."""

    def __init__(self, setup: WorkerSetup) -> None:
        self._setup = setup
        self._closing = threading.Event()
        self._threads = ThreadPoolExecutor(STEPS_AT_ONCE)
        self._reported: dict[RequestContext, float] = {}

    def serve(self, connection: Connection) -> None:
        """Answer the parent's calls until the parent closes the worker or ends."""
        settings = self._setup.settings
        self._channel = Channel(connection, self, self._closing.set)
        self._ledger = WorkerLedger(settings.ledger_url, self._channel)
        self._models = Models(
            settings,
            self._ledger,
            _ParentBudget(self._channel, self._setup.budget) if self._setup.budget else None,
            _ParentServers(self._channel, settings),
            share=self._setup.share,
        )
        self._models.watch = self._watch
        library = Library(settings.data, settings.datasets, settings.home / CHECKSUMS)
        self._runner = StepRunner(settings, Lake(settings.lake_root), library, self._models)
        self._channel.open()
        self._closing.wait()
        self._models.interrupt()
        self._models.close()
        os._exit(0)  # threads of steps that still compute do not delay the end

    def run(
        self, name: str, run_id: str, domain: Domain, assistant: str, asks_early: bool, share: Share
    ) -> Future[Tables]:
        """Return a future of the rows of a step's tables, for a share of the episodes."""
        step = next(step for step in STEPS if step.name == name)

        def work() -> Tables:
            tables = self._runner.run(
                step, run_id, domain=domain, assistant=assistant, asks_early=asks_early, share=share
            )
            return {table: list(rows) for table, rows in tables.items()}

        return self._threads.submit(work)

    def check(self, table: str, partition: str, share: Share) -> Future[list[RuleResult]]:
        """Return a future of the results of a share of a table's rules on a partition of the lake."""
        scope = Scope.of(table, partition, self._setup.settings)
        return self._threads.submit(check_partition, table, partition, self._runner.lake, scope, share=share)

    def end_run(self, run_id: str) -> None:
        """Cancel the requests of a run's early answers that are still running."""
        self._models.end_run(run_id)

    def grant(self, granted: list[Grant]) -> None:
        """Continue the requests whose claims are granted."""
        self._ledger.grant(granted)

    def interrupt(self) -> None:
        """Cancel the running steps, and reject new steps."""
        self._models.interrupt()

    def close(self) -> None:
        """End the worker process."""
        self._closing.set()

    def _watch(self, context: RequestContext, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self._reported.get(context, 0.0) >= PROGRESS_S:
            self._reported[context] = now
            self._channel.post("progress", context, done, total)


class _ParentBudget(Budget):
    """A budget that reserves spending at the parent process, whose budget all workers share."""

    def __init__(self, channel: Channel, limits: BudgetLimits) -> None:
        super().__init__(limits.calls, limits.tokens, limits.cost)
        self._channel = channel

    async def request(self, most: Spending) -> bool:
        reserving = self._channel.call("reserve", most)
        try:
            reserved: bool = await asyncio.wrap_future(reserving)
        except asyncio.CancelledError:
            reserving.add_done_callback(partial(self._give_back, most))
            raise
        return reserved

    def settle(self, reserved: Spending, spent: Spending) -> None:
        self._channel.post("settle", reserved, spent)

    def _give_back(self, most: Spending, reserving: Future[bool]) -> None:
        if reserving.exception() is None and reserving.result():
            self.settle(most, Spending())


class _ParentServers(VllmServers):
    """The model servers of the parent process, as seen by a worker process."""

    def __init__(self, channel: Channel, settings: Settings) -> None:
        super().__init__(settings.models, settings.home)
        self._channel = channel

    def urls(self, name: str) -> tuple[str, ...]:
        addresses: tuple[str, ...] = self._channel.call("server_urls", name).result()
        return addresses
