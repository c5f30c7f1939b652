"""The OpenAI SDK's client of an address, and the HTTP client below it: deadline, size limit, proxy and certificates.

endpoint.py repeats requests. It imports this module when an endpoint is opened, since the import takes 0.6 s. Redirects
are returned, not followed, so that no key reaches another host.
"""

import asyncio
import ssl
from typing import Any

import aiohttp
import httpx2
import openai  # noqa: TID253

from memflow.errors import BadSettings, NoAnswer
from memflow.resources.endpoints.addresses import display_address, proxy_of
from memflow.resources.endpoints.api_keys import NO_KEY, ApiKey
from memflow.resources.endpoints.error_responses import CONNECT_TIMEOUT, RetryableError
from memflow.resources.endpoints.profiles import Profile

_OF_THE_WIRE = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that do not describe the decoded content."""
VERSION = "api-version"
"""The parameter of the URL by which a profile is one of Azure's dated API, for which the SDK has a client."""
_UNOPENED = (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError)
_INVALID_ADDRESS = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError)


class BoundedClient(openai.DefaultAioHttpClient):
    """The aiohttp client of the SDK, with a deadline and a size limit.

    `timeout` is the deadline of an attempt in seconds: connection, headers and body. `response_bytes` limits the
    content after decompression.
    """

    def __init__(
        self,
        base: str,
        concurrency: int,
        timeout: float,
        response_bytes: int,
    ) -> None:
        self._address = display_address(base)
        self._proxy = proxy_of(base)
        self._deadline, self._response_bytes = timeout, response_bytes
        try:
            super().__init__(
                limits=httpx2.Limits(max_connections=concurrency),
                timeout=httpx2.Timeout(None, connect=min(timeout, CONNECT_TIMEOUT)),
                verify=ssl.create_default_context(),  # with SSL_CERT_FILE
                proxy=self._proxy,
                trust_env=False,
                follow_redirects=False,
            )
        except ValueError as error:  # not httpx2.InvalidURL: the SDK's client parses the proxy, too
            raise BadSettings(
                f"the proxy {display_address(self._proxy or '')} of the environment is no address ({error}). Fix "
                "HTTP_PROXY or HTTPS_PROXY, or name the host in NO_PROXY."
            ) from error

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Return the whole response to a request. Raises RetryableError without one, and NoAnswer if it is too long."""
        try:
            async with asyncio.timeout(self._deadline):
                return await self._read(request, {**options, "stream": True})
        except TimeoutError as error:
            message = f"timeout after {self._deadline:g} s"
            raise RetryableError(message, unreachable=True, overloaded=True) from error
        except (httpx2.HTTPError, aiohttp.ClientError, OSError, *_INVALID_ADDRESS) as error:
            raise self._failure(error) from error

    async def _read(self, request: httpx2.Request, options: Any) -> httpx2.Response:
        """Return the response with its content: of an error response, at most about `response_bytes`."""
        response = await super().send(request, **options)
        content = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > self._response_bytes:
                    break
        finally:
            await response.aclose()
        if len(content) > self._response_bytes and response.is_success:
            limit = f"{self._response_bytes} bytes, the limit `response_bytes`"
            raise NoAnswer(f"{self._address} sent more than {limit}.", "broken")
        headers = {name: value for name, value in response.headers.items() if name not in _OF_THE_WIRE}
        return httpx2.Response(response.status_code, headers=headers, content=bytes(content), request=request)

    def _failure(self, error: Exception) -> RetryableError:
        """Return what an exception of the connection means. The cause of one of httpx2 is that of aiohttp."""
        cause = error.__cause__ if isinstance(error.__cause__, aiohttp.ClientError) else error
        message, hint = str(cause)[:500] or type(cause).__name__, ""
        slow = isinstance(cause, aiohttp.ConnectionTimeoutError)
        if slow:
            message = f"timeout after {min(self._deadline, CONNECT_TIMEOUT):g} s"
        elif isinstance(cause, aiohttp.ClientConnectorCertificateError):
            hint = "Set SSL_CERT_FILE to a file with the certificate of its authority"
        elif self._proxy and isinstance(cause, _UNOPENED):
            message = f"{message}, through the proxy {display_address(self._proxy)}"
            hint = "Fix HTTP_PROXY or HTTPS_PROXY, or name the host in NO_PROXY"
        connected = not slow and not isinstance(cause, (*_UNOPENED, *_INVALID_ADDRESS))
        return RetryableError(message, unreachable=True, connected=connected, overloaded=slow, hint=hint)


def open_client(
    url: str, api_key: ApiKey, profile: Profile, concurrency: int, timeout: float, response_bytes: int
) -> openai.AsyncOpenAI:
    """Return the SDK's client of an address, which belongs to the running event loop. Close it after use."""

    def authenticate(request: httpx2.Request) -> httpx2.Request:
        """Send the key in the header of the profile instead of the SDK's."""
        request.headers.pop("Authorization", None)
        request.headers.update(api_key.headers(profile.auth))
        return request

    http_client = BoundedClient(url, concurrency, timeout, response_bytes)
    http_client.auth = authenticate
    # The SDK would take these from the environment, and send them to any address.
    unsent = dict.fromkeys(("OpenAI-Organization", "OpenAI-Project"), openai.omit)
    options: dict[str, Any] = {
        "api_key": NO_KEY,
        "base_url": url,
        "max_retries": 0,
        "http_client": http_client,
        "default_headers": {**unsent, **profile.headers},
        "default_query": {**profile.query},
    }
    if profile.auth == "api-key" and (version := options["default_query"].pop(VERSION, None)):
        return openai.AsyncAzureOpenAI(**options, api_version=version)
    return openai.AsyncOpenAI(**options)
