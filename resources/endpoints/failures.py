"""Failures of single attempts. The module imports no HTTP library, since importing one takes time."""

CONNECT_TIMEOUT = 10.0
"""Maximum of seconds until a connection opens."""


class RetryableError(Exception):
    """The exception for a failed attempt whose request may succeed when repeated.

    `pause`: the seconds that the server asks to wait before the next request; `unreachable`: there was no response;
    `connected`: a connection was opened; `overloaded`: the server has too many requests, or was too slow; `broken`: the
    response is no completion; `hint`: what to fix, where known.
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
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.pause, self.unreachable, self.connected = pause, unreachable, connected
        self.overloaded, self.broken = overloaded, broken
        self.hint = hint
