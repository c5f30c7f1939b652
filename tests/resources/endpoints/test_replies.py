"""The parser of chat responses: ends, thoughts, token counts, and arbitrary bytes and JSON values."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stub.odd_json import completion

from memflow.resources.endpoints.profiles import Profile, profile_of
from memflow.resources.endpoints.replies import BrokenReply, ChatReply, ErrorReply, ReplyUsage, read_reply

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=9)
)
KEYS = st.sampled_from(
    [
        "choices",
        "message",
        "content",
        "usage",
        "error",
        "refusal",
        "finish_reason",
        "reasoning",
        "type",
        "text",
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


def parse(body: Any, profile: Profile | None = None) -> ChatReply:
    return read_reply(json.dumps(body).encode(), profile or Profile())


def require_storable(reply: ChatReply) -> None:
    for text in (reply.text, reply.thoughts, reply.finish_reason, reply.note):
        text.encode()  # a lone surrogate would raise
        assert "\0" not in text
    for count in (
        reply.usage.prompt,
        reply.usage.completion,
        reply.usage.cached,
        reply.usage.reasoning,
    ):
        assert count is None or 0 <= count < 2**32


@given(st.binary(max_size=200))
def test_read_reply_raises_only_its_exceptions_for_arbitrary_bytes(content: bytes) -> None:
    with pytest.raises((BrokenReply, ErrorReply)):
        read_reply(content, Profile())


@given(VALUES, VALUES, VALUES, VALUES)
def test_read_reply_returns_storable_replies_for_arbitrary_json_values(
    content: Any, reasoning: Any, finish: Any, usage: Any
) -> None:
    message = {"content": content, "reasoning": reasoning, "refusal": finish}
    body = {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}
    for value in (body, content, {"choices": content}, {"error": content, **body}):
        try:
            require_storable(parse(value))
        except (BrokenReply, ErrorReply):
            continue


def test_read_reply_returns_text_finish_reason_and_token_counts() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "total_tokens": 14,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    reply = parse(completion(usage=usage))
    assert reply == ChatReply("answered", "An answer.", usage=ReplyUsage(9, 5, 4, 3))


def test_tokens_counted_only_in_the_total_are_reasoning_tokens() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 34}
    assert parse(completion(usage=usage)).usage == ReplyUsage(9, 25, None, 20)


@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": "Hm."},
        {"reasoning": "Hm."},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        {"content": "<think>Hm.</think>An answer."},
        {"content": "Hm.</think>An answer."},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                {"type": "text", "text": "An answer."},
            ]
        },
    ],
)
def test_read_reply_separates_thoughts_in_every_known_response_format(message: dict[str, Any]) -> None:
    reply = parse(completion(message))
    assert (reply.end, reply.text, reply.thoughts) == ("answered", "An answer.", "Hm.")


def test_read_reply_uses_the_thought_delimiters_of_the_profile() -> None:
    profile = Profile(tags=("[THINK]", "[/THINK]"))
    reply = parse(completion({"content": "[THINK]Hm.[/THINK]<think> is a tag."}), profile)
    assert (reply.text, reply.thoughts) == ("<think> is a tag.", "Hm.")


def test_reply_text_is_the_tool_call_arguments_if_the_profile_requests_a_tool() -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    body = completion({"content": None, "tool_calls": [call]}, choice={"finish_reason": "tool_calls"})
    assert parse(body, profile_of("vllm", structured="tool")).text == '{"a": 1}'
    assert parse(body).end == "blank"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b"data: {}", "event stream"),
        (b"<html>", "HTML"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "levels of nesting"),
        (b"{}", "no choices"),
        (json.dumps(completion({"content": 4})).encode(), r"choices\.0\.message\.content"),
    ],
)
def test_read_reply_raises_broken_reply_that_names_the_fault(body: bytes, reason: str) -> None:
    with pytest.raises(BrokenReply, match=reason):
        read_reply(body, Profile())
