"""The ledger: stores every completion, so that no request is sent twice and usage can be reported.

A completion is stored before it is used. SQLite and PostgreSQL ledgers are in resources/ledger.py. A ledger never
contains an API key or a header.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Protocol

from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling
from memflow.errors import EndpointDown


class RecordedChat:
    """A substitute for a chat model in a LedgeredChat, which then returns recorded completions only."""

    def __init__(self, fingerprint: str, sampling: Sampling, scripted: bool = False) -> None:
        self.fingerprint = fingerprint
        self.sampling = sampling
        self.scripted = scripted

    async def complete(self, request: ChatRequest) -> Completion:
        """Raise EndpointDown, since only requests that are missing from the ledger reach this chat."""
        raise EndpointDown(
            f"the ledger has no completion for a request of the prompt {request.prompt}. Rerun with a chat model."
        )


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The run, stage, role, partition and model for which a request is made."""

    run: str = ""
    stage: str = ""
    role: str = ""
    domain: str = ""
    assistant: str = ""
    model: str = ""


class Ledger(Protocol):
    """The protocol of a ledger: completions by the digest of their request, and the uses of each."""

    def get(self, digest: str) -> Completion | None:
        """Return the completion under `digest`, or None."""
        ...

    def put(self, digest: str, request: ChatRequest, completion: Completion, account: RequestContext) -> None:
        """Store a completion durably before returning. Do not replace an existing completion of the digest."""
        ...

    def used(self, digest: str, request: ChatRequest, account: RequestContext) -> None:
        """Record a cache hit. The record may be buffered and written later."""
        ...

    def failed(self, request: ChatRequest, account: RequestContext, reason: str) -> None:
        """Record a request that failed."""
        ...


class LedgeredChat:
    """A chat that sends only requests that are not in the ledger.

    Identical concurrent requests are sent once. Raises the errors of the inner chat.
    """

    def __init__(self, inner: Chat, ledger: Ledger, account: RequestContext) -> None:
        self.inner = inner
        self.ledger = ledger
        self.account = replace(account, model=account.model or inner.fingerprint)
        self.fingerprint = inner.fingerprint
        self.sampling: Sampling = inner.sampling
        self.scripted = inner.scripted
        self._asking: dict[str, asyncio.Future[None]] = {}

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the cached completion of a request, or send the request and store its completion."""
        key = request.digest(self.fingerprint)
        while True:
            kept = self.ledger.get(key)
            if kept is not None:
                self.ledger.used(key, request, self.account)
                return kept
            asking = self._asking.get(key)
            if asking is None:
                return await self._ask(key, request)
            await asyncio.wait([asking])
            if (
                not asking.cancelled()
            ):  # or else whoever asked was stopped, which is not our end: ask ourselves
                asking.result()

    async def _ask(self, key: str, request: ChatRequest) -> Completion:
        asking: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asking[key] = asking
        try:
            completion = replace(await self.inner.complete(request), digest=key)
            self.ledger.put(key, request, completion, self.account)
            asking.set_result(None)
        except Exception as error:
            asking.set_exception(error)
            asking.exception()  # those who wait see it; nobody waiting is no fault
            self.ledger.failed(request, self.account, str(error))
            raise
        finally:
            asking.cancel()  # no effect where it is done
            del self._asking[key]
        return self.ledger.get(key) or completion  # another process may have been first; its answer stays


@dataclass
class MemoryLedger:
    """A ledger in memory, for tests and dry runs."""

    kept: dict[str, Completion] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    uses: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)

    def get(self, digest: str) -> Completion | None:
        return self.kept.get(digest)

    def put(self, digest: str, request: ChatRequest, completion: Completion, account: RequestContext) -> None:
        self.asked[digest] += 1
        self.kept.setdefault(digest, completion)

    def used(self, digest: str, request: ChatRequest, account: RequestContext) -> None:
        self.uses[digest] += 1

    def failed(self, request: ChatRequest, account: RequestContext, reason: str) -> None:
        self.failures.append((request.prompt, reason))
