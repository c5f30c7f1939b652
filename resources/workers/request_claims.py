"""Claims of worker processes on requests, so that a request that several workers need is sent once.

The parent process grants claims. worker_ledger.py makes the claims of a worker.
"""

import threading
from collections import OrderedDict, deque
from typing import Generic, TypeVar

W = TypeVar("W")
RECENT = 100_000
"""Number of released requests that are remembered: more than are released while a worker looks one up."""


class RequestClaims(Generic[W]):
    """The claims on requests, in order, by request digest. The first claim on a request is granted.

    A claim consists of a worker and a number that the worker assigns.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[str, deque[tuple[W, int]]] = {}
        self._released: OrderedDict[str, None] = OrderedDict()

    def claim(self, worker: W, number: int, digest: str) -> bool:
        """Add a worker's claim on a request. Return whether the claim is granted at once."""
        with self._lock:
            queue = self._queues.setdefault(digest, deque())
            queue.append((worker, number))
            return len(queue) == 1

    def release(self, worker: W, number: int, digest: str) -> tuple[W, int] | None:
        """Remove a claim, granted or not. Return the claim that is granted instead, or None."""
        with self._lock:
            queue = self._queues[digest]
            was_granted = queue[0] == (worker, number)
            queue.remove((worker, number))
            if not queue:
                del self._queues[digest]
            self._released[digest] = None
            if len(self._released) > RECENT:
                self._released.popitem(last=False)
            return queue[0] if queue and was_granted else None

    def was_released(self, digest: str) -> bool:
        """Return whether a claim on a request was removed recently, so that its completion may be stored."""
        with self._lock:
            return digest in self._released

    def release_all(self, worker: W) -> list[tuple[W, int]]:
        """Remove all claims of a worker. Return the claims of other workers that are granted instead."""
        with self._lock:
            claimed = [
                (number, digest)
                for digest, queue in self._queues.items()
                for each, number in queue
                if each == worker
            ]
        granted = (self.release(worker, number, digest) for number, digest in claimed)
        return [claim for claim in granted if claim is not None and claim[0] != worker]
