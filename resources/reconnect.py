"""Lost connections to PostgreSQL: how to recognize them, and repetition with growing pauses until the server is back.

A restart of the server ends every connection. Statements that may be repeated are repeated; callers decide which.
"""

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError

RECONNECT_S = 90.0
"""Maximum number of seconds to wait for a server that is being restarted."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 3.0
_STATES = ("08", "57P01", "57P02", "57P03")
"""SQLSTATE of lost connections, and of a server that stops or starts."""
_WORDS = (
    "connection to server",
    "server closed the connection",
    "terminating connection",
    "the database system is",
    "could not receive data",
    "could not connect",
    "connection already closed",
    "SSL connection has been closed",
    "too many retries for DB connection",
)

T = TypeVar("T")


def is_lost(error: BaseException) -> bool:
    """Return whether an exception reports a lost connection, or a server that stops or starts."""
    if isinstance(error, DBAPIError):
        state = getattr(error.orig, "pgcode", None) or ""
        if error.connection_invalidated or isinstance(error, InterfaceError) or state.startswith(_STATES):
            return True
        error = error.orig if isinstance(error.orig, BaseException) else error
    return any(words in str(error) for words in _WORDS)


def pauses(limit_s: float | None = None) -> Iterator[float]:
    """Sleep before each repetition: yield the seconds waited so far, at most `limit_s` (default: RECONNECT_S)."""
    began = time.monotonic()
    pause = FIRST_PAUSE_S
    while (waited := time.monotonic() - began) < (RECONNECT_S if limit_s is None else limit_s):
        time.sleep(pause * random.uniform(0.5, 1.0))
        yield waited
        pause = min(2 * pause, LONGEST_PAUSE_S)


def repeat_if_lost(call: Callable[[], T]) -> T:
    """Return the result of `call`, which is repeated after a lost connection and may run more than once."""
    return _repeat(call, is_lost)


def while_starting(call: Callable[[], T]) -> T:
    """Return the result of `call`, which is repeated while the server starts or stops, but not if there is none."""
    return _repeat(call, lambda error: "the database system is" in str(error))


def _repeat(call: Callable[[], T], repeats: Callable[[Exception], bool]) -> T:
    waiting = pauses()
    while True:
        try:
            return call()
        except Exception as error:
            if not repeats(error) or next(waiting, None) is None:
                raise
