"""HTTP requests to an OpenAI-compatible address: one client per event loop, retries with back-off, error messages.

chat.py and embedder.py build the requests; limits.py bounds concurrency and spending. The API key is read from the
environment when the client opens and appears in no message.
"""

import asyncio
import json
import os
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from memflow.errors import ChatError, EndpointDown, RequestRefused
from resources.limits import AdaptiveLimiter, limiter_of

NO_KEY = "EMPTY"
"""The key that is sent where none is set."""
REPEATABLE = frozenset({408, 409, 425, 429})
"""Status codes below 500 after which the same request may succeed."""
FIRST_CONTACT = 5.0
"""Seconds of retries at an address that has not answered yet, or has just been given up."""
LONGEST_WAIT = 20.0
"""Maximum of the back-off in seconds."""


@dataclass
class Endpoint:
    """An asynchronous context manager that posts JSON requests; its connections belong to one event loop."""

    url: str
    """The base address, such as http://127.0.0.1:8000/v1."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable that holds the key."""
    concurrency: int = 64
    """Maximum number of concurrent requests; users of one address in an event loop share the smallest."""
    patience: float = 120.0
    """Seconds from the first failure during which a request is retried."""
    tries: int = 30
    """Maximum number of attempts."""
    first_wait: float = 0.5
    """Maximum back-off in seconds after the first failure; it doubles, and each is drawn uniformly from 0 to it."""
    timeout: float = 600.0
    """Seconds after which one attempt times out."""
    chance: random.Random = field(default_factory=lambda: random.Random(0), repr=False)
    """Source of the back-off's jitter."""
    answers: dict[str, bool] = field(default_factory=dict, repr=False)
    """Whether each address was reachable at the last request; endpoints may share it."""
    setting: str = "the url"
    """The setting that holds the address, for error messages."""
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        self._client: Any = None
        self._stack = AsyncExitStack()
        self._limiter: AdaptiveLimiter | None = None
        self._down = False

    async def __aenter__(self) -> "Endpoint":
        import httpx2  # noqa: PLC0415
        from openai import DefaultAioHttpClient

        connections = httpx2.Limits(
            max_connections=self.concurrency, max_keepalive_connections=self.concurrency, keepalive_expiry=30
        )
        timeout = httpx2.Timeout(self.timeout, connect=10)
        near = urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1")
        headers = {"Authorization": f"Bearer {self._key()}", "Content-Type": "application/json"}
        client = DefaultAioHttpClient(
            limits=connections, timeout=timeout, trust_env=not near, headers=headers
        )
        self._client = await self._stack.enter_async_context(client)
        self._limiter = limiter_of(self.url, self.concurrency)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._client = None
        await self._stack.aclose()

    @property
    def is_open(self) -> bool:
        """Whether the context manager is entered."""
        return self._client is not None

    async def post(self, path: str, body: dict[str, Any], key: str = "") -> tuple[dict[str, Any], float]:
        """Return the server's JSON response and the seconds of the successful attempt.

        `key` is the header Idempotency-Key, the same for every attempt. Raises RequestRefused if the server rejects the
        request, EndpointDown if no connection succeeds in time, ChatError if the server keeps failing.
        """
        assert self._limiter is not None, f"enter the endpoint {self.url} first (async with)"
        first_failure, wait = None, self.first_wait
        for sent in range(1, self.tries + 1):
            async with self._limiter:
                try:
                    answer, latency = await self._try(path, body, key)
                except _RetryableError as failure:
                    last = failure
                    if failure.overloaded:
                        self._limiter.on_overload()
                else:
                    self._limiter.on_success()
                    self._down, self.answers[self.url] = False, True
                    return answer, latency
            now = self.clock()
            first_failure = now if first_failure is None else first_failure
            pause = (last.retry_after or 0.0) + self.chance.uniform(0, wait)
            over = now + pause - first_failure > self._patience(last) or (last.unreachable and self._down)
            if over or sent == self.tries:
                raise self._final_error(last, sent, now - first_failure) from last.__cause__
            await self.sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)
        raise AssertionError("the loop above returns or raises")

    def _patience(self, last: "_RetryableError") -> float:
        """Return the seconds to retry. An address that never responded is probably wrong and gets only few."""
        if last.unreachable and not self.answers.get(self.url):
            return min(self.patience, FIRST_CONTACT)
        return self.patience

    async def _try(self, path: str, body: dict[str, Any], key: str) -> tuple[dict[str, Any], float]:
        import httpx2  # noqa: PLC0415

        started = time.perf_counter()
        sent = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            # The client's typed methods cost as much CPU time as everything else here.
            response = await self._client.post(
                self.url.rstrip("/") + path, content=sent, headers={"Idempotency-Key": key} if key else None
            )
        except httpx2.TimeoutException as error:
            raise _RetryableError(
                f"timeout after {self.timeout:g} s", unreachable=True, overloaded=True
            ) from error
        except (httpx2.RequestError, httpx2.InvalidURL, OSError) as error:
            raise _RetryableError(
                self._redacted(str(error) or type(error).__name__), unreachable=True
            ) from error
        if response.status_code >= 400:
            self.answers[self.url] = True
            code, said = response.status_code, self._redacted(_error_text(response.text))
            if code >= 500 or code in REPEATABLE:
                raise _RetryableError(
                    f"{code}: {said}", retry_after=_retry_after(response.headers), overloaded=code == 429
                )
            raise RequestRefused(self._redacted(self._refusal(code, said, body)))
        try:
            answer = json.loads(response.content)
        except ValueError as error:
            raise _RetryableError(f"the answer is not JSON ({error})") from error
        return answer, time.perf_counter() - started

    def _refusal(self, code: int, said: str, body: dict[str, Any]) -> str:
        if code in (401, 403):
            if os.environ.get(self.key_variable):
                return f"{self.url} rejected the key in the variable {self.key_variable} ({code}): {said}. Fix the key."
            return f"{self.url} needs a key ({code}): {said}. Set the variable {self.key_variable}."
        return f"{self.url} rejected the request to {body.get('model')} ({code}): {said}"

    def _final_error(self, last: "_RetryableError", sent: int, seconds: float) -> ChatError:
        if last.unreachable:
            self._down, self.answers[self.url] = True, False
            return EndpointDown(
                f"Cannot connect to {self.url} ({last}; {sent} attempts in {seconds:.0f} s). Start the server or fix "
                f"{self.setting} in memflow.toml, then rerun."
            )
        return ChatError(
            f"{self.url} kept failing ({sent} attempts in {seconds:.0f} s; last error: {last}). Rerun when the server "
            "works, or lower `concurrency` of the model in memflow.toml."
        )

    def _key(self) -> str:
        return os.environ.get(self.key_variable) or NO_KEY

    def _redacted(self, text: str) -> str:
        """Return a server's message without the API key, since messages may repeat the key and are stored."""
        key = self._key()
        return text if key == NO_KEY else text.replace(key, f"<{self.key_variable}>")


class _RetryableError(Exception):
    """A failed attempt that may succeed if it is repeated."""

    def __init__(
        self,
        what: str,
        *,
        retry_after: float | None = None,
        unreachable: bool = False,
        overloaded: bool = False,
    ) -> None:
        super().__init__(what)
        self.retry_after, self.unreachable, self.overloaded = retry_after, unreachable, overloaded


def _error_text(text: str) -> str:
    """Return the message in an error response, at most 500 characters."""
    try:
        told = json.loads(text)
        while isinstance(told, dict):
            told = told.get("error") or told.get("message") or told.get("detail") or json.dumps(told)
    except ValueError:
        told = text
    return str(told).strip()[:500] or "(no message)"


def _retry_after(headers: Any) -> float | None:
    """Return the seconds of a Retry-After header; None if it is missing or invalid."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        said = headers.get("retry-after", "")
        if said.replace(".", "", 1).isdigit():
            return float(said)
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()) if said else None
    except (ValueError, TypeError):
        return None
