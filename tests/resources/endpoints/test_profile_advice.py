"""A request that a server rejects because of the profile ends with the command that finds it."""

from typing import Any

import pytest
from pydantic import BaseModel, Field
from stub import Stub, StubBehavior

from memflow.chat.requests import ChatMessage, ChatRequest, Role, Sampling
from memflow.errors import ModelMisconfigured, PromptTooLong, RequestRefused
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profile_advice import SIGNS, ProfileFit
from memflow.resources.endpoints.profiles import Profile

OF_ACCESS = ("api_key_header", "api_version")
"""Behaviors that reject all requests with status 401 or 404."""


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
            error: Exception | None = None
            while not isinstance(error, ModelMisconfigured):
                with pytest.raises(
                    (RequestRefused, ModelMisconfigured), match="`memflow models check gpt`"
                ) as caught:
                    await chat.complete(request)
                error = caught.value
        assert stub.counts.asked == (1 if behaviors in OF_ACCESS else SIGNS)


def test_error_without_a_section_proposes_the_option_of_the_command() -> None:
    assert "--preset" in str(ProfileFit("m", "", Profile()).misfit("refused"))


def test_prompt_above_the_window_has_no_advice() -> None:
    error = PromptTooLong("long", 400, "Unsupported: 'max_tokens' and the context length")
    request = ChatRequest("test/choose", {}, ())
    assert ProfileFit("m", "models.gpt", Profile()).on_rejection(error, request) is error
