"""The bodies of chat requests for each kind of profile."""

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from memflow.chat.requests import ChatMessage, ChatRequest, Role, Sampling, schema_of
from memflow.errors import PromptTooLong
from memflow.resources.endpoints.profiles import PRESETS, Preset, Profile, profile_of
from memflow.resources.endpoints.request_bodies import RequestBodies


class Choice(BaseModel):
    answer: Literal["A", "B"]
    why: Annotated[str, Field(max_length=80)]


HELLO: tuple[tuple[Role, str], ...] = (("user", "hello"),)


def request(
    *messages: tuple[Role, str], output: type[BaseModel] | None = None, **sampling: Any
) -> ChatRequest:
    conversation = tuple(ChatMessage(role, text) for role, text in messages or HELLO)
    return ChatRequest("test/prompt", {}, conversation, Sampling(**sampling), output)


def body(profile: Profile, *messages: tuple[Role, str], **more: Any) -> dict[str, Any]:
    return RequestBodies(profile).build("m", request(*messages, **more))


def test_default_body_omits_unset_parameters() -> None:
    assert body(Profile(), temperature=0.5, max_tokens=9) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.5,
        "max_tokens": 9,
    }
    assert body(Profile(), top_p=0.9, seed=3).items() >= {"top_p": 0.9, "seed": 3}.items()


def test_default_body_requests_typed_answers_with_a_strict_schema() -> None:
    sent = body(Profile(), output=Choice)
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Choice", "strict": True, "schema": schema_of(Choice)},
    }


def test_profile_renames_or_omits_parameters() -> None:
    profile = Profile(bound="max_completion_tokens", headroom=100, seed="random_seed")
    sent = body(profile, max_tokens=9, seed=3)
    assert (sent["max_completion_tokens"], sent["random_seed"]) == (109, 3)
    assert not {"max_tokens", "seed"} & set(sent)
    nothing = Profile(bound="none", temperature="omit", top_p="omit", seed="omit")
    assert set(body(nothing, top_p=0.9, seed=3)) == {"model", "messages"}


def test_tool_mode_requires_a_call_of_the_function_for_the_output_type() -> None:
    sent = body(Profile(structured="tool", strict=False), output=Choice)
    assert sent["tools"][0]["function"] == {"name": "Choice", "parameters": schema_of(Choice)}
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "Choice"}}
    assert "response_format" not in sent


@pytest.mark.parametrize(("mode", "keys"), [("object", {"response_format"}), ("prompt", set())])
def test_object_and_prompt_mode_show_the_schema_in_the_last_user_message(mode: Any, keys: set[str]) -> None:
    sent = body(Profile(structured=mode), ("system", "Be brief."), ("user", "Choose."), output=Choice)
    assert sent["messages"][0]["content"] == "Be brief."
    last = sent["messages"][-1]["content"]
    assert last.startswith("Choose.\n\n") and "JSON" in last and json.dumps(schema_of(Choice)) in last
    assert {"response_format", "tools"} & set(sent) == keys
    assert sent.get("response_format", {"type": "json_object"}) == {"type": "json_object"}
    assert body(Profile(structured=mode), ("user", "Choose."))["messages"][0]["content"] == "Choose."


CONVERSATION: list[tuple[Role, str]] = [
    ("system", "s"),
    ("user", "a"),
    ("user", "b"),
    ("assistant", "c"),
    ("system", "t"),
    ("user", "d"),
]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"system": "developer"}, "developer:s user:a user:b assistant:c developer:t user:d"),
        ({"system": "user"}, "user:s+a+b assistant:c user:t+d"),
        ({"alternate": True}, "system:s user:a+b assistant:c system:t user:d"),
    ],
)
def test_profile_determines_the_message_roles_of_the_body(fields: dict[str, Any], expected: str) -> None:
    sent = body(Profile(**fields), *CONVERSATION)["messages"]
    said = [f"{message['role']}:{message['content'].replace(chr(10) * 2, '+')}" for message in sent]
    assert " ".join(said) == expected


@pytest.mark.parametrize(
    ("fields", "given", "sent"),
    [
        ({"alternate": True}, "system assistant user", "system user assistant user"),
        ({"system": "user"}, "system assistant system", "user assistant user"),
        ({"structured": "prompt"}, "user assistant", "user assistant user"),
    ],
)
def test_profile_adds_a_user_message_where_the_conversation_has_none(
    fields: dict[str, Any], given: str, sent: str
) -> None:
    messages: list[Any] = [(role, "text") for role in given.split()]
    output = Choice if "structured" in fields else None
    found = body(Profile(**fields), *messages, output=output)["messages"]
    assert " ".join(message["role"] for message in found) == sent


def test_thinking_level_and_profile_body_add_keys_to_the_request_body() -> None:
    profile = profile_of("deepseek", thinking="off", body={"top_k": 5})
    assert body(profile).items() >= {"thinking": {"type": "disabled"}, "top_k": 5}.items()


def test_build_rejects_a_prompt_above_the_context_window() -> None:
    with pytest.raises(PromptTooLong, match=r"test/prompt has about 25 tokens.*window of m has 24.*`window`"):
        body(Profile(window=24), ("user", "x" * 100))
    body(Profile(window=25), ("user", "x" * 100))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_keeps_the_text_of_the_conversation(preset: Preset) -> None:
    sent = body(profile_of(preset), ("system", "Be brief."), ("user", "Choose."), output=Choice)
    text = " ".join(message["content"] for message in sent["messages"])
    assert "Be brief." in text and "Choose." in text
    assert json.loads(json.dumps(sent)) == sent
