"""Requests to OpenAI-compatible servers of one model: keys, pauses, retries with back-off, and error messages.

chat.py and embedder.py build the requests and parse the responses, http_client.py sends them, limits.py bounds
concurrency and spending, replica_set.py chooses one of several servers. A request ends with a value or a ChatError,
whatever the servers send.
"""

import asyncio
import json
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from memflow.chat.conversation import conversation_key
from memflow.errors import ChatError, EndpointDown, NoAnswer, QuotaExhausted
from resources.endpoints.addresses import display_address
from resources.endpoints.api_keys import ApiKey, KeyRing
from resources.endpoints.error_responses import ErrorResponse, error_in_body, error_response
from resources.endpoints.gates import OPEN_GATE, Gate
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
from resources.endpoints.replica_set import ReplicaSet
from resources.endpoints.replicas import Replica
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

SESSION_HEADER = "X-Session-ID"
"""The header with the key of a conversation, by which routers such as vllm-router choose a server."""

T = TypeVar("T")


class Answer(NamedTuple, Generic[T]):
    """The value in a response, the seconds of the successful attempt, and who answered.

    With several addresses, `address` has answered, and `failed_at` has the addresses of the attempts before, in order.
    """

    value: T
    latency_s: float
    address: str = ""
    failed_at: tuple[str, ...] = ()


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
    """Maximum number of concurrent requests per address; users of one address in an event loop share the smallest."""
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
    other_urls: Sequence[str] = ()
    """The base addresses of further servers of the same model."""
    model: str = ""
    """The model that each of several servers must list; empty: servers are not checked."""
    setting: str = "the url"
    """The setting that holds the address, for error messages."""
    gate: Gate = field(default=OPEN_GATE, repr=False)
    """Limits that hold over several processes."""
    known_outage: Callable[[], Outage | None] = field(default=lambda: None, repr=False)
    """Returns the outage of a server that memflow started, if there is one."""
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        self.address = display_address(self.url)
        """The first address in messages."""
        self._replicas: ReplicaSet | None = None
        self._down = False

    async def __aenter__(self) -> "Endpoint":
        replicas = [self._replica(url) for url in (self.url, *self.other_urls)]
        self._replicas = ReplicaSet(replicas, self.model, self.setting)
        self._redact = replicas[0].keys.redact
        return self

    async def __aexit__(self, *_: object) -> None:
        replicas, self._replicas = self._replicas, None
        if replicas is not None:
            await replicas.close()

    def _replica(self, url: str) -> Replica:
        limiter = limiter_of(url, self.concurrency)
        keys = KeyRing(
            self.key_variables, self.profile.auth, paused_until=limiter.paused_until, clock=self.clock
        )
        client = HttpClient(
            url,
            concurrency=self.concurrency,
            timeout=self.timeout,
            response_bytes=self.response_bytes,
            headers=self.profile.headers,
            query=self.profile.query,
        )
        return Replica(url, client, limiter, keys, self.clock)

    def redact(self, text: str) -> str:
        """Return a text without the API keys, which a server may repeat."""
        return self._redact(text)

    async def post(
        self, path: str, body: Mapping[str, Any], read: Callable[[bytes], T], key: str = ""
    ) -> Answer[T]:
        """Return the value that `read` parses from the response, and the seconds of the successful attempt.

        `read` raises BrokenReply or ErrorReply. `key` is the header Idempotency-Key, the same for every attempt. Raises
        PromptTooLong and RequestRefused if the server rejects the request, NoAnswer if it blocks the prompt or all its
        responses are broken, QuotaExhausted if no key has quota left, EndpointDown if no address answers, and ChatError
        if only this request keeps failing.
        """
        headers = {"Idempotency-Key": key} if key and self.profile.idempotency else {}
        conversation = conversation_key()
        if conversation and self.profile.session:
            headers[SESSION_HEADER] = conversation
        content = _JSON.encode(body).encode()
        request = HttpRequest("POST", path, content, headers, str(body.get("model", "")))
        failed_at: list[str] = []
        try:
            return await self._complete(request, read, conversation, failed_at)
        except ChatError as error:
            error.failed_at = tuple(failed_at) if self.other_urls else ()
            raise

    async def get(self, path: str, read: Callable[[bytes], T]) -> T:
        """Return the value that `read` parses from a document at an address. Raises the errors of `post`."""
        return (await self._complete(HttpRequest("GET", path), read, "", [])).value

    async def _complete(
        self, request: HttpRequest, read: Callable[[bytes], T], conversation: str, failed_at: list[str]
    ) -> Answer[T]:
        replicas = self._replicas
        assert replicas is not None, f"enter the endpoint {self.address} first (async with)"
        await replicas.check()
        retries = Retries(self.tries, self.first_wait, self.chance)
        tried: set[str] = set()
        while True:
            replica = replicas.choose(conversation, tried)
            async with replica.limiter:
                if replica not in replicas.replicas or (not replica.is_up and replicas.has_left(tried)):
                    continue  # it has no quota or stopped responding since the request began to wait
                api_key = await self._free_key(replica, retries)
                try:
                    async with self.gate.turn(len(request.content or b"")) as turn:
                        value, seconds = await self._try(replica, request, api_key, read)
                        turn.settle(value)
                except RetryableError as failure:
                    last = failure
                    failed_at.append(replica.address)
                    if failure.overloaded:
                        replica.limiter.on_overload()
                except ChatError:
                    failed_at.append(replica.address)
                    raise
                else:
                    replica.limiter.on_success()
                    self._down = False
                    answered = (replica.address, tuple(failed_at)) if replicas.has_several else ()
                    return Answer(value, seconds, *answered)
            tried.add(replica.url)
            if last.lost_connection and replicas.has_left(tried):
                continue  # another server may answer at once
            if replicas.are_all_in(tried):
                tried.clear()
            outage = self.known_outage() if last.unreachable else None
            if outage is not None and outage.ends:
                await self.sleep(self.chance.uniform(0, 2 * RESTART_S))
                continue
            if outage is not None:
                raise EndpointDown(outage.reason) from last.__cause__
            wait = retries.next_wait(last, self.clock(), self._patience(last))
            paused = retries.paused + last.pause
            if paused > self.longest_pause and not self._set_aside(replica, api_key, str(last)):
                raise QuotaExhausted(
                    f"{replica.address} asks to wait for {paused:.0f} s, longer than `longest_pause` ({last}). Rerun "
                    "later, or raise `longest_pause` of the model in memflow.toml."
                )
            self._pause(replica, api_key, last.pause, str(last))
            if wait is None or (last.unreachable and self._down):
                raise await self._final_error(replicas, last, retries) from last.__cause__
            await self.sleep(wait)

    async def _try(
        self, replica: Replica, request: HttpRequest, api_key: ApiKey, read: Callable[[bytes], T]
    ) -> tuple[T, float]:
        started = time.perf_counter()
        response = await self._exchange(replica, request, api_key)
        if response.status >= 300:
            error = error_response(response.status, response.content, self.redact)
            raise self._exception(replica, error, response.headers, api_key, request)
        if not response.complete:
            too_long = (
                f"{replica.address} sent more than {self.response_bytes} bytes, the limit `response_bytes`."
            )
            raise NoAnswer(too_long, "broken")
        self._pause(replica, api_key, seconds_until_reset(response.headers), "its rate limit is used up")
        try:
            return read(response.content), time.perf_counter() - started
        except ErrorReply as reply:
            error = error_in_body(reply.error, self.redact)
            raise self._exception(replica, error, response.headers, api_key, request) from None
        except BrokenReply as reply:
            raise RetryableError(self.redact(str(reply)), broken=True) from reply

    async def _exchange(self, replica: Replica, request: HttpRequest, api_key: ApiKey) -> HttpResponse:
        began = self.clock()
        try:
            response = await replica.client.exchange(request, replica.keys.headers(api_key))
        except ExchangeFailed as failed:
            reason = self.redact(str(failed).replace(replica.url, replica.address))
            if self.other_urls and self.answers.get(replica.url, -math.inf) <= began:
                replica.mark_down(
                    reason, connected=failed.connected
                )  # it has answered no other request in the meantime
            raise RetryableError(
                reason, unreachable=True, connected=failed.connected, overloaded=failed.timed_out
            ) from failed
        self.answers[replica.url] = self.clock()
        replica.mark_up(began)
        return response

    def _exception(
        self,
        replica: Replica,
        error: ErrorResponse,
        headers: Mapping[str, str],
        api_key: ApiKey,
        request: HttpRequest,
    ) -> Exception:
        consequence = error.consequence(self.profile, should_retry(headers))
        exception = error.exception(
            consequence, headers, replica.address, self.redact(request.model), api_key.variable
        )
        can_continue = consequence == "key" and replica.keys.set_aside(api_key, str(exception))
        if can_continue or (consequence == "quota" and self._set_aside(replica, api_key, str(exception))):
            return RetryableError(str(exception), immediate=True)
        return exception

    def _set_aside(self, replica: Replica, api_key: ApiKey, reason: str) -> bool:
        """Stop using a key without quota, or else the server of the last key. Return whether another key is left."""
        assert self._replicas is not None
        return replica.keys.set_aside(api_key, reason) or self._replicas.set_aside(replica, reason)

    async def _free_key(self, replica: Replica, retries: Retries) -> ApiKey:
        """Return the next key, after a wait if all keys are paused at this address."""
        keys = replica.keys
        while (seconds := keys.pause_of(api_key := keys.choose())) > 0:
            seconds += self.chance.uniform(0, self.first_wait)  # not all requests at once
            retries.paused += seconds
            await self.sleep(seconds)
        return api_key

    def _pause(self, replica: Replica, api_key: ApiKey, seconds: float, reason: str) -> None:
        """Pause all requests with this key at this address, unless the pause exceeds `longest_pause`."""
        if 0 < seconds <= self.longest_pause:
            replica.keys.pause(api_key, seconds)
            level = logging.WARNING if seconds > LOGGED_PAUSE else logging.DEBUG
            logging.getLogger("memflow").log(
                level, "%s: pause of %.1f s (%s)", replica.address, seconds, reason
            )

    def _patience(self, last: RetryableError) -> float:
        """Return the seconds during which a request is retried: few if no address has ever responded."""
        if last.unreachable and not any(url in self.answers for url in (self.url, *self.other_urls)):
            return min(self.patience, FIRST_CONTACT)
        return self.patience

    async def _final_error(self, replicas: ReplicaSet, last: RetryableError, retries: Retries) -> ChatError:
        history = f"{retries.attempts} attempts in {self.clock() - retries.since:.0f} s; last error: {last}"
        if last.unreachable and not await self._any_answers_others(replicas, last, retries.since):
            self._down = True
            for each in replicas.replicas:
                self.answers.pop(each.url, None)
            server = "a server" if replicas.has_several else "the server"
            return EndpointDown(
                f"Cannot connect to {replicas.addresses} ({history}). Start {server} or fix {self.setting}, then rerun."
            )
        if last.broken:
            return NoAnswer(f"{replicas.addresses} kept sending broken responses ({history}).", "broken")
        return ChatError(
            f"{replicas.addresses} kept failing ({history}). Rerun when the server works, or lower `concurrency` of "
            "the model in memflow.toml."
        )

    async def _any_answers_others(self, replicas: ReplicaSet, last: RetryableError, since: float) -> bool:
        """Return whether an address answers other requests, so that only this request fails."""
        found = (self._answers_others(each, last, since) for each in replicas.replicas)
        return any(await asyncio.gather(*found))

    async def _answers_others(self, replica: Replica, last: RetryableError, since: float) -> bool:
        if self.answers.get(replica.url, since) > since:
            return True
        if not last.connected:
            return False
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await self._exchange(replica, HttpRequest("GET", "/models"), replica.keys.choose())
        except (RetryableError, TimeoutError):
            return False
        return True
