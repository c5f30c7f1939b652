"""Requests to an OpenAI-compatible address: keys, pauses, retries with back-off, and error messages.

chat.py and embedder.py build the requests and parse the responses, http_client.py sends them, limits.py bounds
concurrency and spending. A request ends with a value or a ChatError, whatever the server sends.
"""

import asyncio
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from memflow.errors import ChatError, EndpointDown, NoAnswer, QuotaExhausted
from resources.endpoints.addresses import display_address
from resources.endpoints.api_keys import ApiKey, KeyRing
from resources.endpoints.error_responses import ErrorResponse, error_in_body, error_response
from resources.endpoints.http_client import (
    CONNECT_TIMEOUT,
    ExchangeFailed,
    HttpClient,
    HttpRequest,
    HttpResponse,
)
from resources.endpoints.limits import limiter_of
from resources.endpoints.profiles import Profile
from resources.endpoints.rate_limits import seconds_until_reset, should_retry
from resources.endpoints.replies import BrokenReply, ErrorReply
from resources.endpoints.retries import Retries, RetryableError

FIRST_CONTACT = 5.0
"""Seconds of retries at an address that has not answered yet, or has just been given up."""
RESPONSE_BYTES = 16 * 2**20
"""Default maximum of bytes in a response, a hundred times the length of long answers."""
LONGEST_PAUSE = 3600.0
"""Default maximum of seconds that a request waits because the server asks for it."""
RESTART_S = 1.0
"""Mean seconds between two attempts while a server restarts."""
LOGGED_PAUSE = 10.0
"""A longer pause is logged, in seconds."""

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

T = TypeVar("T")


@dataclass(frozen=True)
class Outage:
    """What is known of a server that does not respond: the reason, and whether it will respond again."""

    reason: str
    ends: bool = False


@dataclass
class Endpoint:
    """An asynchronous context manager that sends JSON requests; its connections belong to one event loop."""

    url: str
    """The base address, such as http://127.0.0.1:8000/v1."""
    key_variables: Sequence[str] = ("OPENAI_API_KEY",)
    """The environment variables that hold keys, which are used in turn."""
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
    first_wait: float = 0.5
    """Maximum back-off in seconds after the first failure; it doubles, and each is drawn uniformly from 0 to it."""
    timeout: float = 600.0
    """Deadline of one attempt in seconds: connection, headers and body."""
    response_bytes: int = RESPONSE_BYTES
    """Maximum number of bytes of a response after decompression; the rest of a longer one is not read."""
    chance: random.Random = field(default_factory=lambda: random.Random(0), repr=False)
    """Source of the back-off's jitter."""
    answers: dict[str, float] = field(default_factory=dict, repr=False)
    """When each reachable address last answered, on `clock`; endpoints may share it."""
    setting: str = "the url"
    """The setting that holds the address, for error messages."""
    known_outage: Callable[[], Outage | None] = field(default=lambda: None, repr=False)
    """Returns the outage of a server that memflow started, if there is one."""
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        self.address = display_address(self.url)
        """The address in messages."""
        self._client: HttpClient | None = None
        self._down = False

    async def __aenter__(self) -> "Endpoint":
        self._limiter = limiter_of(self.url, self.concurrency)
        self._keys = KeyRing(
            self.key_variables,
            self.profile.auth,
            paused_until=self._limiter.paused_until,
            clock=self.clock,
        )
        self._client = HttpClient(
            self.url,
            concurrency=self.concurrency,
            timeout=self.timeout,
            response_bytes=self.response_bytes,
            headers=self.profile.headers,
            query=self.profile.query,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def redact(self, text: str) -> str:
        """Return a text without the API keys, which a server may repeat."""
        return self._keys.redact(text)

    async def post(
        self, path: str, body: Mapping[str, Any], read: Callable[[bytes], T], key: str = ""
    ) -> tuple[T, float]:
        """Return the value that `read` parses from the response, and the seconds of the successful attempt.

        `read` raises BrokenReply or ErrorReply. `key` is the header Idempotency-Key, the same for every attempt. Raises
        PromptTooLong and RequestRefused if the server rejects the request, NoAnswer if it blocks the prompt or all its
        responses are broken, QuotaExhausted if no key has quota left, EndpointDown if the address never answers, and
        ChatError if only this request keeps failing.
        """
        headers = {"Idempotency-Key": key} if key and self.profile.idempotency else {}
        content = _JSON.encode(body).encode()
        return await self._complete(
            HttpRequest("POST", path, content, headers, str(body.get("model", ""))), read
        )

    async def get(self, path: str, read: Callable[[bytes], T]) -> T:
        """Return the value that `read` parses from a document at the address. Raises the errors of `post`."""
        return (await self._complete(HttpRequest("GET", path), read))[0]

    async def _complete(self, request: HttpRequest, read: Callable[[bytes], T]) -> tuple[T, float]:
        assert self._client is not None, f"enter the endpoint {self.address} first (async with)"
        retries = Retries(self.tries, self.first_wait, self.chance)
        while True:
            async with self._limiter:
                api_key = await self._free_key(retries)
                try:
                    value = await self._try(request, api_key, read)
                except RetryableError as failure:
                    last = failure
                    if failure.overloaded:
                        self._limiter.on_overload()
                else:
                    self._limiter.on_success()
                    self._down = False
                    return value
            outage = self.known_outage() if last.unreachable else None
            if outage is not None and outage.ends:
                await self.sleep(self.chance.uniform(0, 2 * RESTART_S))
                continue
            if outage is not None:
                raise EndpointDown(outage.reason) from last.__cause__
            wait = retries.next_wait(last, self.clock(), self._patience(last))
            paused = retries.paused + last.pause
            if paused > self.longest_pause and not self._keys.set_aside(api_key, str(last)):
                raise QuotaExhausted(
                    f"{self.address} asks to wait for {paused:.0f} s, longer than `longest_pause` ({last}). Rerun "
                    "later, or raise `longest_pause` of the model in memflow.toml."
                )
            self._pause(api_key, last.pause, str(last))
            if wait is None or (last.unreachable and self._down):
                raise await self._final_error(last, retries) from last.__cause__
            await self.sleep(wait)

    async def _try(
        self, request: HttpRequest, api_key: ApiKey, read: Callable[[bytes], T]
    ) -> tuple[T, float]:
        started = time.perf_counter()
        response = await self._exchange(request, api_key)
        if response.status >= 300:
            error = error_response(response.status, response.content, self.redact)
            raise self._exception(error, response.headers, api_key, request)
        if not response.complete:
            too_long = (
                f"{self.address} sent more than {self.response_bytes} bytes, the limit `response_bytes`."
            )
            raise NoAnswer(too_long, "broken")
        self._pause(api_key, seconds_until_reset(response.headers), "its rate limit is used up")
        try:
            return read(response.content), time.perf_counter() - started
        except ErrorReply as reply:
            error = error_in_body(reply.error, self.redact)
            raise self._exception(error, response.headers, api_key, request) from None
        except BrokenReply as reply:
            raise RetryableError(self.redact(str(reply)), broken=True) from reply

    async def _exchange(self, request: HttpRequest, api_key: ApiKey) -> HttpResponse:
        assert self._client is not None
        try:
            response = await self._client.exchange(request, self._keys.headers(api_key))
        except ExchangeFailed as failed:
            raise RetryableError(
                self.redact(str(failed).replace(self.url, self.address)),
                unreachable=True,
                connected=failed.connected,
                overloaded=failed.timed_out,
            ) from failed
        self.answers[self.url] = self.clock()
        return response

    def _exception(
        self, error: ErrorResponse, headers: Mapping[str, str], api_key: ApiKey, request: HttpRequest
    ) -> Exception:
        consequence = error.consequence(self.profile, should_retry(headers))
        exception = error.exception(
            consequence, headers, self.address, self.redact(request.model), api_key.variable
        )
        if consequence in ("quota", "key") and self._keys.set_aside(api_key, str(exception)):
            return RetryableError(str(exception), immediate=True)
        return exception

    async def _free_key(self, retries: Retries) -> ApiKey:
        """Return the next key, after a wait if all keys are paused at this address."""
        while (seconds := self._keys.pause_of(api_key := self._keys.choose())) > 0:
            seconds += self.chance.uniform(0, self.first_wait)  # not all requests at once
            retries.paused += seconds
            await self.sleep(seconds)
        return api_key

    def _pause(self, api_key: ApiKey, seconds: float, reason: str) -> None:
        """Pause all requests with this key at this address, unless the pause exceeds `longest_pause`."""
        if 0 < seconds <= self.longest_pause:
            self._keys.pause(api_key, seconds)
            level = logging.WARNING if seconds > LOGGED_PAUSE else logging.DEBUG
            logging.getLogger("memflow").log(level, "%s: pause of %.1f s (%s)", self.address, seconds, reason)

    def _patience(self, last: RetryableError) -> float:
        """Return the seconds during which a request is retried: few if the address has never responded."""
        if last.unreachable and self.url not in self.answers:
            return min(self.patience, FIRST_CONTACT)
        return self.patience

    async def _final_error(self, last: RetryableError, retries: Retries) -> ChatError:
        history = f"{retries.attempts} attempts in {self.clock() - retries.since:.0f} s; last error: {last}"
        if last.unreachable and not await self._answers_others(last, retries.since):
            self._down = True
            self.answers.pop(self.url, None)
            return EndpointDown(
                f"Cannot connect to {self.address} ({history}). Start the server or fix {self.setting}, then rerun."
            )
        if last.broken:
            return NoAnswer(f"{self.address} kept sending broken responses ({history}).", "broken")
        return ChatError(
            f"{self.address} kept failing ({history}). Rerun when the server works, or lower `concurrency` of the "
            "model in memflow.toml."
        )

    async def _answers_others(self, last: RetryableError, since: float) -> bool:
        """Return whether the address answers other requests, so that only this request fails."""
        if self.answers.get(self.url, since) > since:
            return True
        if not last.connected:
            return False
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await self._exchange(HttpRequest("GET", "/models"), self._keys.choose())
        except (RetryableError, TimeoutError):
            return False
        return True
