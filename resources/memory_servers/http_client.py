"""One HTTP exchange with a memory server: connections, deadline, size limit, and failures of the connection.

http_transport.py interprets the responses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from resources.endpoints.addresses import proxy_of

if TYPE_CHECKING:
    import aiohttp

CONNECT_TIMEOUT = 10.0
"""Maximum of seconds until a connection opens."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to a path below the base address. `model` is named in error messages."""

    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    model: str = ""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response. `complete` is False if `content` is only its beginning, because it is longer than the limit."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    complete: bool


class ExchangeFailed(Exception):
    """The exception for an exchange without a response. `connected` is False if no connection was opened."""

    def __init__(self, message: str, *, connected: bool, timed_out: bool = False) -> None:
        super().__init__(message)
        self.connected = connected
        self.timed_out = timed_out


class HttpClient:
    """The connections to one base address, which belong to one event loop. Close the client after use.

    `timeout` is the deadline of an exchange in seconds: connection, headers and body. `response_bytes` limits the
    content after decompression. Redirects are returned, not followed, so that no key reaches another host.
    """

    def __init__(
        self,
        base: str,
        *,
        concurrency: int,
        timeout: float,
        response_bytes: int,
        headers: Mapping[str, str],
        query: Mapping[str, str],
    ) -> None:
        import aiohttp  # noqa: PLC0415  (takes 0.1 s)

        self._base = base.rstrip("/")
        self._query = f"?{urlencode(query)}" if query else ""
        self._timeout = timeout
        self._response_bytes = response_bytes
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=concurrency, keepalive_timeout=30),
            timeout=aiohttp.ClientTimeout(timeout, sock_connect=CONNECT_TIMEOUT),
            headers={"Content-Type": "application/json", **headers},
            proxy=proxy_of(base),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def exchange(self, request: HttpRequest, authorization: Mapping[str, str]) -> HttpResponse:
        """Send a request with the authorization headers. Return the response. Raises ExchangeFailed."""
        from aiohttp import ClientConnectorError, ClientError, ConnectionTimeoutError  # noqa: PLC0415

        url = f"{self._base}{request.path}{self._query}"
        headers = {**request.headers, **authorization}
        try:
            async with self._session.request(
                request.method, url, data=request.content, headers=headers, allow_redirects=False
            ) as response:
                content, complete = await self._read(response)
                return HttpResponse(response.status, response.headers, content, complete)
        except TimeoutError as error:
            connected = not isinstance(error, ConnectionTimeoutError)
            seconds = self._timeout if connected else min(self._timeout, CONNECT_TIMEOUT)
            raise ExchangeFailed(
                f"timeout after {seconds:g} s", connected=connected, timed_out=True
            ) from error
        except (ClientError, OSError, ValueError) as error:  # ValueError: an invalid address
            connected = not isinstance(error, ClientConnectorError | ValueError)
            raise ExchangeFailed(str(error)[:500] or type(error).__name__, connected=connected) from error

    async def _read(self, response: "aiohttp.ClientResponse") -> tuple[bytes, bool]:
        """Return the content, at most about `response_bytes` of it, and whether it is complete."""
        stream = response.content
        chunks = [await stream.readany()]
        size = len(chunks[0])
        while size <= self._response_bytes and not stream.at_eof():
            chunks.append(await stream.readany())
            size += len(chunks[-1])
        return b"".join(chunks), size <= self._response_bytes
