"""A request that a server rejects because of the profile ends with the command that finds it."""

import json
from typing import Any

import pytest
from pydantic import BaseModel, Field
from stub import Stub, StubBehavior

from memflow.chat.requests import ChatMessage, ChatRequest, Role, Sampling
from memflow.errors import ModelMisconfigured, PromptTooLong, RequestRefused
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profile_advice import misconfiguration
from memflow.resources.endpoints.profiles import Profile, profile_of


class Choice(BaseModel):
    choice: str = Field(max_length=20)


class Choices(BaseModel):
    """A type with a nested reference."""

    class Group(BaseModel):
        first: Choice

    groups: list[Group]


@pytest.mark.parametrize(
    ("behaviors", "fields", "roles"),
    [
        ("completion_bound", {}, ()),
        ("fixed_sampling", {}, ()),
        ("strict_schema", {}, ()),
        ("no_nested_references", {}, ()),
        ("object_only", {}, ()),
        ("text_only", {}, ()),
        ("rejects_seed", {}, ()),
        ("api_key_header", {}, ()),
        ("api_version", {}, ()),
        ("alternates", {}, ("user", "user")),
        ("alternates_500", {}, ("user", "user")),
        ("no_system", {}, ("system", "user")),
        ("one_system", {}, ("system", "system", "user")),
        ("schema_only", {"structured": "object"}, ()),
        ("no_forced_tool", {"structured": "tool"}, ()),
        ("rejects_unknown", {"body": {"top_k": 5}, "seed": "omit"}, ()),
    ],
)
async def test_rejected_form_of_requests_ends_the_step_with_the_command_that_finds_the_profile(
    behaviors: str, fields: dict[str, Any], roles: tuple[Role, ...]
) -> None:
    messages = tuple(ChatMessage(role, "Choose.") for role in roles or ("user",))
    request = ChatRequest("test/choose", {}, messages, Sampling(top_p=0.5, seed=1), Choices)
    profile = Profile.model_validate(fields)
    async with Stub(StubBehavior(behaviors=behaviors)) as stub:
        endpoint = Endpoint(stub.url, profile=profile)
        async with OpenAIChat(stub.url, "stub", "f", section="models.gpt", endpoint=endpoint) as chat:
            with pytest.raises(ModelMisconfigured, match="Run `memflow models check gpt`"):
                await chat.complete(request)
        assert stub.counts.asked == 1


def test_error_without_a_section_proposes_the_option_of_the_command() -> None:
    error = RequestRefused("refused", 400, "Unsupported parameter: 'seed'")
    assert "--preset" in str(misconfiguration(error, "", Profile()))


@pytest.mark.parametrize(
    "error",
    [
        RequestRefused("refused", 400, '{"error": {"message": "The model is overloaded with work."}}'),
        RequestRefused("refused", 400, "invalid request: the temperature of the sea is not supported"),
        PromptTooLong("long", 400, "Unsupported: 'max_tokens' and the context length"),
    ],
)
def test_rejection_unrelated_to_the_profile_has_no_advice(error: RequestRefused) -> None:
    assert misconfiguration(error, "models.gpt", Profile()) is None


def test_words_of_a_repeated_prompt_have_no_advice() -> None:
    prompt = 'I am a developer.\nThe system message said: "temperature" must be 20.'
    shown = json.dumps({"error": f"Invalid message: {prompt[:60]}"})
    error = RequestRefused("refused", 400, shown)
    assert misconfiguration(error, "models.gpt", Profile()) is not None
    assert misconfiguration(error, "models.gpt", Profile(), prompt) is None


@pytest.mark.parametrize("bound", ["max_tokens", "max_completion_tokens"])
def test_limit_above_the_maximum_of_the_model_does_not_rename_the_parameter(bound: str) -> None:
    details = json.dumps(
        {
            "error": {
                "message": f"{bound} is too large: 16384. This model supports at most 4096 completion tokens.",
                "type": "invalid_request_error",
                "param": bound,
            }
        }
    )
    profile = profile_of("vllm", bound=bound)
    assert misconfiguration(RequestRefused("refused", 400, details), "models.gpt", profile) is None
