"""Chat completions over HTTP: requests, retries, concurrency, budgets and errors."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from sleeping_clock import SleepingClock
from stub import Stub, StubBehavior, count_answers

from memflow.chat.asking import ask
from memflow.chat.budget import Budget
from memflow.chat.ledger import LedgeredChat, RequestContext
from memflow.chat.prompts import Prompt, parse
from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.errors import BudgetSpent, ChatError, EndpointDown, ModelMisconfigured
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import FIRST_CONTACT, Endpoint
from memflow.resources.ledger.sql_ledger import SqlLedger

KEY = "sk-a-key-that-nobody-may-see"


class Choice(BaseModel):
    answer: Annotated[int, Field(ge=1, le=4)]
    why: Annotated[str, Field(max_length=40)]


PROMPT: Prompt = replace(
    parse(
        "---\nname: test/choose\nfields: [item]\n---\n# user\nChoose for $item.\n", "memflow.chat", "a test"
    ),
    output=Choice,
)


def request(text: str = "hello", **more: Any) -> ChatRequest:
    return ChatRequest("test/prompt", {}, (ChatMessage("user", text),), **more)


def chat_at(url: str, time: SleepingClock | None = None, **more: Any) -> OpenAIChat:
    parts = {} if time is None else {"clock": time.clock, "sleep": time.sleep}
    endpoint = Endpoint(
        url,
        key_variable="MEMFLOW_TEST_KEY",
        concurrency=more.pop("concurrency", 8),
        patience=more.pop("patience", 30.0),
        tries=more.pop("tries", 30),
        timeout=more.pop("timeout", 5.0),
        **parts,
    )
    return OpenAIChat(url, "stub", "fingerprint", Sampling(max_tokens=64), endpoint=endpoint, **more)


async def test_completion_contains_token_counts_and_latency() -> None:
    async with Stub(StubBehavior(latency=0.05)) as stub, chat_at(stub.url) as chat:
        completion = await chat.complete(request("x" * 400))
    assert completion.text
    assert completion.finish_reason == "stop"
    assert (completion.prompt_tokens, completion.cached_tokens) == (100, 50)
    assert completion.completion_tokens > 0
    assert 0.05 <= completion.latency_s < 1


async def test_chat_accepts_a_request_with_lone_surrogates() -> None:
    async with Stub() as stub, chat_at(stub.url) as chat:
        assert (await chat.complete(request("half \ud83d of one"))).text


async def test_chat_stops_after_the_configured_number_of_attempts(time: SleepingClock) -> None:
    async with (
        Stub(StubBehavior(fail=1.0)) as stub,
        chat_at(stub.url, time, patience=1e9, tries=4) as chat,
    ):
        with pytest.raises(ChatError, match="4 attempts"):
            await chat.complete(request())
        assert stub.counts.asked == 4


async def test_chat_does_not_exceed_its_concurrency_limit() -> None:
    async with Stub(StubBehavior(latency=0.01)) as stub, chat_at(stub.url, concurrency=5) as chat:
        await asyncio.gather(*(chat.complete(request(f"{n}")) for n in range(30)))
    assert stub.counts.most_in_flight == 5


async def test_connection_error_contains_the_address_and_the_next_step(time: SleepingClock) -> None:
    async with Stub() as stub:
        url = stub.url
    async with chat_at(url, time, patience=10) as chat:
        with pytest.raises(EndpointDown, match=f"Cannot connect to {url}.*Start the server or fix") as caught:
            await chat.complete(request())
        slept = len(time.slept)
        with pytest.raises(EndpointDown, match="1 attempts"):
            await chat.complete(request("another"))
    assert slept > 1
    assert len(time.slept) == slept  # the second did not wait again
    assert "MEMFLOW_TEST_KEY" not in str(caught.value)


async def test_chat_retries_longer_if_the_server_answered_before(time: SleepingClock) -> None:
    async with Stub() as stub, chat_at(stub.url, time, patience=100) as chat:
        await chat.complete(request())
        await stub.__aexit__()
        with pytest.raises(EndpointDown):
            await chat.complete(request("another"))
    answered_before = time.now
    async with chat_at(stub.url, time, patience=100) as chat:
        with pytest.raises(EndpointDown):
            await chat.complete(request())
    assert time.now - answered_before <= FIRST_CONTACT + 8 < 60 < answered_before <= 108


async def test_timeout_of_one_request_is_chat_error_if_server_answers_other_requests() -> None:
    async with Stub(StubBehavior(latency=1.0)) as stub, chat_at(stub.url, timeout=0.05, tries=2) as chat:
        with pytest.raises(ChatError, match=r"kept failing .*timeout after 0\.05 s") as caught:
            await chat.complete(request())
    assert not isinstance(caught.value, EndpointDown)


async def test_chat_quotes_the_server_that_lacks_the_model() -> None:
    async with Stub(StubBehavior(model="other")) as stub, chat_at(stub.url) as chat:
        with pytest.raises(ModelMisconfigured, match=r"`stub` does not exist.*Fix --model"):
            await chat.complete(request())
        assert stub.counts.asked == 1


async def test_chat_raises_budget_spent_without_sending_a_request() -> None:
    budget = Budget(calls=3)
    async with Stub() as stub, chat_at(stub.url, budget=budget) as chat:
        results = await asyncio.gather(
            *(chat.complete(request(f"{n}")) for n in range(8)), return_exceptions=True
        )
        assert stub.counts.asked == 3
    assert sum(isinstance(result, BudgetSpent) for result in results) == 5
    assert budget.spent.calls == 3
    assert budget.spent.tokens > 0


def test_api_key_is_sent_to_the_server_and_stored_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MEMFLOW_TEST_KEY", KEY)
    caplog.set_level(logging.DEBUG)

    async def session(ledger: SqlLedger) -> None:
        async with Stub() as stub, chat_at(stub.url) as chat:
            await LedgeredChat(chat, ledger, RequestContext(run="r")).complete(request())
            assert stub.headers[0]["Authorization"] == f"Bearer {KEY}"
            assert KEY not in repr(vars(chat)) + repr(chat.endpoint)

    with SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite") as ledger:
        asyncio.run(session(ledger))
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())
    assert KEY not in caplog.text


def test_chat_works_in_successive_event_loops() -> None:
    async def session() -> str:
        async with Stub() as stub, chat_at(stub.url) as chat:
            return (await chat.complete(request())).text

    assert asyncio.run(session()) == asyncio.run(session())


async def test_chat_stores_one_answer_per_request_of_an_unreliable_server(tmp_path: Path) -> None:
    """The server fails 10 % of requests, truncates 10 % of answers and stops once."""
    log = tmp_path / "log.jsonl"
    behavior = StubBehavior(fail=0.1, garble=0.1, die_after=80, down=0.5, latency=0.005, log=str(log))
    ledger = SqlLedger(f"sqlite:///{tmp_path}/ledger.sqlite")
    async with Stub(behavior) as stub, chat_at(stub.url, concurrency=16) as inner:
        chat = LedgeredChat(inner, ledger, RequestContext(run="r"))
        answers = await asyncio.gather(*(ask(chat, PROMPT, {"item": f"{n}"}) for n in range(200)))
        asked = stub.counts.asked
        again = await asyncio.gather(*(ask(chat, PROMPT, {"item": f"{n}"}) for n in range(200)))
        assert stub.counts.asked == asked
    assert [answer.value for answer in again] == [answer.value for answer in answers]
    assert all((answer.value is None) == (answer.reason is not None) for answer in answers)
    assert sum(answer.value is not None for answer in answers) >= 195
    assert stub.counts.garbled > 5
    assert any(answer.attempts > 1 for answer in answers)
    times = count_answers(log)
    kept = ledger.digests()
    assert kept <= set(times)
    # A request whose answer was on its way when the server died is asked again, and no other.
    assert sum(count - 1 for count in times.values()) <= 16
    ledger.close()


async def test_proxy_of_the_environment_is_used_for_other_machines_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Stub() as proxy, Stub() as local:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1").removeprefix("http://"))
        for url in ("http://model.invalid/v1", local.url):
            async with chat_at(url) as chat:
                assert (await chat.complete(request(url))).text
        monkeypatch.setenv("no_proxy", "model.invalid")
        async with chat_at("http://model.invalid/v1", tries=1) as chat:
            with pytest.raises(EndpointDown, match=r"model\.invalid"):
                await chat.complete(request())
    assert (proxy.counts.asked, local.counts.asked) == (1, 1)


async def test_invalid_address_raises_endpoint_down(time: SleepingClock) -> None:
    for url in ("not-an-address", "ftp://127.0.0.1/v1"):
        async with chat_at(url, time) as chat:
            with pytest.raises(EndpointDown, match=r"fix the url, then rerun"):
                await chat.complete(request())
