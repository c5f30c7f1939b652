"""Requests to the OpenAI-compatible server of a model, sent by the OpenAI SDK: pauses, retries and error messages.

chat.py and embedder.py build the requests and parse the responses, transport.py sends each attempt, limits.py bounds
concurrency and spending. The SDK repeats attempts after a back-off; this module decides which, and for how long. A
request ends with a value or a ChatError, whatever the server sends.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from memflow.chat.conversation import conversation_key
from memflow.errors import ChatError, EndpointDown, NoAnswer, QuotaExhausted
from memflow.resources.endpoints.addresses import display_address
from memflow.resources.endpoints.api_keys import ApiKey
from memflow.resources.endpoints.error_responses import ErrorResponse, error_in_body, error_response
from memflow.resources.endpoints.failures import CONNECT_TIMEOUT, RetryableError
from memflow.resources.endpoints.limits import limiter_of
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.rate_limits import seconds_until_reset
from memflow.resources.endpoints.replies import BrokenReply, ErrorReply

if TYPE_CHECKING:
    import httpx2
    import openai

    from memflow.resources.endpoints.transport import Exchange

FIRST_CONTACT = 5.0
"""Seconds of retries at an address that has not answered yet, or has just been given up."""
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


class Answer(NamedTuple, Generic[T]):
    """The value in a response, and the seconds of the successful attempt."""

    value: T
    latency_s: float


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
    """The headers, query, authentication and error codes of the endpoint."""
    concurrency: int = 64
    """Maximum number of concurrent requests; users of one address in an event loop share the smallest."""
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
        self._down = False

    async def __aenter__(self) -> "Endpoint":
        from memflow.resources.endpoints.transport import (  # noqa: PLC0415  (takes 0.6 s)
            BoundedClient,
            key_headers,
            open_client,
        )

        self._api_key = ApiKey.of(self.key_variable)
        self._limiter = limiter_of(self.url, self.concurrency)
        http_client = BoundedClient(
            self.url,
            concurrency=self.concurrency,
            timeout=self.timeout,
            response_bytes=self.response_bytes,
            attempt=self._attempt,
        )
        self._client = open_client(self.url, self._api_key, self.profile, self.tries - 1, http_client)
        self._key_headers = key_headers(self._api_key, self.profile)
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def redact(self, text: str) -> str:
        """Return a text without the API key, which a server may repeat."""
        return self._api_key.redact(text)

    async def post(
        self, path: str, body: Mapping[str, Any], read: Callable[[bytes], T], key: str = ""
    ) -> Answer[T]:
        """Return the value that `read` parses from the response, and the seconds of the successful attempt.

        `read` raises BrokenReply or ErrorReply. `key` is the header Idempotency-Key, the same for every attempt. Raises
        PromptTooLong and RequestRefused if the server rejects the request, NoAnswer if it blocks the prompt or all its
        responses are broken, QuotaExhausted if the key has no quota left, EndpointDown if the address does not answer,
        and ChatError if only this request keeps failing.
        """
        headers = dict(self._key_headers)
        if key:
            headers["Idempotency-Key"] = key
        if conversation := conversation_key():
            headers[SESSION_HEADER] = conversation
        call = Call(read, str(body.get("model", "")))
        await self._send(call, "POST", path, body=body, options={"headers": headers})
        return Answer(call.value, call.seconds)

    async def get(self, path: str, read: Callable[[bytes], T]) -> T:
        """Return the value that `read` parses from a document at an address. Raises the errors of `post`."""
        call = Call(read)
        await self._send(call, "GET", path, options={"headers": self._key_headers})
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
            if isinstance(call.failure, ChatError):
                raise call.failure from error
            raise await self._final_error(call) from error
        finally:
            _CALL.reset(token)

    async def _attempt(self, request: "httpx2.Request", exchange: "Exchange") -> "httpx2.Response":
        """Send one attempt when it may be sent. Return the response, or one by which the SDK repeats the request."""
        from memflow.resources.endpoints.transport import failed_response  # noqa: PLC0415

        call = _CALL.get()
        async with self._limiter:
            await self._wait(call)
            started, status = time.perf_counter(), FAILED
            try:
                response = await exchange()
            except RetryableError as error:
                call.failure = self._unreachable(error)
            except NoAnswer as error:
                call.failure = error
            else:
                self._limiter.answered_at = self.clock()
                status = response.status_code if response.status_code >= 300 else FAILED
                call.failure = self._examine(call, response)
                if call.failure is None:
                    call.seconds = time.perf_counter() - started
                    self._down = False
                    self._limiter.on_success()
                    return response
            if isinstance(call.failure, RetryableError) and call.failure.overloaded:
                self._limiter.on_overload()
        return failed_response(request, status, self._repeats(call))

    async def _wait(self, call: Call) -> None:
        """Wait until a pause for which the server has asked is over."""
        while (pause := self._limiter.paused_until - self.clock()) > 0:
            seconds = pause + random.uniform(0, SPREAD_S)
            call.paused += seconds
            await self.sleep(seconds)

    def _examine(self, call: Call, response: "httpx2.Response") -> RetryableError | ChatError | None:
        """Set the value of a request to what the response contains; else return why it contains none."""
        if response.status_code >= 300:
            error = error_response(response.status_code, response.content, self.redact)
            return self._failure_of(call, error, response.headers)
        self._pause(seconds_until_reset(response.headers), "its rate limit is used up")
        try:
            call.value = call.read(response.content)
        except ErrorReply as reply:
            return self._failure_of(call, error_in_body(reply.error, self.redact), response.headers)
        except BrokenReply as reply:
            return RetryableError(self.redact(str(reply)), broken=True)
        return None

    def _failure_of(
        self, call: Call, error: ErrorResponse, headers: Mapping[str, str]
    ) -> RetryableError | ChatError:
        model = self.redact(call.model)
        return error.failure(headers, self.profile, self.address, model, self._api_key.variable)

    def _unreachable(self, error: RetryableError) -> RetryableError | ChatError:
        outage = self.known_outage()
        if outage is not None:
            return EndpointDown(outage)
        error.args = (self.redact(str(error).replace(self.url, self.address)),)
        return error

    def _repeats(self, call: Call) -> bool:
        """Record a failed attempt. Return whether the SDK repeats the request, unless it has used up its `tries`."""
        failure = call.failure
        if not isinstance(failure, RetryableError):
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
        patience = self.patience
        if failure.unreachable and self._limiter.answered_at is None:
            patience = min(patience, FIRST_CONTACT)
        return now - call.since - call.paused < patience and not (failure.unreachable and self._down)

    def _pause(self, seconds: float, reason: str) -> None:
        """Pause all requests to this address, unless the pause exceeds `longest_pause`."""
        if 0 < seconds <= self.longest_pause:
            self._limiter.paused_until = max(self._limiter.paused_until, self.clock() + seconds)
            level = logging.WARNING if seconds > LOGGED_PAUSE else logging.DEBUG
            logging.getLogger("memflow").log(level, "%s: pause of %.1f s (%s)", self.address, seconds, reason)

    async def _final_error(self, call: Call) -> ChatError:
        last = call.failure
        history = f"{call.attempts} attempts in {self.clock() - call.since:.0f} s; last error: {last}"
        if (
            isinstance(last, RetryableError)
            and last.unreachable
            and not await self._answers_others(call, last)
        ):
            self._down = True
            self._limiter.answered_at = None
            fix = last.hint or f"Start the server or fix {self.setting}"
            return EndpointDown(f"Cannot connect to {self.address} ({history}). {fix}, then rerun.")
        if isinstance(last, RetryableError) and last.broken:
            return NoAnswer(f"{self.address} kept sending broken responses ({history}).", "broken")
        return ChatError(
            f"{self.address} kept failing ({history}). Rerun when the server works, or lower `concurrency` of "
            "the model in memflow.toml."
        )

    async def _answers_others(self, call: Call, last: RetryableError) -> bool:
        """Return whether the address answers other requests, so that only this request fails."""
        import httpx2  # noqa: PLC0415
        import openai

        answered_at = self._limiter.answered_at
        if answered_at is not None and answered_at > call.since:
            return True
        if not last.connected or self._client is None:
            return False
        probe = Call(bytes.strip, failure=last)
        token = _CALL.set(probe)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await self._client.get(
                    "/models",
                    cast_to=httpx2.Response,
                    options={"headers": self._key_headers, "max_retries": 0},
                )
        except (openai.OpenAIError, TimeoutError):
            pass  # a response with an error status is an answer, too
        finally:
            _CALL.reset(token)
        return not (isinstance(probe.failure, RetryableError) and probe.failure.unreachable)
