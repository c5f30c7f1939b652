"""The transport of memory servers over HTTP: one POST per request to one address, with the objects of the protocol."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memflow.memories.server.protocol import LONGEST_LINE
from memflow.resources.endpoints.addresses import display_address, proxy_of
from memflow.resources.memory_servers.transport import (
    CONNECT_S,
    InvalidAnswer,
    ServerStopped,
    Transport,
    decode,
    encode,
    key_headers,
    shown,
)

if TYPE_CHECKING:
    import aiohttp

CONCURRENCY = 64


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
            connector=aiohttp.TCPConnector(limit=CONCURRENCY, keepalive_timeout=30),
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
            timed_out = isinstance(error, aiohttp.ConnectionTimeoutError)
            reason = (
                f"timeout after {CONNECT_S:g} s" if timed_out else str(error)[:500] or type(error).__name__
            )
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
