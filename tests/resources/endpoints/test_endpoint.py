"""Requests to an endpoint: pauses, several keys, rejections, redirects, limits, and secrets in messages."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from local_server import chat_server
from sleeping_clock import SleepingClock
from stub import Stub, StubBehavior
from stub.odd_json import completion

from memflow.chat.requests import ChatMessage, ChatRequest, Completion
from memflow.errors import (
    ChatError,
    ModelMisconfigured,
    NoAnswer,
    PromptTooLong,
    QuotaExhausted,
    RequestRefused,
)
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import Endpoint

KEY = "sk-first-abcdefgh1234"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST", KEY)


def chat_at(url: str, time: SleepingClock | None = None, **more: Any) -> OpenAIChat:
    clock = {} if time is None else {"sleep": time.sleep, "clock": time.clock}
    settings = {"key_variable": "FIRST", "patience": 30.0, "timeout": 5.0, **clock, **more}
    return OpenAIChat(url, "m", "fingerprint", endpoint=Endpoint(url, **settings))


async def complete(chat: OpenAIChat, text: str = "hello") -> Completion:
    return await chat.complete(ChatRequest("test/prompt", {}, (ChatMessage("user", text),)))


def said(text: str = "An answer.", **headers: str) -> web.Response:
    return web.json_response(completion({"content": text}), headers=headers)


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> web.Response:
    return web.json_response({"error": {"message": message, "code": code}}, status=status, headers=headers)


async def test_retry_after_pauses_all_requests_to_the_model_without_failures(time: SleepingClock) -> None:
    sent = []

    def answer(request: web.BaseRequest, text: str) -> web.Response:
        sent.append(time.now)
        return said() if len(sent) > 1 else error(429, "slow down", **{"Retry-After": "600"})

    async with (
        chat_server(answer) as url,
        chat_at(url, time, patience=20, concurrency=1) as chat,
    ):
        await asyncio.gather(*(complete(chat, text) for text in "abc"))
    assert sent[0] == 0 and len(sent) == 4
    assert all(600 <= when < 610 for when in sent[1:])


async def test_retry_after_above_longest_pause_raises_quota_exhausted_with_next_step(
    time: SleepingClock,
) -> None:
    async with (
        chat_server(lambda request, text: error(429, "limit", **{"Retry-After": "86400"})) as url,
        chat_at(url, time) as chat,
    ):
        with pytest.raises(QuotaExhausted, match=r"asks to wait for 86400 s.*raise `longest_pause`"):
            await complete(chat)


async def test_request_waits_until_a_used_up_rate_limit_is_reset(time: SleepingClock) -> None:
    sent = []

    def answer(request: web.BaseRequest, text: str) -> web.Response:
        sent.append(time.now)
        return said(**{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "30s"})

    async with chat_server(answer) as url, chat_at(url, time) as chat:
        await complete(chat)
        await complete(chat)
    assert sent[0] == 0 and 30 <= sent[1] < 31


async def test_exhausted_quota_of_the_only_key_raises_after_one_request(time: SleepingClock) -> None:
    async with (
        Stub(StubBehavior(model="m", behaviors="quota")) as stub,
        chat_at(stub.url, time) as chat,
    ):
        with pytest.raises(QuotaExhausted, match=r"quota at .* is used up .*Add credit"):
            await complete(chat)
        assert stub.counts.asked == 1


@pytest.mark.parametrize(
    "behavior",
    [
        "openai",
        "vllm",
        "sglang",
        "llama_cpp",
        "mistral",
        "together",
        "moonshot",
        "gemini",
        "anthropic",
        "groq",
        "413",
    ],
)
async def test_prompt_above_the_context_window_is_rejected_without_retry(
    behavior: str, time: SleepingClock
) -> None:
    settings = StubBehavior(model="m", max_model_len=50, behaviors=f"overflow_{behavior}")
    async with Stub(settings) as stub, chat_at(stub.url, time) as chat:
        with pytest.raises(PromptTooLong, match="its prompt is too long"):
            await complete(chat, "x" * 1000)
        assert stub.counts.asked == 1


@pytest.mark.parametrize(
    ("behavior", "end", "asked"),
    [
        ("refuses", "refused", 1),
        ("filtered", "filtered", 1),
        ("filtered_prompt", "filtered", 1),
        ("blank", "blank", 3),
        ("error_in_200", "", 4),
    ],
)
async def test_reply_without_an_answer_raises_the_matching_error(
    behavior: str, end: str, asked: int, time: SleepingClock
) -> None:
    settings = StubBehavior(model="m", behaviors=behavior)
    async with Stub(settings) as stub, chat_at(stub.url, time, tries=4) as chat:
        with pytest.raises(ChatError) as caught:
            await complete(chat)
        assert (caught.value.end if isinstance(caught.value, NoAnswer) else "") == end
        assert stub.counts.asked == asked


@pytest.mark.parametrize("behavior", ["waits_ms", "waits_seconds", "waits_date", "warming_up"])
async def test_request_succeeds_after_the_wait_that_the_server_asks_for(
    behavior: str, time: SleepingClock
) -> None:
    async with Stub(StubBehavior(model="m", behaviors=behavior)) as stub, chat_at(stub.url, time) as chat:
        assert (await complete(chat)).text
    assert time.now >= {"waits_ms": 0.05, "waits_seconds": 1, "waits_date": 0.5}.get(behavior, 0)


async def test_flagged_input_is_filtered_and_the_key_stays_in_use() -> None:
    def answer(request: web.BaseRequest, text: str) -> web.Response:
        flagged = "m requires moderation. Your input was flagged for harassment. No credits were charged."
        return error(403, flagged) if text == "odd" else said()

    async with chat_server(answer) as url, chat_at(url) as chat:
        with pytest.raises(NoAnswer) as caught:
            await complete(chat, "odd")
        assert (await complete(chat)).text
    assert caught.value.end == "filtered"


async def test_redirect_to_another_host_is_not_followed() -> None:
    reached = []

    def elsewhere(request: web.BaseRequest, text: str) -> web.Response:
        reached.append(request.headers)
        return said()

    async with chat_server(elsewhere) as other:
        target = other.replace("http://", "http://user:password@").replace("127.0.0.1", "localhost")
        location = {"Location": f"{target}/chat/completions?key={KEY}"}
        moved = web.Response(status=307, headers=location)
        async with chat_server(lambda request, text: moved) as url, chat_at(url) as chat:
            with pytest.raises(RequestRefused, match="redirects to http://localhost") as caught:
                await complete(chat)
    assert not reached
    assert not any(secret in str(caught.value) for secret in ("password", KEY))


async def test_endpoint_redacts_the_key_in_answers_and_errors() -> None:
    def answer(request: web.BaseRequest, text: str) -> web.Response:
        if text == "answer":
            return said(f"Your key is {KEY}, or {KEY[:8]}...{KEY[-4:]}.")
        return error(401, f"Incorrect API key provided: {KEY[:6]}********{KEY[-4:]}")

    async with chat_server(answer) as url, chat_at(url) as chat:
        assert (await complete(chat, "answer")).text == "Your key is <FIRST>, or <FIRST>."
        with pytest.raises(ModelMisconfigured) as caught:
            await complete(chat, "error")
    assert "<FIRST>" in str(caught.value) and KEY[-4:] not in str(caught.value)


async def test_token_counts_are_estimated_if_the_response_has_no_usage() -> None:
    async with (
        Stub(StubBehavior(model="m", behaviors="no_usage")) as stub,
        chat_at(stub.url) as chat,
    ):
        answer = await complete(chat, "x" * 400)
    assert answer.estimated and answer.prompt_tokens == 100 and answer.completion_tokens > 0
