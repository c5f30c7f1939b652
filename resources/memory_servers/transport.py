"""What a transport of memory servers is: one request and its answer, and the time limits of requests in flight.

stdio_transport.py, http_transport.py and mcp_transport.py implement it. connection.py restarts servers and checks the
content of answers.
"""

import asyncio
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from memflow.errors import BadSettings, ServerFailed
from memflow.memories.server.protocol import LONGEST_LINE

CONNECT_S = 10.0
"""Maximum of seconds until a connection to an address opens."""


class ServerStopped(Exception):
    """The exception for a server that ended, hung or cannot be reached: it has to be started again."""


class InvalidAnswer(Exception):
    """The exception for an answer that breaks the protocol. The server still runs."""


class Transport(ABC):
    """The exchange of messages with one server. It belongs to one event loop.

    `setting` names the line of the settings to fix if the server cannot be started or reached. `outlives_run` is
    whether the server goes on to exist after `stop`.
    """

    setting: str
    outlives_run: bool

    def __init__(self) -> None:
        self._number = 0
        self._limits: dict[asyncio.Timeout, float] = {}
        """The time limits of the requests in flight."""
        self._answered = 0.0
        """When the first of them was sent, or the last answer came."""

    @abstractmethod
    async def start(self) -> None:
        """Start the server, or open connections to it. Raises BadSettings or ServerStopped."""

    @abstractmethod
    async def exchange(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a message with its number `n`, and return its answer.

        Raises ServerStopped, InvalidAnswer or ServerFailed.
        """

    @abstractmethod
    async def stop(self) -> None:
        """End the server, or close the connections. Requests in flight raise ServerStopped."""

    async def kill(self) -> str:
        """End the server at once, as a crash would. Return the end of its log, for an error message."""
        await self.stop()
        return ""

    async def request(self, message: Mapping[str, Any], limit: float) -> Mapping[str, Any]:
        """Send a message, and return the answer, an object. Raises ServerStopped, InvalidAnswer or ServerFailed.

        A server may process requests one after another. The time therefore begins again at each answer to another
        request, and is as long as the limits of all requests in flight, so that a read behind a long write does not
        fail.
        """
        self._number += 1
        clock = asyncio.get_running_loop().time
        if not self._limits:
            self._answered = clock()
        try:
            async with asyncio.timeout(None) as timeout:
                self._limits[timeout] = limit
                self._extend()
                try:
                    return await self.exchange({**message, "n": self._number})
                finally:
                    del self._limits[timeout]
                    self._answered = clock()
                    self._extend()
        except TimeoutError as error:
            log = await self.kill()
            raise ServerStopped(
                f"did not answer {message['op']} within its time limit of {limit:g} s{log}"
            ) from error

    def _extend(self) -> None:
        for timeout in self._limits:
            if not timeout.expired():
                timeout.reschedule(self._answered + max(self._limits.values()))


def key_headers(variable: str, setting: str) -> dict[str, str]:
    """Return the header with the key in a variable; empty if `variable` is. Raises BadSettings if it is not set."""
    if not variable:
        return {}
    if not os.environ.get(variable):
        raise BadSettings(
            f"the environment variable {variable} is not set. Set it, or remove `key_variable` beside {setting}."
        )
    return {"Authorization": f"Bearer {os.environ[variable]}"}


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as JSON in ASCII, without line breaks. Raises ServerFailed above the maximum size."""
    content = json.dumps(message, ensure_ascii=True, allow_nan=False).encode("ascii")
    if len(content) >= LONGEST_LINE:
        raise ServerFailed(
            f"a request has {len(content):,} bytes, but at most {LONGEST_LINE:,} are allowed. Write "
            "fewer messages at once"
        )
    return content


def decode(content: bytes) -> Mapping[str, Any]:
    """Return an answer, a JSON object. Raises InvalidAnswer with its first characters."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidAnswer(f"wrote text that is not JSON: {shown(content)}. Write logs to stderr") from error
    if not isinstance(value, dict):
        raise InvalidAnswer(f"wrote JSON that is not an object: {shown(content)}")
    return value


def shown(content: bytes) -> str:
    """Return the first 200 bytes of an answer, in one line."""
    return repr(content[:200].decode("utf-8", "replace"))
