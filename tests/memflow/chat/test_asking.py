"""`ask`: bounds by role, answers that the token limit cuts, and requests that fail."""

from dataclasses import replace
from random import Random
from string import ascii_lowercase
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from memflow.chat.asking import ask
from memflow.chat.limits import Text, limit_output
from memflow.chat.prompts import Prompt
from memflow.chat.requests import OUTPUT_TOKENS, ChatRequest, Completion, TokenBound
from memflow.chat.scripted import ScriptedChat
from memflow.errors import ChatError, EndpointDown, NoAnswer, PromptTooLong, QuotaExhausted


class Essay(BaseModel):
    text: Annotated[str, Field(max_length=100_000)]


class Note(BaseModel):
    text: Text


VARIED = "".join(Random(1).choices(ascii_lowercase, k=2**16))
TEXT = Prompt("test/text", (), None, "en", None, None, (("user", "Write."),), "digest")
PUBLISHED = replace(TEXT, max_tokens=100)
STRUCTURED = replace(TEXT, output=Essay, max_tokens=100)


class LimitedChat(ScriptedChat):
    """A chat whose answer has a number of characters; the request's limit, at 4 characters per token, cuts it."""

    def __init__(self, characters: int, thinking: int = 0, errors: tuple[Exception | None, ...] = ()) -> None:
        super().__init__({"test/text": self.answer})
        self.characters = characters
        self.thinking = thinking
        self.errors = list(errors)
        self.limits: list[int] = []
        self.optional: list[bool] = []
        self.retries: list[bool] = []

    def answer(self, request: ChatRequest) -> str:
        text = (VARIED * (1 + self.characters // len(VARIED)))[: self.characters]
        return text if request.output is None else Essay(text=text).model_dump_json()

    async def complete(self, request: ChatRequest) -> Completion:
        self.limits.append(request.sampling.max_tokens)
        self.optional.append(request.optional)
        self.retries.append(request.retry)
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        whole = await super().complete(request)
        room = 4 * max(0, request.sampling.max_tokens - self.thinking)
        if len(whole.text) <= room:
            return whole
        return replace(whole, text=whole.text[:room], finish_reason="length", end="cut")


class RepeatingChat(LimitedChat):
    """A chat whose answers are one sentence over and over."""

    def answer(self, request: ChatRequest) -> str:
        text = ("I am glad. " * self.characters)[: self.characters]
        return text if request.output is None else Essay.model_construct(text=text).model_dump_json()


@pytest.mark.parametrize(
    ("bound", "prompt", "limit"),
    [
        (TokenBound(), None, OUTPUT_TOKENS),
        (TokenBound(), 64, 64),
        (TokenBound(output=2000), None, 2000),
        (TokenBound(output=2000), 64, 2000),
        (TokenBound(output=32), 64, 64),
        (TokenBound(thinking=1000), 64, 1064),
        (TokenBound(thinking=1000), None, OUTPUT_TOKENS + 1000),
        (TokenBound(500, 1000), 64, 1500),
    ],
)
async def test_role_raises_token_bound_of_a_prompt(bound: TokenBound, prompt: int | None, limit: int) -> None:
    chat = LimitedChat(10)
    chat.bound = bound
    await ask(chat, replace(TEXT, max_tokens=prompt), {})
    assert chat.limits == [limit]


@pytest.mark.parametrize(("length", "returned", "cut"), [(6, 6, False), (1000, 8, True)])
async def test_cut_text_is_requested_again_once_and_is_marked_if_cut_again(
    length: int, returned: int, cut: bool
) -> None:
    chat = LimitedChat(length * OUTPUT_TOKENS)
    answer = await ask(chat, TEXT, {})
    assert (chat.limits, chat.retries) == ([OUTPUT_TOKENS, 2 * OUTPUT_TOKENS], [False, True])
    assert (len(answer.value), answer.cut, answer.attempts) == (returned * OUTPUT_TOKENS, cut, 2)
    assert answer.reason is None


async def test_ask_does_not_repeat_a_text_cut_at_the_limit_of_a_published_prompt() -> None:
    chat = LimitedChat(10**6)
    answer = await ask(chat, PUBLISHED, {})
    assert (chat.limits, len(answer.value), answer.cut) == ([100], 400, True)


async def test_structured_answer_that_is_cut_twice_is_a_failure_with_a_reason() -> None:
    chat = LimitedChat(10**4)
    answer = await ask(chat, STRUCTURED, {})
    assert (chat.limits, answer.value, answer.cut) == ([100, 200], None, False)
    assert answer.reason is not None and "was cut at the limit of 200 tokens" in answer.reason
    assert "[token_limits]" in answer.reason
    assert f"`memflow ledger forget --kind cut --prompt {STRUCTURED.name}`" in answer.reason


@pytest.mark.parametrize("prompt", [TEXT, PUBLISHED, STRUCTURED])
async def test_answer_cut_by_thinking_is_requested_once_with_twice_the_limit(prompt: Prompt) -> None:
    limit = prompt.max_tokens or OUTPUT_TOKENS
    chat = LimitedChat(40, thinking=limit)
    answer = await ask(chat, prompt, {})
    assert chat.limits == [limit, 2 * limit] and answer.value is not None and not answer.cut
    endless = LimitedChat(40, thinking=10**6)
    answer = await ask(endless, prompt, {})
    assert endless.limits == [limit, 2 * limit] and answer.value is None
    assert "was cut at the limit" in (answer.reason or "")


@pytest.mark.parametrize("error", [PromptTooLong("no room"), ChatError("timeout"), NoAnswer("", "blank")])
async def test_ask_returns_the_cut_text_if_the_request_with_higher_limit_fails(error: Exception) -> None:
    chat = LimitedChat(10**6, errors=(None, error))
    answer = await ask(chat, TEXT, {})
    assert (len(answer.value), answer.cut, len(chat.limits)) == (4 * OUTPUT_TOKENS, True, 2)


@pytest.mark.parametrize(
    ("prompt", "thinking", "optional"),
    [(TEXT, 0, True), (TEXT, 10**6, False), (STRUCTURED, 0, False)],
    ids=["text", "no text", "half of JSON"],
)
async def test_request_with_more_room_is_optional_only_if_the_cut_text_is_usable(
    prompt: Prompt, thinking: int, optional: bool
) -> None:
    """A failed optional request is not sent again by a later run."""
    chat = LimitedChat(90_000, thinking, errors=(None, ChatError("timeout")))
    answer = await ask(chat, prompt, {})
    assert chat.optional == [False, optional]
    assert (answer.value is not None) == optional


@pytest.mark.parametrize("end", ["blank", "refused", "filtered", "broken"])
async def test_response_without_an_answer_is_not_requested_again(end: str) -> None:
    chat = LimitedChat(10, errors=(NoAnswer(f"the answer is {end}", end),))
    answer = await ask(chat, TEXT, {})
    assert (answer.value, answer.reason, answer.attempts) == (None, f"test/text: the answer is {end}", 1)


@pytest.mark.parametrize("error", [EndpointDown("down"), QuotaExhausted("no credit")])
async def test_ask_raises_fatal_chat_errors(error: Exception) -> None:
    with pytest.raises(type(error)):
        await ask(LimitedChat(10, errors=(error,)), TEXT, {})


@pytest.mark.parametrize("prompt", [TEXT, STRUCTURED])
async def test_answer_that_repeats_itself_is_not_requested_with_a_larger_limit(prompt: Prompt) -> None:
    chat = RepeatingChat(10**6)
    answer = await ask(chat, prompt, {})
    assert (len(chat.limits), answer.attempts) == (1, 1)
    if prompt is TEXT:
        assert answer.cut and answer.value.startswith("I am glad. ")
    else:
        assert answer.value is None and answer.reason is not None
        assert "repeats `I am glad.`" in answer.reason and "[token_limits]" not in answer.reason
        assert "`memflow ledger forget --kind loop --prompt test/text`" in answer.reason


async def test_loop_that_the_bound_of_a_string_ends_is_unusable() -> None:
    short = replace(STRUCTURED, output=limit_output(Note, {"max_text": 300}), max_tokens=1000)
    answer = await ask(RepeatingChat(300), short, {})
    assert answer.value is None and "repeats `I am glad.`" in (answer.reason or "")
    varied = await ask(LimitedChat(300), short, {})
    assert varied.value is not None and varied.at_limit == ("test/text: text has 300 characters",)
