"""Calls between two processes: results, errors, posts, and the end of one process."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import pytest

from memflow.errors import BudgetSpent
from resources.workers.channel import Channel


class Unpicklable(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


class Handler:
    def __init__(self) -> None:
        self.posted: list[int] = []
        self.arrived = threading.Event()
        self.threads = ThreadPoolExecutor(1)
        self.other: Channel

    def double(self, number: int) -> int:
        return 2 * number

    def double_later(self, number: int) -> Future[int]:
        return self.threads.submit(self.double, number)

    def double_here(self, number: int) -> Future[int]:
        return self.other.call("double", number)

    def divide_later(self) -> Future[float]:
        return self.threads.submit(self.divide)

    def spend(self) -> None:
        raise BudgetSpent("the budget is used up")

    def divide(self) -> float:
        return 1 / 0

    def fail(self) -> None:
        raise Unpicklable("this", "that")

    def post(self, number: int, last: bool) -> None:
        self.posted.append(number)
        if last:
            self.arrived.set()

    def block(self) -> Future[None]:
        return Future()


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Handler, Connection]]:
    """Return a channel, and the handler and the connection of the other end."""
    here, there = Pipe()
    handler = Handler()
    handler.other = Channel(there, handler)
    channel = Channel(here, Handler())
    for each in (channel, handler.other):
        each.open()
    yield channel, handler, there


def test_call_returns_the_result_of_the_method_at_the_other_end(ends) -> None:
    assert ends[0].call("double", 21).result(10) == 42


def test_call_returns_the_later_result_of_a_method_that_returns_a_future(ends) -> None:
    assert ends[0].call("double_later", 21).result(10) == 42
    with pytest.raises(ZeroDivisionError):
        ends[0].call("divide_later").result(10)


def test_channel_method_can_call_the_caller_before_the_method_returns(ends) -> None:
    assert ends[0].call("double_here", 4).result(10) == 8


def test_channel_call_returns_while_another_call_is_blocked(ends) -> None:
    ends[0].call("block")
    assert ends[0].call("double", 1).result(10) == 2


def test_channel_call_raises_the_error_of_the_other_process(ends) -> None:
    with pytest.raises(BudgetSpent, match="used up") as found:
        ends[0].call("spend").result(10)
    assert not hasattr(found.value, "__notes__"), "an error of memflow is a sentence"


def test_unexpected_error_of_a_channel_call_has_the_traceback_of_the_other_process(ends) -> None:
    with pytest.raises(ZeroDivisionError) as found:
        ends[0].call("divide").result(10)
    assert "1 / 0" in found.value.__notes__[0]


def test_error_that_cannot_be_pickled_becomes_its_text(ends) -> None:
    with pytest.raises(RuntimeError, match="Unpicklable: this and that"):
        ends[0].call("fail").result(10)


def test_channel_delivers_100_posts_in_order(ends) -> None:
    for number in range(100):
        ends[0].post("post", number, number == 99)
    assert ends[1].arrived.wait(10)
    assert ends[1].posted == list(range(100))


def test_waiting_and_later_calls_fail_after_the_other_end_has_ended() -> None:
    here, there = Pipe()
    ended = threading.Event()
    channel = Channel(here, Handler(), ended.set)
    waiting = channel.call("block")
    there.close()
    channel.open()
    assert ended.wait(10)
    for call in (waiting, channel.call("double", 1)):
        with pytest.raises(ConnectionError):
            call.result(10)
