"""The ledger: every answered request is kept, so that none is ever asked twice, and the accounts can be drawn
up.

A completion is written before anyone may use it, so a process killed at any point repeats no request whose
answer it had. The stores behind the protocol (SQLite, PostgreSQL) are in resources/ledger.py. It never holds
a key or a header.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Protocol

from memflow.chat.requests import Chat, ChatRequest, Completion, Sampling


@dataclass(frozen=True, slots=True)
class RequestContext:
    """On whose account a request is booked."""

    run: str = ""
    stage: str = ""
    role: str = ""
    domain: str = ""
    assistant: str = ""
    model: str = ""


class Ledger(Protocol):
    """Keeps completions by the digest of their request, and who used them."""

    def get(self, digest: str) -> Completion | None:
        """The completion under `digest`, or None."""
        ...

    def put(self, digest: str, request: ChatRequest, completion: Completion, account: RequestContext) -> None:
        """Keep an answered request; when this returns, no end of this process loses it. The first answer
        stays."""
        ...

    def used(self, digest: str, request: ChatRequest, account: RequestContext) -> None:
        """Book that a kept completion was used once more. May be written later, in bulk."""
        ...

    def failed(self, request: ChatRequest, account: RequestContext, reason: str) -> None:
        """Book that a request was given up."""
        ...


class LedgeredChat:
    """A chat that asks its inner chat only what the ledger does not hold.

    Identical requests in flight at once are asked once. Raises what the inner chat raises.
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
        """The kept completion, or the inner chat's, kept first."""
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
    """A ledger that lasts as long as the process: for tests and for a quick look."""

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
