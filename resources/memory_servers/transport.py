"""What a transport of memory servers is: one request and its answer, and the time limits of requests in flight.

HttpTransport sends one POST per request to one address; process.py and mcp_transport.py have the others. connection.py
restarts servers and checks the content of answers.
"""

import asyncio
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memflow.errors import BadSettings, ServerFailed
from memflow.memories.server.protocol import LONGEST_LINE
from memflow.resources.endpoints.addresses import display_address, proxy_of

if TYPE_CHECKING:
    import aiohttp

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


class HttpTransport(Transport):
    """A server at an address. memflow does not start it: a restart is a new client, after which spaces are reset."""

    outlives_run = True

    def __init__(self, url: str, key_variable: str = "", setting: str = "`url`") -> None:
        super().__init__()
        self.url = url.rstrip("/")
        self.key_variable = key_variable
        self.setting = setting
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        """Open a client. Raises BadSettings if the variable of the key is not set."""
        import aiohttp  # noqa: PLC0415  (takes 0.1 s)

        await self.stop()
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_S),
            headers={**headers, **key_headers(self.key_variable, self.setting)},
            proxy=proxy_of(self.url),
        )

    async def exchange(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Post a message, and return the answer with the same number.

        Redirects are not followed, so that no key reaches another host.
        """
        import aiohttp  # noqa: PLC0415  (takes 0.1 s)

        if self._session is None:
            raise ServerStopped("has no open connection")
        content = encode(message)
        try:
            async with self._session.post(self.url, data=content, allow_redirects=False) as response:
                status, received = response.status, await _received(response.content)
        except (aiohttp.ClientError, OSError, ValueError) as error:  # ValueError: an invalid address
            reason = str(error)[:500] or type(error).__name__
            raise ServerStopped(f"cannot be reached at {display_address(self.url)} ({reason})") from error
        if status != 200:
            failure = ServerStopped if status in (502, 503, 504) else InvalidAnswer
            raise failure(f"returned HTTP status {status}: {shown(received)}")
        answer = decode(received)
        if answer.get("n", message["n"]) != message["n"]:
            raise InvalidAnswer(f"answered n = {answer['n']!r} instead of {message['n']}: {shown(received)}")
        return answer

    async def stop(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


async def _received(body: "aiohttp.StreamReader") -> bytes:
    """Return the body of a response. Raises InvalidAnswer if it is longer than LONGEST_LINE bytes."""
    try:
        start = await body.readexactly(LONGEST_LINE + 1)
    except asyncio.IncompleteReadError as whole:
        return whole.partial
    raise InvalidAnswer(f"sent a response longer than {LONGEST_LINE:,} bytes: {shown(start)}")
