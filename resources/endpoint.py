"""An OpenAI-compatible address: one client per event loop, patience with a server that fails, errors that say
what to do.

What is asked there is chat.py and embedder.py; how much at once, and for how much, limits.py. A key comes
from the environment when the client is made; it is in no attribute of ours, in no message and in no log.
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
"""What servers without keys are given."""
REPEATABLE = frozenset({408, 409, 425, 429})
"""Status codes below 500 after which the same request may succeed."""
FIRST_CONTACT = 5.0
"""Seconds of patience with an address where nobody has answered yet, or was waited for in vain."""
LONGEST_WAIT = 20.0
"""Seconds at which the back-off no longer doubles."""


@dataclass
class Endpoint:
    """Use it as an asynchronous context manager: its connections do not outlive the event loop they were made
    in."""

    url: str
    """The base address, such as http://127.0.0.1:8000/v1."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable that holds the key."""
    concurrency: int = 64
    """Requests in flight at most; all users of this address in one event loop share the smallest."""
    patience: float = 120.0
    """Seconds, from its first failure on, that a request is tried again for at an address that has answered."""
    tries: int = 30
    """How often it is sent at most."""
    first_wait: float = 0.5
    """Seconds that the back-off after the first failure may take; each is twice the one before, drawn in
    full."""
    timeout: float = 600.0
    """Seconds one try may take."""
    chance: random.Random = field(default_factory=lambda: random.Random(0), repr=False)
    """Draws the jitter of the back-off."""
    answers: dict[str, bool] = field(default_factory=dict, repr=False)
    """Whether somebody answered at an address when it was last asked; handed in by who opens several."""
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
        """Whether it was entered and not yet left."""
        return self._client is not None

    async def post(self, path: str, body: dict[str, Any], key: str = "") -> tuple[dict[str, Any], float]:
        """The JSON that the server answers, and the seconds that the successful try took.

        `key` names the request, the same for every try (the header Idempotency-Key). Raises RequestRefused
        with the server's words when the request itself is wrong, EndpointDown when nobody is there for longer
        than the patience lasts, and ChatError when the server keeps failing that long.
        """
        assert self._limiter is not None, f"the endpoint {self.url} has to be entered first (async with)"
        first_failure, wait = None, self.first_wait
        for sent in range(1, self.tries + 1):
            async with self._limiter:
                try:
                    answer, latency = await self._try(path, body, key)
                except _RetryableError as failure:
                    last = failure
                    if failure.overrun:
                        self._limiter.on_overload()
                else:
                    self._limiter.on_success()
                    self._down, self.answers[self.url] = False, True
                    return answer, latency
            now = self.clock()
            first_failure = now if first_failure is None else first_failure
            pause = (last.retry_after or 0.0) + self.chance.uniform(0, wait)
            # Who has found the address dead has waited for all: the others try once.
            over = now + pause - first_failure > self._patience(last) or (last.nobody and self._down)
            if over or sent == self.tries:
                raise self._given_up(last, sent, now - first_failure) from last.__cause__
            await self.sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT)
        raise AssertionError("the loop above returns or raises")

    def _patience(self, last: "_RetryableError") -> float:
        """A server that is gone may come back; an address where nobody ever was is likely to be a wrong one."""
        if last.nobody and not self.answers.get(self.url):
            return min(self.patience, FIRST_CONTACT)
        return self.patience

    async def _try(self, path: str, body: dict[str, Any], key: str) -> tuple[dict[str, Any], float]:
        import httpx2  # noqa: PLC0415

        started = time.perf_counter()
        sent = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            # Past the client's own methods: what they make of request and answer costs as much as all the rest.
            response = await self._client.post(
                self.url.rstrip("/") + path, content=sent, headers={"Idempotency-Key": key} if key else None
            )
        except httpx2.TimeoutException as error:
            raise _RetryableError(
                f"no answer in time ({self.timeout:g} s)", nobody=True, overrun=True
            ) from error
        except (httpx2.RequestError, httpx2.InvalidURL, OSError) as error:
            raise _RetryableError(self._redacted(str(error) or type(error).__name__), nobody=True) from error
        if response.status_code >= 400:
            self.answers[self.url] = True
            code, said = response.status_code, self._redacted(_error_text(response.text))
            if code >= 500 or code in REPEATABLE:
                raise _RetryableError(
                    f"{code}: {said}", retry_after=_retry_after(response.headers), overrun=code == 429
                )
            raise RequestRefused(self._redacted(self._refusal(code, said, body)))
        try:
            answer = json.loads(response.content)
        except ValueError as error:
            raise _RetryableError(f"an answer that is not JSON ({error})") from error
        return answer, time.perf_counter() - started

    def _refusal(self, code: int, said: str, body: dict[str, Any]) -> str:
        if code in (401, 403):
            what = "the key in" if os.environ.get(self.key_variable) else "requests without a key; set"
            return f"{self.url} refuses {what} the variable {self.key_variable} ({code}): {said}"
        return f"{self.url} refuses the request to {body.get('model')} ({code}): {said}"

    def _given_up(self, last: "_RetryableError", sent: int, seconds: float) -> ChatError:
        if last.nobody:
            self._down, self.answers[self.url] = True, False
            return EndpointDown(
                f"nobody answers at {self.url} ({last}; tried {sent} times in {seconds:.0f} s); "
                "start the server there, or mend the model's url in memflow.toml, and run again"
            )
        return ChatError(
            f"{self.url} kept failing (tried {sent} times in {seconds:.0f} s; the last: {last}); "
            "run again when it is well, or lower the model's concurrency in memflow.toml"
        )

    def _key(self) -> str:
        return os.environ.get(self.key_variable) or NO_KEY

    def _redacted(self, text: str) -> str:
        """Servers may repeat a key that they refuse; it must not come into a reason, which is kept."""
        key = self._key()
        return text if key == NO_KEY else text.replace(key, f"<{self.key_variable}>")


class _RetryableError(Exception):
    """A try failed in a way that the next may not."""

    def __init__(
        self, what: str, *, retry_after: float | None = None, nobody: bool = False, overrun: bool = False
    ) -> None:
        super().__init__(what)
        self.retry_after = retry_after
        self.nobody = nobody
        self.overrun = overrun


def _error_text(text: str) -> str:
    """What a server says in an error, out of whatever JSON it wraps it in; at most 500 characters."""
    try:
        told = json.loads(text)
        while isinstance(told, dict):
            told = told.get("error") or told.get("message") or told.get("detail") or json.dumps(told)
    except ValueError:
        told = text
    return str(told).strip()[:500] or "(it says nothing)"


def _retry_after(headers: Any) -> float | None:
    """Seconds that the server asks to wait; None where it does not say, or says nonsense."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        said = headers.get("retry-after", "")
        if said.replace(".", "", 1).isdigit():
            return float(said)
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()) if said else None
    except (ValueError, TypeError):
        return None
