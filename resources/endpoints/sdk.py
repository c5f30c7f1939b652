"""The OpenAI SDK: the client for an address and its profile, and the responses by which it repeats a request.

endpoint.py imports this module when an endpoint is opened, since the import takes 0.6 s. Requests are sent by the SDK's
generic method: `chat.completions.create` would check every message against its types, at 3 ms a request.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2
import openai  # noqa: TID253

from memflow.resources.endpoints.api_keys import NO_KEY, ApiKey
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.transport import BoundedClient, Exchange

AZURE_KEY, VERSION = "api-key", "api-version"
"""The header of a key and the parameter of the URL by which a profile is one of Azure's dated API."""

UNSENT = {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
"""Headers that the SDK would take from the environment and send to any address."""
SdkError = openai.OpenAIError


class Sdk:
    """The SDK's client of an address, which belongs to the running event loop. Close it after use.

    `attempt` is called for every attempt, and reads the response. Raises BadSettings if the proxy of the environment is
    no address.
    """

    def __init__(
        self,
        url: str,
        api_key: ApiKey,
        profile: Profile,
        *,
        concurrency: int,
        retries: int,
        timeout: float,
        response_bytes: int,
        attempt: Callable[[httpx2.Request, Exchange], Awaitable[httpx2.Response]],
    ) -> None:
        query = dict(profile.query)
        options: dict[str, Any] = {
            "api_key": api_key.value or NO_KEY,
            "base_url": url,
            "max_retries": retries,
            "http_client": BoundedClient(
                url, concurrency=concurrency, timeout=timeout, response_bytes=response_bytes, attempt=attempt
            ),
        }
        self._headers: dict[str, Any] = {**UNSENT, **profile.headers}
        self._client: openai.AsyncOpenAI
        if profile.auth == AZURE_KEY and VERSION in query:
            version = query.pop(VERSION)
            self._client = openai.AsyncAzureOpenAI(**options, api_version=version, default_query=query)
        else:
            self._client = openai.AsyncOpenAI(**options, default_query=query)
            self._headers |= {"Authorization": openai.omit, **api_key.headers(profile.auth)}

    async def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        retries: int | None = None,
    ) -> None:
        """Send a request to a path below the base address. Raises SdkError."""
        options: Any = {"headers": {**self._headers, **(headers or {})}}
        if retries is not None:
            options["max_retries"] = retries
        if method == "GET":
            await self._client.get(path, cast_to=httpx2.Response, options=options)
        else:
            await self._client.post(path, cast_to=httpx2.Response, body=body, options=options)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def failed_response(request: httpx2.Request, status: int, repeats: bool) -> httpx2.Response:
    """Return the response to a failed attempt: the SDK repeats the request, or raises the error of its status."""
    decision = {"x-should-retry": "true" if repeats else "false"}
    return httpx2.Response(status, headers=decision, request=request)
