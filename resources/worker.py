"""One worker process as its parent sees it: its start, its steps, its calls and its end.

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
from typing import Any

from memflow.chat.ledger import RequestContext
from memflow.errors import WorkerLost
from memflow.run.context import Tables
from memflow.shares import Share
from resources.channel import Channel
from resources.limits import Budget, Spending
from resources.process import default_signals, terminate
from resources.request_claims import RequestClaims
from resources.settings import Settings
from resources.worker_ledger import Change, Grant

PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from resources.worker_process import main; main(int(sys.argv[1]))"
)
CLOSING_S = 3.0
"""Seconds in which a worker can end by itself."""


@dataclass(frozen=True)
class WorkerSetup:
    """The first message to a worker. `share` is its share of the models' concurrency."""

    settings: Settings
    share: Share
    has_budget: bool
    collect_after: tuple[int, int, int]
    """The thresholds of the garbage collection."""


@dataclass(frozen=True)
class ParentServices:
    """What a parent provides to all its workers."""

    budget: Budget | None
    server_url: Callable[[str], str]
    """Returns the address of a model's server, started if necessary."""
    add_progress: Callable[[int, RequestContext, int, int], None]
    """Called with the number of the worker and the progress of its share of a step."""
    claims: "RequestClaims[Worker]" = field(default_factory=RequestClaims)


class Worker:
    """A worker process, and the methods that it calls."""

    def __init__(self, parent: ParentServices, settings: Settings, number: int) -> None:
        self.running: set[Future[Tables]] = set()
        self._parent = parent
        self._number = number
        self._starting = ThreadPoolExecutor(1)
        self._reserved = Spending()
        ours, theirs = Pipe()
        setup = WorkerSetup(
            Settings.model_construct(**dict(settings) | {"processes": 1}),
            Share(number, settings.processes),
            parent.budget is not None and parent.budget.is_limited,
            gc.get_threshold(),
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
        self._parent.add_progress(self._number, context, done, total)

    def server_url(self, name: str) -> Future[str]:
        """Return the address of a model's server, started if necessary."""
        return self._starting.submit(self._parent.server_url, name)

    def change_claims(self, changes: Iterable[Change]) -> None:
        """Make and release claims on requests."""
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
        """Reserve a part of the budget for a request."""
        assert self._parent.budget is not None, "only a worker with a budget reserves"
        reserved = self._parent.budget.reserve(most)
        if reserved:
            self._reserved += most
        return reserved

    def settle(self, reserved: Spending, spent: Spending) -> None:
        """Replace a reservation by the actual spending."""
        assert self._parent.budget is not None, "only a worker with a budget reserves"
        self._reserved -= reserved
        self._parent.budget.settle(reserved, spent)

    def _on_end(self) -> None:
        """Count the requests of an ended process as spent, since their servers may answer them."""
        self._starting.shutdown(wait=False, cancel_futures=True)
        grant_following(self._parent.claims.release_all(self))
        if self._parent.budget is not None:
            self._parent.budget.settle(self._reserved, self._reserved)


def grant_following(claims: Iterable[tuple[Worker, int]]) -> None:
    """Grant claims that waited for another one on the same request."""
    for worker, number in claims:
        worker.channel.post("grant", [(number, True)])
