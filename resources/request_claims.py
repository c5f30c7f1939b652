"""Claims of worker processes on requests, so that a request that several of them need is sent once.

The parent process decides. worker_ledger.py makes the claims of a worker.
"""

import threading
from collections.abc import Hashable
from concurrent.futures import Future


class RequestClaims:
    """The claimed requests by digest, and the owners that wait for each, in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[str, list[tuple[Hashable, Future[None]]]] = {}

    def claim(self, owner: Hashable, digest: str) -> Future[None]:
        """Claim a request. The future is done when no earlier claim is left."""
        granted: Future[None] = Future()
        with self._lock:
            queue = self._queues.setdefault(digest, [])
            queue.append((owner, granted))
            is_first = len(queue) == 1
        if is_first:
            granted.set_result(None)
        return granted

    def release(self, owner: Hashable, digest: str) -> None:
        """Give up the claim of an owner on a request, whether it was granted or not."""
        with self._lock:
            queue = self._queues[digest]
            left = [claim for claim in queue if claim[0] != owner]
            following = left[0][1] if left and left[0] is not queue[0] else None
            if left:
                self._queues[digest] = left
            else:
                del self._queues[digest]
        if following is not None:
            following.set_result(None)

    def release_all(self, owner: Hashable) -> None:
        """Give up all claims of an owner."""
        with self._lock:
            claimed = [
                digest for digest, queue in self._queues.items() if any(each == owner for each, _ in queue)
            ]
        for digest in claimed:
            self.release(owner, digest)
