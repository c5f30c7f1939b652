"""Context windows: those that servers state, their record in the home, and requests that do not fit."""

import json
from pathlib import Path

import pytest
from stub import Stub, StubBehavior

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.errors import PromptTooLong
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import BrokenReply
from memflow.resources.endpoints.request_bodies import LEAST_ANSWER, RequestBodies
from memflow.resources.endpoints.windows import (
    FILE,
    learned_window,
    read_models,
    record_window,
    window_in_error,
    window_of,
)
from memflow.tokens import most


def listed(*models: dict) -> bytes:
    return json.dumps({"object": "list", "data": models}).encode()


@pytest.mark.parametrize(
    "stated",
    [
        {"max_model_len": 8192},
        {"meta": {"n_ctx": 8192, "n_ctx_train": 131072}},
        {"context_length": 8192},
        {"context_window": 8192},
        {"max_context_length": 8192},
    ],
)
def test_list_of_models_states_the_window(stated: dict) -> None:
    content = listed({"id": "other", "max_model_len": 4096}, {"id": "m", **stated})
    served = read_models(content)
    assert (window_of("m", served), window_of("unknown", served)) == (8192, None)
    assert window_of("m", read_models(listed({"id": "a name of the server's own", **stated}))) == 8192


@pytest.mark.parametrize("content", [listed(), listed({"id": "m"}), listed({"id": "m", "max_model_len": 0})])
def test_list_of_models_without_a_window(content: bytes) -> None:
    assert window_of("m", read_models(content)) is None


def test_response_that_is_no_list_of_models_is_broken() -> None:
    with pytest.raises(BrokenReply):
        read_models(b'{"data": 1}')


@pytest.mark.parametrize(
    ("details", "window"),
    [
        (
            '{"error":{"code":400,"message":"request (19737 tokens) exceeds the available context size (8192 tokens), '
            'try increasing it","type":"exceed_context_size_error","n_prompt_tokens":19737,"n_ctx":8192}}',
            8192,
        ),
        ("This model's maximum context length is 32768 tokens. However, you requested 40000 tokens", 32768),
        ("This model's maximum context length is 128,000 tokens.", 128_000),
        ("The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8192),
        ("prompt is too long: 205000 tokens > 200000 maximum", 200_000),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32768),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
        ),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4096),
        ("Invalid request: Your request exceeded model token limit: 131072", 131_072),
        ("Please reduce the length of the messages or completion.", None),
        ("maximum context length is 9", None),
    ],
)
def test_refusal_states_the_window(details: str, window: int | None) -> None:
    assert window_in_error(details) == window


def test_learned_window_stands_in_the_home(tmp_path: Path) -> None:
    url = "http://127.0.0.1:1/v1"
    assert learned_window(tmp_path, url, "m") is None
    assert record_window(tmp_path, url, "m", 8192) and not record_window(tmp_path, url, "m", 8192)
    assert record_window(tmp_path, url, "n", 4096)
    assert [learned_window(tmp_path, url, model) for model in "mno"] == [8192, 4096, None]
    (tmp_path / FILE).write_text("no JSON", encoding="utf-8")
    assert learned_window(tmp_path, url, "m") is None and record_window(tmp_path, url, "m", 16384)
    assert learned_window(tmp_path, url, "m") == 16384


def request(tokens: int, bound: int = 1024) -> ChatRequest:
    message = ChatMessage("user", "abcd" * tokens)
    return ChatRequest("test/prompt", {}, (message,), Sampling(max_tokens=bound))


async def test_first_refusal_is_the_last_request_above_the_window() -> None:
    behavior = StubBehavior(max_model_len=1000, behaviors="overflow_vllm")
    learned: list[int] = []
    async with (
        Stub(behavior) as stub,
        OpenAIChat(stub.url, "stub", "fingerprint", on_window=learned.append) as chat,
    ):
        with pytest.raises(PromptTooLong, match="1000 tokens, is recorded now: rerun"):
            await chat.complete(request(1200))
        with pytest.raises(PromptTooLong, match=r"about 1100 tokens.*has 1000"):
            await chat.complete(request(1100))
        assert (await chat.complete(request(500))).text
        assert (stub.counts.asked, learned) == (2, [1000])


def test_bound_of_an_answer_leaves_room_for_its_prompt() -> None:
    bodies = RequestBodies(Profile(window=2048))
    sent = [bodies.build("m", request(tokens))["max_tokens"] for tokens in (100, 1000, 2000)]
    assert sent == [1024, 2048 - most(1000, 1), LEAST_ANSWER]
    assert RequestBodies(Profile()).build("m", request(2000))["max_tokens"] == 1024
    assert bodies.build("m", request(2000, 64))["max_tokens"] == 64
    assert "max_tokens" not in RequestBodies(Profile(window=2048, bound="none")).build("m", request(100))
