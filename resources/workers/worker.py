"""A worker process from its parent's side: how to start it, send it steps, answer its calls and end it.

workers.py chooses the workers of a step; worker_process.py is the program of the process.
"""

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import Pipe
from typing import Any, TypeVar

from memflow.chat.ledger import RequestContext
from memflow.chat.replacements import Replacements, replacements
from memflow.checks.evaluation import RuleResult
from memflow.errors import WorkerLost
from memflow.run.context import Tables
from memflow.shares import Share
from resources.endpoints.limits import Budget, Spending
from resources.process import default_signals, terminate
from resources.settings.sections import BudgetLimits
from resources.settings.settings import Settings
from resources.workers.channel import Channel
from resources.workers.request_claims import RequestClaims
from resources.workers.worker_ledger import Change, Grant

T = TypeVar("T")

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from resources.workers.worker_process import main; main(int(sys.argv[1]))"
)
CLOSING_S = 3.0
"""Seconds in which a worker can end by itself."""


@dataclass(frozen=True)
class WorkerSetup:
    """The first message to a worker process: settings, limits of the budget, share of the concurrency, and prompts."""

    settings: Settings
    share: Share
    budget: BudgetLimits | None
    """The limits of the parent's budget, if it has any: they determine what a request reserves."""
    collect_after: tuple[int, int, int]
    """The thresholds of the garbage collection."""
    prompts: Replacements
    """The user's prompt files, as the parent process read them."""


@dataclass(frozen=True)
class ParentServices:
    """The services that a parent process provides to its workers: budget, model servers, progress and claims."""

    budget: Budget | None
    server_urls: Callable[[str], tuple[str, ...]]
    """Returns the address of a model's server, started if necessary."""
    add_progress: Callable[[int, RequestContext, int, int], None]
    """Called with the number of the worker and the progress of its share of a step."""
    claims: "RequestClaims[Worker]" = field(default_factory=RequestClaims)


class Worker:
    """A handle on a worker process, and the methods that the worker process calls."""

    def __init__(self, parent: ParentServices, settings: Settings, number: int) -> None:
        self.running: set[Future[Any]] = set()
        self._parent = parent
        self._number = number
        self._starting = ThreadPoolExecutor(1)
        self._reserved = Spending()
        ours, theirs = Pipe()
        setup = WorkerSetup(
            Settings.model_construct(**dict(settings) | {"processes": 1}),
            Share(number, settings.processes),
            _limits(parent.budget),
            gc.get_threshold(),
            dict(replacements()),
        )
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(theirs.fileno()), json.dumps(sys.path)],
                pass_fds=[theirs.fileno()],
                preexec_fn=default_signals(),  # noqa: PLW1509  (it calls no Python code that takes locks)
                start_new_session=True,  # Ctrl-C in a terminal reaches only the parent
            )
            ours.send(setup)
        self.channel = Channel(ours, self, self._on_end)
        self.channel.open()

    def run(self, *arguments: Any) -> Future[Tables]:
        """Start a step in the worker process. Return a future of the step's rows."""
        return self._start("run", *arguments)

    def check(self, *arguments: Any) -> Future[list[RuleResult]]:
        """Start the check of a table in the worker process. Return a future of the results of its rules."""
        return self._start("check", *arguments)

    def _start(self, method: str, *arguments: Any) -> Future[Any]:
        call = self.channel.call(method, *arguments)
        self.running.add(call)
        call.add_done_callback(self.running.discard)
        return call

    def result(self, call: Future[T]) -> T:
        """Return the result of a completed step or check. Raises WorkerLost if the worker process has ended."""
        try:
            return call.result()
        except ConnectionError:
            code = self.process.wait()
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise WorkerLost(
                f"worker process {self._number} (pid {self.process.pid}) {how}. Rerun: answered requests come "
                "from the ledger. If memory was exhausted, lower `processes` in memflow.toml."
            ) from None

    def close(self) -> None:
        """Wait until the process has ended, and terminate the process if this takes too long."""
        try:
            self.process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            terminate(self.process)

    def progress(self, context: RequestContext, done: int, total: int) -> None:
        """Report the progress of a step to the parent."""
        self._parent.add_progress(self._number, context, done, total)

    def server_urls(self, name: str) -> Future[tuple[str, ...]]:
        """Return a future of the address of a model's server. The server is started if necessary."""
        return self._starting.submit(self._parent.server_urls, name)

    def change_claims(self, changes: Iterable[Change]) -> None:
        """Add and remove claims on requests, and grant the claims that are now first."""
        claims = self._parent.claims
        following: list[tuple[Worker, int] | None] = []
        granted: list[Grant] = []
        for number, digest, claimed in changes:
            if not claimed:
                following.append(claims.release(self, number, digest))
            elif claims.claim(self, number, digest):
                granted.append((number, claims.was_released(digest)))
        if granted:
            self.channel.post("grant", granted)
        grant_following(claim for claim in following if claim is not None)

    def reserve(self, most: Spending) -> bool:
        """Reserve spending for a request. Return False if running requests reserve too much of the budget."""
        assert self._parent.budget is not None, "only a worker with a budget reserves"
        reserved = self._parent.budget.reserve(most)
        if reserved:
            self._reserved += most
        return reserved

    def settle(self, reserved: Spending, spent: Spending) -> None:
        """Replace a reservation by the actual spending of the request."""
        assert self._parent.budget is not None, "only a worker with a budget reserves"
        self._reserved -= reserved
        self._parent.budget.settle(reserved, spent)

    def _on_end(self) -> None:
        """Release the claims of an ended process, and count its reserved requests as spent."""
        self._starting.shutdown(wait=False, cancel_futures=True)
        grant_following(self._parent.claims.release_all(self))
        if self._parent.budget is not None:
            self._parent.budget.settle(self._reserved, self._reserved)


def _limits(budget: Budget | None) -> BudgetLimits | None:
    if budget is None or not budget.is_limited:
        return None
    return BudgetLimits(calls=budget.calls, tokens=budget.tokens, cost=budget.cost)


def grant_following(claims: Iterable[tuple[Worker, int]]) -> None:
    """Tell workers that their claims, which waited for another worker's claim, are granted."""
    for worker, number in claims:
        worker.channel.post("grant", [(number, True)])
