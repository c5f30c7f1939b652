"""The chat with a ledger: each request is sent once, and a cancellation affects no other request."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memflow.chat.ledger import LedgeredChat, MemoryLedger, RequestContext
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling, TokenBound
from memflow.errors import ChatError, RequestRefused


class SlowChat:
    fingerprint = "slow"
    sampling = Sampling()
    bound = TokenBound()
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


@dataclass
class Counting(MemoryLedger):
    """A ledger that lists the domains of its uses."""

    domains: list[tuple[str, str]] = field(default_factory=list)

    def put(
        self, completion: Completion, request: ChatRequest, account: RequestContext
    ) -> asyncio.Future[Completion]:
        self.domains.append(("put", account.domain))
        return super().put(completion, request, account)

    def record_cache_hit(self, completion: Completion, request: ChatRequest, account: RequestContext) -> None:
        self.domains.append(("used", account.domain))
        super().record_cache_hit(completion, request, account)


class FailingPartitions(MemoryLedger):
    """A ledger that lists the domains of its failures."""

    def __init__(self) -> None:
        super().__init__()
        self.domains: list[str] = []

    def record_failure(self, request: ChatRequest, account: RequestContext, error: Exception) -> None:
        self.domains.append(account.domain)


class SlowLedger(MemoryLedger):
    """A ledger that stores completions once `stored` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.storing, self.stored = asyncio.Event(), asyncio.Event()

    def put(
        self, completion: Completion, request: ChatRequest, account: RequestContext
    ) -> asyncio.Future[Completion]:
        async def store() -> Completion:
            self.storing.set()
            await self.stored.wait()
            return await super(SlowLedger, self).put(completion, request, account)

        return asyncio.ensure_future(store())


REQUEST = ChatRequest("test/prompt", {}, (ChatMessage("user", "hello"),))


async def test_chat_sends_identical_concurrent_requests_once() -> None:
    inner, ledger = SlowChat(), MemoryLedger()
    chat = LedgeredChat(inner, ledger, RequestContext())
    completions = await asyncio.gather(*(chat.complete(REQUEST) for _ in range(10)))
    assert inner.calls == 1
    assert {completion.text for completion in completions} == {"answer 1"}
    assert sum(ledger.uses.values()) == 9


async def test_each_repeat_sends_requests_of_its_own_once() -> None:
    inner, ledger = SlowChat(), MemoryLedger()
    chats = [LedgeredChat(inner, ledger, RequestContext(), repeat=number) for number in (1, 2, 3, 2)]
    texts = [(await chat.complete(REQUEST)).text for chat in chats]
    assert texts == ["answer 1", "answer 2", "answer 3", "answer 2"]


async def test_identical_requests_of_two_chats_are_sent_once() -> None:
    """Two partitions need the same completion at the same moment: the second one records a cache hit."""
    inner, ledger = SlowChat(), Counting()
    chats = [LedgeredChat(inner, ledger, RequestContext(domain=domain)) for domain in ("a", "b")]
    first, second = await asyncio.gather(*(chat.complete(REQUEST) for chat in chats))
    assert inner.calls == 1 and first == second
    assert ledger.domains == [("put", "a"), ("used", "b")]


async def test_refused_request_raises_for_every_waiting_caller() -> None:
    ledger = MemoryLedger()
    chat = LedgeredChat(SlowChat(RequestRefused("too long")), ledger, RequestContext())
    results = await asyncio.gather(*(chat.complete(REQUEST) for _ in range(3)), return_exceptions=True)
    assert [str(result) for result in results] == ["too long"] * 3
    assert ledger.failures == [("test/prompt", "too long")] * 3


async def test_failure_of_a_shared_request_is_recorded_for_each_partition() -> None:
    """Otherwise the second partition would be up to date although an answer is missing."""
    ledger = FailingPartitions()
    inner = SlowChat(ChatError("the server kept failing"))
    chats = [LedgeredChat(inner, ledger, RequestContext(domain=domain)) for domain in ("a", "b")]
    await asyncio.gather(*(chat.complete(REQUEST) for chat in chats), return_exceptions=True)
    assert inner.calls == 1
    assert ledger.domains == ["a", "b"]


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


async def test_identical_request_is_not_sent_again_if_the_first_is_cancelled_during_storage() -> None:
    inner, ledger = SlowChat(), SlowLedger()
    chats = [LedgeredChat(inner, ledger, RequestContext()) for _ in range(2)]
    first = asyncio.create_task(chats[0].complete(REQUEST))
    await asyncio.sleep(0)
    second = asyncio.create_task(chats[1].complete(REQUEST))
    await ledger.storing.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert not second.done()
    ledger.stored.set()
    assert (await second).text == (await chats[0].complete(REQUEST)).text == "answer 1"
    assert inner.calls == 1
    assert not ledger.in_flight.of_running_loop()


@settings(deadline=None, max_examples=50)
@given(plan=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=1, max_size=8))
def test_unless_cancelled_requests_are_sent_once(plan: list[tuple[int, int, bool]]) -> None:
    """Requests start and are cancelled at any step of the others. A completion is never requested again."""

    async def play() -> None:
        inner, ledger = SlowChat(), MemoryLedger()
        chat = LedgeredChat(inner, ledger, RequestContext())

        async def start(begin: int, end: int, cancelled: bool) -> Completion:
            for _ in range(begin):
                await asyncio.sleep(0)
            task = asyncio.create_task(chat.complete(REQUEST))
            for _ in range(end):
                await asyncio.sleep(0)
            if cancelled:
                task.cancel()
            return await task

        results = await asyncio.gather(*(start(*each) for each in plan), return_exceptions=True)
        answers = [each for each in results if isinstance(each, Completion)]
        assert len(answers) >= sum(not cancelled for _, _, cancelled in plan)
        assert len(set(answers)) <= 1
        assert sum(ledger.asked.values()) == len(ledger.asked) == (1 if answers else 0)
        assert ledger.uses.total() == max(0, len(answers) - 1)
        assert not ledger.in_flight.of_running_loop()

    asyncio.run(play())


async def test_chat_returns_the_completion_that_another_process_stored_first() -> None:
    """Another process may complete the same request first. All callers then get its completion."""
    ledger = MemoryLedger()

    class Overtaken(SlowChat):
        async def complete(self, request: ChatRequest) -> Completion:
            other = Completion("the other's", digest=request.digest(self.fingerprint))
            await ledger.put(other, request, RequestContext())
            return await super().complete(request)

    completion = await LedgeredChat(Overtaken(), ledger, RequestContext()).complete(REQUEST)
    assert completion.text == "the other's"
    assert completion.digest == REQUEST.digest("slow")
