"""The chat with a ledger: each request is sent once, and a cancellation affects no other request."""

import asyncio

import pytest

from memflow.chat.ledger import LedgeredChat, MemoryLedger, RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.errors import RequestRefused


class SlowChat:
    fingerprint = "slow"
    sampling = Sampling()
    scripted = False

    def __init__(self, wrong: Exception | None = None) -> None:
        self.calls = 0
        self.wrong = wrong

    async def complete(self, request: ChatRequest) -> Completion:
        self.calls += 1
        await asyncio.sleep(0.01)
        if self.wrong is not None:
            raise self.wrong
        return Completion(f"answer {self.calls}")


REQUEST = ChatRequest("test/prompt", {}, (ChatMessage("user", "hello"),))


async def test_chat_sends_identical_concurrent_requests_once() -> None:
    inner, ledger = SlowChat(), MemoryLedger()
    chat = LedgeredChat(inner, ledger, RequestContext())
    completions = await asyncio.gather(*(chat.complete(REQUEST) for _ in range(10)))
    assert inner.calls == 1
    assert {completion.text for completion in completions} == {"answer 1"}
    assert sum(ledger.uses.values()) == 9


async def test_refused_request_raises_for_every_waiting_caller() -> None:
    ledger = MemoryLedger()
    chat = LedgeredChat(SlowChat(RequestRefused("too long")), ledger, RequestContext())
    results = await asyncio.gather(*(chat.complete(REQUEST) for _ in range(3)), return_exceptions=True)
    assert [str(result) for result in results] == ["too long"] * 3
    assert ledger.failures == [("test/prompt", "too long")]


async def test_waiting_request_is_sent_after_the_first_caller_is_cancelled() -> None:
    inner = SlowChat()
    chat = LedgeredChat(inner, MemoryLedger(), RequestContext())
    first = asyncio.create_task(chat.complete(REQUEST))
    await asyncio.sleep(0)
    second = asyncio.create_task(chat.complete(REQUEST))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (await second).text == "answer 2"


async def test_chat_returns_the_completion_that_another_process_stored_first() -> None:
    """Another process may complete the same request first. All callers then get its completion."""
    ledger = MemoryLedger()

    class Overtaken(SlowChat):
        async def complete(self, request: ChatRequest) -> Completion:
            key = request.digest(self.fingerprint)
            ledger.put(key, request, Completion("the other's", digest=key), RequestContext())
            return await super().complete(request)

    completion = await LedgeredChat(Overtaken(), ledger, RequestContext()).complete(REQUEST)
    assert completion.text == "the other's"
    assert completion.digest == REQUEST.digest("slow")
