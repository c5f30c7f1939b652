"""A few odd requests among others: they fail alone, and the step goes on."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from local_server import chat_server
from pydantic import BaseModel
from stub.odd_json import completion

from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Role
from memflow.errors import ModelMisconfigured, NoAnswer, RequestRefused
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.profile_advice import SIGNS

JSON = '{"choice": "A"}'


class Choice(BaseModel):
    choice: str


@asynccontextmanager
async def chat_with(answer: Callable[[dict[str, Any], str], web.Response]) -> AsyncIterator[OpenAIChat]:
    """Yield a chat whose server answers with `answer`, given the body and the text of the last message."""

    async with (
        chat_server(lambda request, text: answer(request["body"], text)) as url,
        OpenAIChat(url, "m", "f") as chat,
    ):
        yield chat


def request(text: str, *roles: Role, attempt: int = 0) -> ChatRequest:
    messages = tuple(ChatMessage(role, text) for role in roles or ("user",))
    return ChatRequest("test/choose", {}, messages, output=Choice, attempt=attempt)


def said(**message: Any) -> web.Response:
    return web.json_response(completion(message))


def rejected(message: str) -> web.Response:
    return web.json_response({"error": {"message": message}}, status=400)


async def test_few_rejections_among_concurrent_requests_do_not_end_the_step() -> None:
    def answer(body: dict[str, Any], text: str) -> web.Response:
        return rejected("invalid value of 'temperature'") if "odd" in text else said(content=JSON)

    texts = [
        *(f"odd {number}" for number in range(2 * SIGNS)),
        *(f"text {number}" for number in range(4 * SIGNS)),
    ]
    async with chat_with(answer) as chat:
        found = await asyncio.gather(
            *(chat.complete(request(text)) for text in texts), return_exceptions=True
        )
    failed = found[: 2 * SIGNS]
    assert {type(error) for error in failed} == {RequestRefused}
    assert any("memflow models check NAME" in str(error) for error in failed)
    assert all(isinstance(completion, Completion) for completion in found[2 * SIGNS :])


async def test_rejection_of_a_form_that_was_accepted_before_does_not_end_the_step() -> None:
    def answer(body: dict[str, Any], text: str) -> web.Response:
        return rejected("invalid value of 'temperature'") if text == "odd" else said(content=JSON)

    async with chat_with(answer) as chat:
        await chat.complete(request("hello"))
        with pytest.raises(RequestRefused):
            await chat.complete(request("odd"))
        assert (await chat.complete(request("hello again"))).text == JSON


async def test_rejection_of_roles_ends_the_step_although_other_roles_were_accepted() -> None:
    def answer(body: dict[str, Any], text: str) -> web.Response:
        roles = [message["role"] for message in body["messages"]]
        return rejected("roles must alternate") if roles == ["user", "user"] else said(content=JSON)

    async with chat_with(answer) as chat:
        await chat.complete(request("hello"))
        for number in range(SIGNS - 1):
            with pytest.raises(RequestRefused):
                await chat.complete(request(f"hello {number}", "user", "user"))
        with pytest.raises(ModelMisconfigured, match="memflow models check"):
            await chat.complete(request("hello", "user", "user"))


async def test_requests_that_a_model_declines_in_prose_each_time_do_not_end_the_step() -> None:
    async with chat_with(lambda body, text: said(content="I cannot help with that.")) as chat:
        for number in range(2):
            for attempt in range(3):
                assert (await chat.complete(request(f"odd {number}", attempt=attempt))).text
        with pytest.raises(ModelMisconfigured, match="answers in prose"):
            for number in range(SIGNS - 2):
                await chat.complete(request(f"more {number}"))


@pytest.mark.parametrize("reason", ["stop", "length"])
async def test_draft_among_thoughts_is_no_answer(reason: str) -> None:
    thoughts = f"The user wants JSON, such as {JSON}. But B may be right."
    message = {"content": "", "reasoning_content": thoughts}

    def answer(body: dict[str, Any], text: str) -> web.Response:
        return web.json_response(completion(message, choice={"finish_reason": reason}))

    async with chat_with(answer) as chat:
        try:
            found: Completion | None = await chat.complete(request("hello"))
        except NoAnswer:
            found = None
    assert found is None or (found.text, found.end) == ("", "cut")


async def test_json_alone_in_the_field_of_thoughts_is_the_answer() -> None:
    async with chat_with(lambda body, text: said(content=None, reasoning_content=f"\n{JSON}")) as chat:
        assert json.loads((await chat.complete(request("hello"))).text) == json.loads(JSON)
