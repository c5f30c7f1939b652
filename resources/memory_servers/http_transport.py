"""The transport of memory servers over HTTP: one POST per request to one address, with the objects of the protocol."""

import os
from collections.abc import Mapping
from typing import Any

from memflow.errors import BadSettings, ServerFailed
from memflow.memories.server.protocol import LONGEST_LINE
from resources.endpoints.addresses import display_address
from resources.memory_servers.http_client import ExchangeFailed, HttpClient, HttpRequest
from resources.memory_servers.transport import (
    InvalidAnswer,
    RequestsInFlight,
    ServerStopped,
    decode,
    encode,
    shown,
)

CONCURRENCY = 64
NO_LIMIT_S = 86_400.0
"""RequestsInFlight limits the time of a request; this is the limit of the client below it."""
REQUEST = HttpRequest("POST", "")


class HttpTransport:
    """A server at an address. memflow does not start it: a restart is a new client, after which spaces are reset."""

    outlives_run = True

    def __init__(self, url: str, key_variable: str = "", setting: str = "`url`") -> None:
        self.url = url
        self.key_variable = key_variable
        self.setting = setting
        self._client: HttpClient | None = None
        self._limits = RequestsInFlight()
        self._number = 0

    async def start(self) -> None:
        """Open a client. Raises BadSettings if the variable of the key is not set."""
        await self.stop()
        headers = {"Accept": "application/json"}
        if self.key_variable:
            key = os.environ.get(self.key_variable)
            if not key:
                raise BadSettings(
                    f"the environment variable {self.key_variable} is not set. Set it, or remove `key_variable` beside "
                    f"{self.setting}."
                )
            headers["Authorization"] = f"Bearer {key}"
        self._client = HttpClient(
            self.url,
            concurrency=CONCURRENCY,
            timeout=NO_LIMIT_S,
            response_bytes=LONGEST_LINE,
            headers=headers,
            query={},
        )

    async def request(self, message: Mapping[str, Any], limit: float) -> Mapping[str, Any]:
        """Send a message, and return the answer with the same number."""
        self._number += 1
        number = self._number
        client = self._client
        if client is None:
            raise ServerStopped("has no open connection")
        request = HttpRequest("POST", "", encode({**message, "n": number}))
        try:
            response = await self._limits.within(limit, client.exchange(request, {}))
        except TimeoutError as error:
            raise ServerStopped(
                f"did not answer {message['op']} within its time limit of {limit:g} s"
            ) from error
        except ExchangeFailed as error:
            where = display_address(self.url)
            raise ServerStopped(f"cannot be reached at {where} ({error})") from error
        if not response.complete:
            raise InvalidAnswer(
                f"sent a response longer than {LONGEST_LINE:,} bytes: {shown(response.content)}"
            )
        if response.status in (502, 503, 504):
            raise ServerStopped(f"returned HTTP status {response.status}: {shown(response.content)}")
        if response.status != 200:
            answer = _object(response.content)
            if isinstance(answer.get("error"), dict):
                return answer
            raise ServerFailed(f"returned HTTP status {response.status}: {shown(response.content)}")
        answer = decode(response.content)
        if answer.get("n", number) != number:
            raise InvalidAnswer(
                f"answered n = {answer['n']!r} instead of {number}: {shown(response.content)}"
            )
        return answer

    async def kill(self) -> None:
        """Close the connections: the server is not ours to end."""
        await self.stop()

    async def stop(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _object(content: bytes) -> Mapping[str, Any]:
    try:
        return decode(content)
    except InvalidAnswer:
        return {}
