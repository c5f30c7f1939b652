"""Requests and completions for tests of the ledger, and the function that writes them from a subprocess.

A separate module is needed because a spawned process imports the function by name.
"""

import asyncio
from typing import Annotated

from pydantic import BaseModel, Field

from memflow.chat.ledger import RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from memflow.resources.ledger.sql_ledger import SqlLedger


class Choice(BaseModel):
    answer: Annotated[int, Field(ge=1, le=4)]


ACCOUNT = RequestContext(
    run="run 1", stage="answer", role="assistant", domain="d", assistant="full", model="m"
)


def request(text: str, prompt: str = "a/prompt") -> ChatRequest:
    return ChatRequest(
        prompt, {}, (ChatMessage("system", "Be kind."), ChatMessage("user", text)), output=Choice
    )


def completion(text: str = "yes", key: str = "") -> Completion:
    return Completion(text, "stop", 10, 3, 4, 0.25, key)


def store(
    ledger: SqlLedger, *keys: str, text: str = "yes", account: RequestContext = ACCOUNT
) -> list[Completion]:
    """Store a completion for each key, at once. Return the stored completions."""

    async def put() -> list[Completion]:
        stored = [ledger.put(completion(text, key), request(key), account) for key in keys]
        return await asyncio.gather(*stored)

    return asyncio.run(put())


def find(ledger: SqlLedger, key: str) -> Completion | None:
    return asyncio.run(ledger.get(key))


def fill(url: str, number: int, count: int) -> None:
    with SqlLedger(url) as ledger:
        for n in range(0, count, 5):
            keys = [key for m in range(n, n + 5) for key in (f"own {number} {m}", f"shared {m}")]
            for stored in store(ledger, *keys, text=f"{number}"):
                assert find(ledger, stored.digest) == stored
                ledger.record_cache_hit(stored, request(stored.digest), ACCOUNT)
