"""The duration of memory writes and reads: recorded seconds of model requests, and seconds of the memory's own code.

A cache hit counts the seconds of the first request. Seconds of the memory's code exclude waiting for models and for
other tasks in the event loop, so the two can be added. The clock is an argument; without a clock, nothing is timed.
"""

from collections.abc import Awaitable, Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from memflow.chat.requests import Completion

Clock = Callable[[], float]
"""Seconds since some moment, such as time.perf_counter."""

T = TypeVar("T")


@dataclass
class OperationTimer:
    """The accumulated duration of one write or read in seconds, and its number of completions."""

    clock: Clock
    models: float = 0.0
    own: float = 0.0
    calls: int = 0
    running: bool = False
    measured: bool = True


_WATCH: ContextVar[OperationTimer | None] = ContextVar("watch", default=None)


async def timed(work: Awaitable[T], clock: Clock | None) -> tuple[T, OperationTimer | None]:
    """Run `work`. Return its result and a timer with its duration.

    The timer is None without a clock, and if `work` calls `leave_unmeasured`.
    """
    if clock is None:
        return await work, None
    watch = OperationTimer(clock)
    outer = _WATCH.set(watch)
    try:
        result = await _Stepped(work, watch, _own)
        return result, watch if watch.measured else None
    finally:
        _WATCH.reset(outer)


async def count_completion(work: Awaitable[Completion]) -> Completion:
    """Return the completion of `work`, and add its recorded seconds to the timer of the current write or read.

    The time of the request does not count as time of the memory's code.
    """
    watch = _WATCH.get()
    if watch is None:
        return await work
    completion = await _Stepped(work, watch, _not_own)
    watch.models += completion.latency_s
    watch.calls += 1
    return completion


async def count_waiting(work: Awaitable[T]) -> T:
    """Return the result of `work`, and count its time as time of the memory's code, with the waiting.

    A memory waits so for a program of its own, such as a memory server.
    """
    watch = _WATCH.get()
    if watch is None:
        return await work
    began = watch.clock()
    try:
        return await _Stepped(work, watch, _not_own)
    finally:
        watch.own += watch.clock() - began


def leave_unmeasured() -> None:
    """Discard the timer of the current write or read, which only looks up what an earlier operation did."""
    watch = _WATCH.get()
    if watch is not None:
        watch.measured = False


def add_model_seconds(seconds: float) -> None:
    """Add the seconds of another model's request, such as an embedding, to the timer of the current write or read."""
    watch = _WATCH.get()
    if watch is not None:
        watch.models += seconds


@dataclass
class _Stepped(Generic[T]):
    """An awaitable that runs the coroutine `work`, and times its code but not the waiting in between."""

    work: Awaitable[T]
    watch: OperationTimer
    stepped: Callable[[OperationTimer, Callable[[], Any]], Any]

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self.work.__await__()
        step: Callable[[], Any] = partial(next, steps)
        while True:
            try:
                waited = self.stepped(self.watch, step)
            except StopIteration as end:
                value: T = end.value
                return value
            try:
                yield waited
                step = partial(next, steps)
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as thrown:  # noqa: BLE001  (whatever it is, it is for `work`)
                step = partial(steps.throw, thrown)


def _own(watch: OperationTimer, step: Callable[[], Any]) -> Any:
    began, watch.running = watch.clock(), True
    try:
        return step()
    finally:
        watch.own += watch.clock() - began
        watch.running = False


def _not_own(watch: OperationTimer, step: Callable[[], Any]) -> Any:
    """Run a part of a model request without counting its time as time of the memory's code. Return its result."""
    if not watch.running:
        return step()
    began = watch.clock()
    try:
        return step()
    finally:
        watch.own -= watch.clock() - began
