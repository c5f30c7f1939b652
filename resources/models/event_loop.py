"""An event loop in a background thread, shared by all steps that call models in a process.

Clients, limiters and embedders belong to one event loop. Dagster runs steps in several threads; on one shared loop, the
requests of all steps use the same connections and limits.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import CancelledError
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

import uvloop

from memflow.errors import Interrupted

T = TypeVar("T")
Tasks = set[asyncio.Task[Any]]

_OWNER: ContextVar[Tasks | None] = ContextVar("owner", default=None)
"""The running tasks of the work that creates a task."""


class EventLoopThread:
    """An event loop in a daemon thread, which starts at the first call of `run`. Close it after use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._interrupted = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop, and return its result.

        Tasks that the coroutine created are canceled at its end, as by asyncio.run. Raises Interrupted after
        `interrupt`.
        """
        if self._interrupted:
            work.close()
            raise _interruption()
        submitted = asyncio.run_coroutine_threadsafe(_owning(work), self._started())
        try:
            return submitted.result()
        except CancelledError:
            raise _interruption() from None
        except BaseException:
            submitted.cancel()
            raise

    def call(self, function: Callable[[], object]) -> None:
        """Schedule a function call on the loop; do nothing if the loop is not running."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function)

    def interrupt(self) -> None:
        """Cancel all tasks on the loop, and reject new ones."""
        self._interrupted = True
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result()

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel all tasks, run the coroutine `last`, and end the thread. A later call of `run` starts a new thread."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            last.close()
            return
        for work in (_cancel_all(), last):
            asyncio.run_coroutine_threadsafe(work, loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = uvloop.new_event_loop()
                self._loop.set_task_factory(_owned_task)  # type: ignore[arg-type]
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="memflow-models", daemon=True
                )
                self._thread.start()
            return self._loop


def detached(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Create a task that continues after the coroutine that created it, since other coroutines may await the task."""
    context = copy_context()
    context.run(_OWNER.set, None)
    return context.run(asyncio.get_running_loop().create_task, work)


async def _owning(work: Coroutine[Any, Any, T]) -> T:
    tasks: Tasks = set()
    _OWNER.set(tasks)
    try:
        return await work
    finally:
        await _cancel(list(tasks))


def _owned_task(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any
) -> asyncio.Task[Any]:
    task = asyncio.Task(work, loop=loop, **options)
    owner = _OWNER.get()
    if owner is not None:
        owner.add(task)
        task.add_done_callback(owner.discard)
    return task


async def _cancel_all() -> None:
    current = asyncio.current_task()
    await _cancel([task for task in asyncio.all_tasks() if task is not current])


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _interruption() -> Interrupted:
    return Interrupted("the run was interrupted. Rerun: answered requests come from the ledger.")
