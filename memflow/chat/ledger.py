"""The ledger: stores every completion, so that no request is sent twice and usage can be reported.

A completion is stored before it is used. SQLite and PostgreSQL ledgers are in resources/ledger/. A ledger never
contains an API key or a header.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Protocol
from weakref import WeakKeyDictionary

from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling, TokenBound


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The context of a request: run, stage, role, domain, assistant and model."""

    run: str = ""
    stage: str = ""
    role: str = ""
    domain: str = ""
    assistant: str = ""
    model: str = ""


class RequestsInFlight:
    """The unfinished requests of all chats of one ledger, by request digest and event loop."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Future[Completion]]]
        self._of = WeakKeyDictionary()

    def of_running_loop(self) -> dict[str, asyncio.Future[Completion]]:
        """Return the futures of the running event loop's unfinished completions, by request digest."""
        return self._of.setdefault(asyncio.get_running_loop(), {})


class Ledger(Protocol):
    """The protocol of a ledger, which stores completions by the digest of their request, and each use of them."""

    in_flight: RequestsInFlight

    async def get(self, digest: str) -> Completion | None:
        """Return the completion of the request with this digest, or None."""
        ...

    def put(
        self, completion: Completion, request: ChatRequest, account: RequestContext
    ) -> asyncio.Future[Completion]:
        """Store a completion and its use. Return a future that is done once both are durable.

        The result of the future is the stored completion of this request, which may be an earlier completion.
        """
        ...

    def record_cache_hit(self, completion: Completion, request: ChatRequest, account: RequestContext) -> None:
        """Record a cache hit. The row may be written later, by a background flush."""
        ...

    def record_failure(self, request: ChatRequest, account: RequestContext, error: Exception) -> None:
        """Record a failed request. The row may be written later, by a background flush."""
        ...


class LedgeredChat:
    """A chat that sends only requests that are not in the ledger. `repeat` is the repeat number of its requests.

    Identical concurrent requests of all chats of a ledger are sent once per event loop. Raises the errors of the inner
    chat and of the ledger.
    """

    def __init__(
        self,
        inner: Chat,
        ledger: Ledger,
        account: RequestContext,
        bound: TokenBound | None = None,
        sampling: Sampling | None = None,
        repeat: int = 1,
    ) -> None:
        self.inner = inner
        self.ledger = ledger
        self.account = replace(account, model=account.model or inner.fingerprint)
        self.fingerprint = inner.fingerprint
        self.sampling: Sampling = sampling or inner.sampling
        self.bound = bound or inner.bound
        self.scripted = inner.scripted
        self.repeat = repeat

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the cached completion of a request, or send the request and store its completion."""
        request = request.of_repeat(self.repeat)
        key = request.digest(self.fingerprint)
        in_flight = self.ledger.in_flight.of_running_loop()
        while (first_completion := in_flight.get(key)) is not None:
            await asyncio.wait([first_completion])
            if not first_completion.cancelled():  # else its request was cancelled, so send it again
                try:
                    completion = first_completion.result()
                except Exception as error:  # this caller's partition lacks the answer, too
                    self.ledger.record_failure(request, self.account, error)
                    raise
                self.ledger.record_cache_hit(completion, request, self.account)
                return completion
        return await self._complete_first(key, request, in_flight)

    async def _complete_first(
        self, key: str, request: ChatRequest, in_flight: dict[str, asyncio.Future[Completion]]
    ) -> Completion:
        """Return the completion of a request that is not in flight, and record its use. `in_flight` gets its future."""
        completion_future = in_flight[key] = asyncio.get_running_loop().create_future()
        try:
            completion = await self.ledger.get(key)
            if completion is not None:
                self.ledger.record_cache_hit(completion, request, self.account)
            else:
                answer = await self.inner.complete(request)
                if answer.digest != key:  # most chats set it
                    answer = replace(answer, digest=key)
                stored_future = in_flight[key] = self.ledger.put(answer, request, self.account)
                completion = await asyncio.shield(
                    stored_future
                )  # it is stored also if this request is cancelled
            completion_future.set_result(completion)
            return completion
        except Exception as error:
            completion_future.set_exception(error)
            completion_future.exception()  # mark it as retrieved: perhaps no other request waits
            self.ledger.record_failure(request, self.account, error)
            raise
        finally:
            completion_future.cancel()  # no effect if it is done
            if in_flight[key].done():
                del in_flight[key]
            else:  # cancelled while the completion is stored
                in_flight[key].add_done_callback(lambda _: in_flight.pop(key))


@dataclass
class MemoryLedger:
    """A ledger in memory, for tests and dry runs."""

    kept: dict[str, Completion] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    uses: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    in_flight: RequestsInFlight = field(default_factory=RequestsInFlight)

    async def get(self, digest: str) -> Completion | None:
        return self.kept.get(digest)

    def put(
        self, completion: Completion, request: ChatRequest, account: RequestContext
    ) -> asyncio.Future[Completion]:
        self.asked[completion.digest] += 1
        stored_future: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        stored_future.set_result(self.kept.setdefault(completion.digest, completion))
        return stored_future

    def record_cache_hit(self, completion: Completion, request: ChatRequest, account: RequestContext) -> None:
        self.uses[completion.digest] += 1

    def record_failure(self, request: ChatRequest, account: RequestContext, error: Exception) -> None:
        self.failures.append((request.prompt, str(error)))
