"""Requests to the OpenAI-compatible server of a model, sent by the OpenAI SDK: pauses, retries and error messages.

chat.py and embedder.py build the requests and parse the responses, transport.py sends each attempt, limits.py bounds
concurrency. The SDK repeats attempts after a back-off; this module decides which, and for how long. A request ends with
a value or a ChatError, whatever the server sends.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
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

    from memflow.resources.endpoints.transport import Exchange

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
FAILED = 502
"""The status that the SDK sees for an attempt without a response, and for one of status 200 that is no completion."""

SESSION_HEADER = "X-Session-ID"
"""The header with the key of a conversation, by which routers such as vllm-router choose a server."""

T = TypeVar("T")


@dataclass
class Call:
    """A request over all its attempts. Times are seconds on the endpoint's clock."""

    read: Callable[[bytes], Any]
    model: str = ""
    value: Any = None
    seconds: float = 0.0
    """The duration of the successful attempt."""
    attempts: int = 0
    """The number of failed attempts."""
    since: float = 0.0
    """The time of the first failure."""
    paused: float = 0.0
    """The seconds of pauses since then, for which the server has asked."""
    failure: RetryableError | ChatError | None = None
    """Why the last attempt failed."""


_CALL: ContextVar[Call] = ContextVar("_CALL")
"""The request whose attempts the SDK sends in this context."""


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
        from memflow.resources.endpoints.transport import BoundedClient, open_client  # noqa: PLC0415  (0.6 s)

        self._api_key = ApiKey.of(self.key_variable)
        http_client = BoundedClient(
            self.url, self.concurrency, self.timeout, self.response_bytes, self._attempt
        )
        self._client = open_client(self.url, self._api_key, self.profile, self.tries - 1, http_client)
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def post(
        self, path: str, body: Mapping[str, Any], read: Callable[[bytes], T], key: str = ""
    ) -> tuple[T, float]:
        """Return the value that `read` parses from the response, and the seconds of the successful attempt.

        `read` raises BrokenReply or ErrorReply, and gets no response that contains the API key. `key` is the header
        Idempotency-Key, the same for every attempt. Raises PromptTooLong and RequestRefused if the server rejects the
        request, NoAnswer if it blocks the prompt or all its responses are broken, QuotaExhausted if the key has no
        quota left, EndpointDown if the address does not answer, and ChatError if only this request keeps failing.
        """
        headers = {"Idempotency-Key": key, SESSION_HEADER: conversation_key()}
        sent = {name: value for name, value in headers.items() if value}
        call = Call(read, str(body.get("model", "")))
        await self._send(call, "POST", path, body=body, options={"headers": sent})
        return call.value, call.seconds

    async def get(self, path: str, read: Callable[[bytes], T]) -> T:
        """Return the value that `read` parses from a document at an address. Raises the errors of `post`."""
        call = Call(read)
        await self._send(call, "GET", path)
        value: T = call.value
        return value

    async def _send(self, call: Call, method: str, path: str, **arguments: Any) -> None:
        """Send a request by the SDK, which calls `_attempt` for each attempt. Raises the errors of `post`.

        The SDK's generic methods send it: `chat.completions.create` would check every message, at 3 ms a request.
        """
        import httpx2  # noqa: PLC0415
        import openai

        assert self._client is not None, f"enter the endpoint {self.address} first (async with)"
        send: Any = self._client.post if method == "POST" else self._client.get
        token = _CALL.set(call)
        try:
            await send(path, cast_to=httpx2.Response, **arguments)
        except openai.OpenAIError as error:
            raise await self._final_error(call) from error
        finally:
            _CALL.reset(token)

    async def _attempt(self, request: "httpx2.Request", exchange: "Exchange") -> "httpx2.Response":
        """Send one attempt when it may be sent. Return the response, or one by which the SDK repeats the request."""
        import httpx2  # noqa: PLC0415

        call = _CALL.get()
        status = FAILED
        async with self._limiter:
            await self._wait(call)
            started = time.perf_counter()
            try:
                response = await exchange()
                self._answered_at, self._contact_patience = self.clock(), self.patience
                status = response.status_code if response.status_code >= 300 else FAILED
                call.value = self._value_in(response, call)
            except (RetryableError, ChatError) as error:
                error.args = (self._api_key.redact(str(error).replace(self.url, self.address)),)
                call.failure = error
                if isinstance(error, RetryableError) and error.overloaded:
                    self._limiter.on_overload()
            else:
                call.failure, call.seconds = None, time.perf_counter() - started
                self._limiter.on_success()
                return response
        decision = {"x-should-retry": "true" if self._repeats(call) else "false"}
        return httpx2.Response(status, headers=decision, request=request)

    async def _wait(self, call: Call) -> None:
        """Wait until a pause for which the server has asked is over."""
        while (pause := self._paused_until - self.clock()) > 0:
            seconds = pause + random.uniform(0, SPREAD_S)
            call.paused += seconds
            await self.sleep(seconds)

    def _value_in(self, response: "httpx2.Response", call: Call) -> Any:
        """Return what a response contains. Raises RetryableError or a ChatError if it contains no value."""
        headers, content = response.headers, self._api_key.redact_content(response.content)
        if response.status_code >= 300:
            error = error_response(response.status_code, content)
            raise error.failure(headers, self.address, call.model, self._api_key.variable)
        self._pause(seconds_until_reset(headers), "its rate limit is used up")
        try:
            return call.read(content)
        except ErrorReply as reply:
            error = error_in_body(reply.error)
            raise error.failure(headers, self.address, call.model, self._api_key.variable) from reply
        except BrokenReply as reply:
            raise RetryableError(str(reply), broken=True) from reply

    def _repeats(self, call: Call) -> bool:
        """Record a failed attempt. Return whether the SDK repeats the request, unless it has used up its `tries`."""
        failure = call.failure
        if not isinstance(failure, RetryableError):
            return False
        if failure.unreachable and (outage := self.known_outage()) is not None:
            call.failure = EndpointDown(outage)
            return False
        now = self.clock()
        call.attempts += 1
        if call.attempts == 1:
            call.since, call.paused = now, 0.0
        if (paused := call.paused + failure.pause) > self.longest_pause:
            call.failure = QuotaExhausted(
                f"{self.address} asks to wait for {paused:.0f} s, longer than `longest_pause` ({failure}). Rerun "
                "later, or raise `longest_pause` of the model in memflow.toml."
            )
            return False
        self._pause(failure.pause, str(failure))
        patience = min(self.patience, self._contact_patience) if failure.unreachable else self.patience
        return now - call.since - call.paused < patience

    def _pause(self, seconds: float, reason: str) -> None:
        """Pause all requests to this address, unless the pause exceeds `longest_pause`."""
        if 0 < seconds <= self.longest_pause:
            self._paused_until = max(self._paused_until, self.clock() + seconds)
            level = logging.WARNING if seconds > LOGGED_PAUSE else logging.DEBUG
            logging.getLogger("memflow").log(level, "%s: pause of %.1f s (%s)", self.address, seconds, reason)

    async def _final_error(self, call: Call) -> ChatError:
        """Return the error of a request that the SDK gave up."""
        last = call.failure
        if isinstance(last, ChatError):
            return last
        history = f"{call.attempts} attempts in {self.clock() - call.since:.0f} s; last error: {last}"
        if last and last.unreachable and not await self._answers_others(call, last):
            self._contact_patience = 0.0
            fix = last.hint or f"Start the server or fix {self.setting}"
            return EndpointDown(f"Cannot connect to {self.address} ({history}). {fix}, then rerun.")
        if last and last.broken:
            return NoAnswer(f"{self.address} kept sending broken responses ({history}).", "broken")
        return ChatError(
            f"{self.address} kept failing ({history}). Rerun when the server works, or lower `concurrency` of "
            "the model in memflow.toml."
        )

    async def _answers_others(self, call: Call, last: RetryableError) -> bool:
        """Return whether the address answers other requests, so that only this request fails."""
        import httpx2  # noqa: PLC0415
        import openai

        if self._answered_at > call.since:
            return True
        if not last.connected or self._client is None:
            return False
        probe = Call(bytes.strip, failure=last)
        token = _CALL.set(probe)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await self._client.get("/models", cast_to=httpx2.Response, options={"max_retries": 0})
        except (openai.OpenAIError, TimeoutError):
            pass  # a response with an error status is an answer, too
        finally:
            _CALL.reset(token)
        return not (isinstance(probe.failure, RetryableError) and probe.failure.unreachable)
