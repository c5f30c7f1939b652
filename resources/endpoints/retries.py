"""When to repeat a failed request: exponential back-off with full jitter, pauses that the server asks for, and limits.

Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. endpoint.py sends the attempts.
"""

import random
from dataclasses import dataclass, field

LONGEST_WAIT = 20.0
"""Maximum of the back-off in seconds."""


class RetryableError(Exception):
    """The exception for a failed attempt whose request may succeed when repeated.

    `pause`: the seconds that the server asks to wait before the next request; `unreachable`: there was no response;
    `connected`: a connection was opened; `broken`: the response is no completion; `immediate`: another key may succeed
    at once.
    """

    def __init__(
        self,
        message: str,
        *,
        pause: float = 0.0,
        unreachable: bool = False,
        connected: bool = True,
        overloaded: bool = False,
        broken: bool = False,
        immediate: bool = False,
    ) -> None:
        super().__init__(message)
        self.pause, self.unreachable, self.connected = pause, unreachable, connected
        self.overloaded, self.broken, self.immediate = overloaded, broken, immediate

    @property
    def lost_connection(self) -> bool:
        """Whether no connection was opened, or it ended before the response; not a timeout of the response."""
        return self.unreachable and not (self.connected and self.overloaded)


@dataclass
class Retries:
    """The failed attempts of one request. Times are seconds on the clock of the caller."""

    tries: int
    """Maximum number of attempts."""
    wait: float
    """Maximum back-off after the first failure; it doubles, and each is drawn uniformly from 0 to it."""
    chance: random.Random = field(repr=False)
    attempts: int = 0
    since: float = 0.0
    """The time of the first failure."""
    paused: float = 0.0
    """The seconds of pauses since then, for which the server has asked."""

    def next_wait(self, failure: RetryableError, now: float, patience: float) -> float | None:
        """Return the seconds until the next attempt; None after `patience` seconds without pauses, or `tries`."""
        self.attempts += 1
        if self.attempts == 1:
            self.since, self.paused = now, 0.0
        if self.attempts >= self.tries:
            return None
        if failure.immediate:
            return 0.0
        wait = self.chance.uniform(0, self.wait)
        self.wait = min(2 * self.wait, LONGEST_WAIT)
        return wait if now + wait - self.since - self.paused <= patience else None
