"""The gate of an endpoint: admits each attempt of a request after the limiter of the address.

The default gate admits everything. resources/shared_limits/ has the gate of a model whose limits hold over processes.
"""

from types import TracebackType
from typing import Any, Protocol


class Turn(Protocol):
    """An asynchronous context manager around one attempt of a request."""

    async def __aenter__(self) -> "Turn":
        """Wait until the attempt may be sent."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the attempt."""
        ...

    def settle(self, value: Any) -> None:
        """Count the tokens of the parsed response of the attempt."""
        ...


class Gate(Protocol):
    """What an endpoint asks before it sends a request."""

    def turn(self, size: int) -> Turn:
        """Return the turn of a request with a body of `size` bytes."""
        ...


class OpenTurn:
    """The turn of a request that need not wait."""

    async def __aenter__(self) -> "OpenTurn":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def settle(self, value: Any) -> None:
        """Count nothing."""


class OpenGate:
    """A gate without limits."""

    def turn(self, size: int) -> OpenTurn:
        """Return a turn without a wait."""
        return OPEN_TURN


OPEN_TURN = OpenTurn()
OPEN_GATE = OpenGate()
