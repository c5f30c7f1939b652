"""How long writing and reading take: seconds of the models, as recorded, and seconds of a memory's own computing.

A model's seconds are those of when a request was first asked, wherever its answer comes from now. Own seconds are those
in which this process really worked on it: what it waits, for models or for others who share the event loop, is no part
of them. So both can be added up. Beside them stands how often a chat model was asked. The clock is an argument; without
one, nothing is measured.
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
    """What one write or one read took so far, in seconds, and how many completions of a chat model it had."""

    clock: Clock
    models: float = 0.0
    own: float = 0.0
    calls: int = 0
    running: bool = False


_WATCH: ContextVar[OperationTimer | None] = ContextVar("watch", default=None)


async def timed(work: Awaitable[T], clock: Clock | None) -> tuple[T, OperationTimer | None]:
    """What comes of `work`, and what it took; nothing of that without a clock."""
    if clock is None:
        return await work, None
    watch = OperationTimer(clock)
    outer = _WATCH.set(watch)
    try:
        return await _Stepped(work, watch, _own), watch
    finally:
        _WATCH.reset(outer)


async def asked(work: Awaitable[Completion]) -> Completion:
    """A completion, counted with its recorded seconds. What asking for it computes is in them already, or is no more
    than looking it up: it is not counted again."""
    watch = _WATCH.get()
    if watch is None:
        return await work
    completion = await _Stepped(work, watch, _not_own)
    watch.models += completion.latency_s
    watch.calls += 1
    return completion


def took(seconds: float) -> None:
    """Count the seconds of another model, such as an embedder, for the write or read at hand."""
    watch = _WATCH.get()
    if watch is not None:
        watch.models += seconds


@dataclass
class _Stepped(Generic[T]):
    """Awaits `work`, and hands on how long each of its steps took, without the waiting between them."""

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
    """Steps of a task of its own, which nobody counted, are not taken off either."""
    if not watch.running:
        return step()
    began = watch.clock()
    try:
        return step()
    finally:
        watch.own -= watch.clock() - began
