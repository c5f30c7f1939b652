"""HTTP requests to an OpenAI-compatible address: one client per event loop, retries with back-off, error messages.

chat.py and embedder.py build the requests; limits.py bounds concurrency and spending. The API key is read from the
environment when the client opens and appears in no message.
"""

import asyncio
import json
import os
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from memflow.errors import ChatError, EndpointDown, RequestRefused
from resources.limits import AdaptiveLimiter, limiter_of

if TYPE_CHECKING:
    import aiohttp

NO_KEY = "EMPTY"
"""The key that is sent where none is set."""
REPEATABLE = frozenset({408, 409, 425, 429})
"""Status codes below 500 after which the same request may succeed."""
FIRST_CONTACT = 5.0
"""Seconds of retries at an address that has not answered yet, or has just been given up."""
LONGEST_WAIT = 20.0
"""Maximum of the back-off in seconds."""
CONNECT_TIMEOUT = 10.0
"""Maximum of seconds until a connection opens."""

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


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
        self._session: aiohttp.ClientSession | None = None
        self._limiter: AdaptiveLimiter | None = None
        self._down = False

    async def __aenter__(self) -> "Endpoint":
        import aiohttp  # noqa: PLC0415  (takes 0.1 s)

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self.concurrency, keepalive_timeout=30),
            timeout=aiohttp.ClientTimeout(self.timeout, sock_connect=CONNECT_TIMEOUT),
            headers={"Authorization": f"Bearer {self._key()}", "Content-Type": "application/json"},
            proxy=_proxy_of(self.url),
        )
        self._limiter = limiter_of(self.url, self.concurrency)
        return self

    async def __aexit__(self, *_: object) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    @property
    def is_open(self) -> bool:
        """Whether the endpoint's connections are open."""
        return self._session is not None

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
        """Return the seconds during which a request is retried: few if the address has never responded."""
        if last.unreachable and not self.answers.get(self.url):
            return min(self.patience, FIRST_CONTACT)
        return self.patience

    async def _try(self, path: str, body: dict[str, Any], key: str) -> tuple[dict[str, Any], float]:
        started = time.perf_counter()
        code, headers, content = await self._send(path, _JSON.encode(body).encode(), key)
        if code >= 400:
            self.answers[self.url] = True
            said = self._redacted(_error_text(content.decode(errors="replace")))
            if code >= 500 or code in REPEATABLE:
                raise _RetryableError(
                    f"{code}: {said}", retry_after=_retry_after(headers), overloaded=code == 429
                )
            details = self._redacted(content[:2000].decode(errors="replace"))
            raise RequestRefused(self._redacted(self._refusal(code, said, body)), code, details)
        try:
            answer = json.loads(content)
        except ValueError as error:
            raise _RetryableError(f"the response is not JSON ({error})") from error
        return answer, time.perf_counter() - started

    async def _send(self, path: str, body: bytes, key: str) -> tuple[int, Mapping[str, str], bytes]:
        """Send one request. Return the status, headers and content of its response."""
        from aiohttp import ClientError  # noqa: PLC0415

        assert self._session is not None, f"enter the endpoint {self.url} first (async with)"
        headers = {"Idempotency-Key": key} if key else None
        try:
            async with self._session.post(
                self.url.rstrip("/") + path, data=body, headers=headers
            ) as response:
                return response.status, response.headers, await response.read()
        except TimeoutError as error:
            raise _RetryableError(
                f"timeout after {self.timeout:g} s", unreachable=True, overloaded=True
            ) from error
        except (ClientError, OSError) as error:
            raise _RetryableError(
                self._redacted(str(error) or type(error).__name__), unreachable=True
            ) from error

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
        """Return an error message without the API key, which a server may repeat in it."""
        key = self._key()
        return text if key == NO_KEY else text.replace(key, f"<{self.key_variable}>")


def _proxy_of(url: str) -> str | None:
    """Return the proxy that the environment sets for an address; None for an address on this machine.

    A client calls this once, because aiohttp's own lookup costs two thread switches per request.
    """
    parts = urlsplit(url)
    if parts.hostname is None or parts.hostname in ("127.0.0.1", "localhost", "::1"):
        return None
    if proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


class _RetryableError(Exception):
    """The error of a failed request that may succeed when retried."""

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
