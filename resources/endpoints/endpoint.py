"""Requests to the OpenAI-compatible server of a model, sent by the OpenAI SDK: pauses, retries and error messages.

chat.py and embedder.py build the requests and parse the responses, transport.py opens the SDK's client, limits.py
bounds concurrency. The SDK sends one attempt; how long a request is repeated depends on the other requests to the
address. A request ends with a value or a ChatError, whatever the server sends.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from memflow.chat.conversation import conversation_key
from memflow.errors import ChatError, EndpointDown, NoAnswer, QuotaExhausted
from memflow.resources.endpoints.addresses import display_address
from memflow.resources.endpoints.api_keys import ApiKey
from memflow.resources.endpoints.error_responses import (
    CONNECT_TIMEOUT,
    RetryableError,
    error_in_body,
    error_response,
)
from memflow.resources.endpoints.limits import AdaptiveLimiter
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.rate_limits import seconds_until_reset
from memflow.resources.endpoints.replies import BrokenReply, ErrorReply

if TYPE_CHECKING:
    import httpx2
    import openai

FIRST_CONTACT = 5.0
"""Seconds of retries at an address that has not answered yet."""
RESPONSE_BYTES = 16 * 2**20
"""Default maximum of bytes in a response, a hundred times the length of long answers."""
LONGEST_PAUSE = 3600.0
"""Default maximum of seconds that a request waits because the server asks for it."""
SPREAD_S = 0.5
"""Seconds over which the requests are spread that wait for the same pause to end."""
LOGGED_PAUSE = 10.0
"""A longer pause is logged, in seconds."""
BACKOFF, LONGEST_BACKOFF = 0.5, 8.0
"""Seconds between the first two attempts, twice as many between the next, and the most."""
SESSION_HEADER = "X-Session-ID"
"""The header with the key of a conversation, by which routers such as vllm-router choose a server."""

T = TypeVar("T")


@dataclass
class Failures:
    """The failed attempts of a request. Times are seconds on the endpoint's clock."""

    attempts: int = 0
    since: float = 0.0
    """The time of the first failure."""
    paused: float = 0.0
    """The seconds of pauses since then, for which the server has asked."""


@dataclass
class Endpoint:
    """An asynchronous context manager that sends requests by the OpenAI SDK; it belongs to one event loop."""

    url: str
    """The base address, such as http://127.0.0.1:8000/v1."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable that holds the key."""
    profile: Profile = field(default_factory=Profile)
    """The headers, query and authentication of the endpoint."""
    concurrency: int = 64
    """Maximum number of concurrent requests."""
    patience: float = 120.0
    """Seconds from the first failure during which a request is retried, without pauses that the server asks for."""
    longest_pause: float = LONGEST_PAUSE
    """Maximum of seconds that a request waits because the server asks for it."""
    tries: int = 30
    """Maximum number of attempts."""
    timeout: float = 600.0
    """Deadline of one attempt in seconds: connection, headers and body."""
    response_bytes: int = RESPONSE_BYTES
    """Maximum number of bytes of a response after decompression; the rest of a longer one is not read."""
    setting: str = "the url"
    """The setting that holds the address, for error messages."""
    known_outage: Callable[[], str | None] = field(default=lambda: None, repr=False)
    """Returns why a server that memflow started has ended; None if it runs."""
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        self.address = display_address(self.url)
        """The address in messages."""
        self._api_key = ApiKey()
        self._client: openai.AsyncOpenAI | None = None
        self._limiter = AdaptiveLimiter(self.concurrency)
        self._paused_until = self._answered_at = float("-inf")
        self._contact_patience = FIRST_CONTACT
        """Seconds of retries without a response: few until the first response, none after the address was given up."""

    async def __aenter__(self) -> "Endpoint":
        from memflow.resources.endpoints.transport import open_client  # noqa: PLC0415  (takes 0.6 s)

        self._api_key = ApiKey.of(self.key_variable)
        self._client = open_client(
            self.url, self._api_key, self.profile, self.concurrency, self.timeout, self.response_bytes
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def send(
        self, path: str, read: Callable[[bytes], T], body: Mapping[str, Any] | None = None, key: str = ""
    ) -> tuple[T, float]:
        """Return the value that `read` parses from the response, and the seconds of the successful attempt.

        A request without a body gets a document. `read` raises BrokenReply or ErrorReply, and gets no response that
        contains the API key. `key` is the header Idempotency-Key, the same for every attempt. Raises PromptTooLong and
        RequestRefused if the server rejects the request, NoAnswer if it blocks the prompt or all its responses are
        broken, QuotaExhausted if the key has no quota left, EndpointDown if the address does not answer, and ChatError
        if only this request keeps failing.
        """
        headers = {"Idempotency-Key": key, SESSION_HEADER: conversation_key()}
        sent = {name: value for name, value in headers.items() if value}
        failures = Failures()
        while True:
            async with self._limiter:
                await self._wait(failures)
                started = time.perf_counter()
                try:
                    response = await self._attempt(path, body, sent)
                    value = self._value_in(response, read, str((body or {}).get("model", "")))
                except (RetryableError, ChatError) as error:
                    error.args = (self._api_key.redact(str(error).replace(self.url, self.address)),)
                    if not isinstance(error, RetryableError):
                        raise
                    failure = error
                    if failure.overloaded:
                        self._limiter.on_overload()
                else:
                    self._limiter.on_success()
                    return value, time.perf_counter() - started
            if not self._repeats(failures, failure):
                raise await self._final_error(failures, failure) from failure
            backoff = min(BACKOFF * 2 ** (failures.attempts - 1), LONGEST_BACKOFF)
            await self.sleep(backoff * random.uniform(0.75, 1))

    async def _attempt(
        self, path: str, body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> "httpx2.Response":
        """Return the response to one attempt. Raises RetryableError without one, and NoAnswer if it is too long.

        The SDK's generic methods send it: `chat.completions.create` would check every message, at 3 ms a request.
        """
        import httpx2  # noqa: PLC0415
        import openai

        assert self._client is not None, f"enter the endpoint {self.address} first (async with)"
        send: Any = self._client.get if body is None else partial(self._client.post, body=body)
        try:
            response: httpx2.Response = await send(
                path, cast_to=httpx2.Response, options={"headers": headers or {}}
            )
        except openai.APIStatusError as error:
            response = error.response
        self._answered_at, self._contact_patience = self.clock(), self.patience
        return response

    async def _wait(self, failures: Failures) -> None:
        """Wait until a pause for which the server has asked is over."""
        while (pause := self._paused_until - self.clock()) > 0:
            seconds = pause + random.uniform(0, SPREAD_S)
            failures.paused += seconds
            await self.sleep(seconds)

    def _value_in(self, response: "httpx2.Response", read: Callable[[bytes], T], model: str) -> T:
        """Return what a response contains. Raises RetryableError or a ChatError if it contains no value."""
        headers, content = response.headers, self._api_key.redact_content(response.content)
        if response.status_code >= 300:
            error = error_response(response.status_code, content)
            raise error.failure(headers, self.address, model, self._api_key.variable)
        self._pause(seconds_until_reset(headers), "its rate limit is used up")
        try:
            return read(content)
        except ErrorReply as reply:
            error = error_in_body(reply.args[0])
            raise error.failure(headers, self.address, model, self._api_key.variable) from reply
        except BrokenReply as reply:
            raise RetryableError(str(reply), broken=True) from reply

    def _repeats(self, failures: Failures, failure: RetryableError) -> bool:
        """Count a failed attempt. Return whether the request is repeated. Raises EndpointDown and QuotaExhausted."""
        if failure.unreachable and (outage := self.known_outage()) is not None:
            raise EndpointDown(outage) from failure
        now = self.clock()
        failures.attempts += 1
        if failures.attempts == 1:
            failures.since, failures.paused = now, 0.0
        if (paused := failures.paused + failure.pause) > self.longest_pause:
            raise QuotaExhausted(
                f"{self.address} asks to wait for {paused:.0f} s, longer than `longest_pause` ({failure}). Rerun "
                "later, or raise `longest_pause` of the model in memflow.toml."
            ) from failure
        self._pause(failure.pause, str(failure))
        patience = min(self.patience, self._contact_patience) if failure.unreachable else self.patience
        return failures.attempts < self.tries and now - failures.since - failures.paused < patience

    def _pause(self, seconds: float, reason: str) -> None:
        """Pause all requests to this address, unless the pause exceeds `longest_pause`."""
        if 0 < seconds <= self.longest_pause:
            self._paused_until = max(self._paused_until, self.clock() + seconds)
            level = logging.WARNING if seconds > LOGGED_PAUSE else logging.DEBUG
            logging.getLogger("memflow").log(level, "%s: pause of %.1f s (%s)", self.address, seconds, reason)

    async def _final_error(self, failures: Failures, last: RetryableError) -> ChatError:
        """Return the error of a request that is not repeated any more."""
        seconds = self.clock() - failures.since
        history = f"{failures.attempts} attempts in {seconds:.0f} s; last error: {last}"
        if last.unreachable and not await self._answers_others(failures.since, last.connected):
            self._contact_patience = 0.0
            fix = last.hint or f"Start the server or fix {self.setting}"
            return EndpointDown(f"Cannot connect to {self.address} ({history}). {fix}, then rerun.")
        if last.broken:
            return NoAnswer(f"{self.address} kept sending broken responses ({history}).", "broken")
        return ChatError(
            f"{self.address} kept failing ({history}). Rerun when the server works, or lower `concurrency` of "
            "the model in memflow.toml."
        )

    async def _answers_others(self, since: float, connected: bool) -> bool:
        """Return whether the address answers other requests, so that only this request fails."""
        if self._answered_at > since or not connected:
            return self._answered_at > since
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await self._attempt("/models")  # a response with an error status is an answer, too
        except (RetryableError, TimeoutError):
            return False
        return True
