"""A request that a server rejects because of the profile ends with the line that fits."""

import json
import tomllib

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


async def error_at(behaviors: str, profile: Profile, *roles: Role) -> str:
    """Return the error of one request to a server with these behaviors. Assert that it is sent once."""
    messages = tuple(ChatMessage(role, "Choose.") for role in roles or ("user",))
    request = ChatRequest("test/choose", {}, messages, Sampling(top_p=0.5, seed=1), Choice)
    async with Stub(StubBehavior(behaviors=behaviors)) as stub:
        chat = OpenAIChat(
            stub.url, "stub", "f", section="models.gpt", endpoint=Endpoint(stub.url, profile=profile)
        )
        async with chat:
            with pytest.raises(ModelMisconfigured) as caught:
                await chat.complete(request)
        assert stub.counts.asked == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("behaviors", "line", "preset"),
    [
        ("completion_bound", 'bound = "max_completion_tokens"', "openai_reasoning"),
        ("fixed_sampling", 'temperature = "omit"', "openai_reasoning"),
        ("strict_schema", 'schema_drop = ["maxLength"]', "openai"),
        ("object_only", 'structured = "object"', "deepseek"),
        ("text_only", 'structured = "prompt"', "plain"),
        ("rejects_seed", 'seed = "random_seed"', "mistral"),
        ("api_key_header", 'auth = "api-key"', "azure"),
        ("api_version", 'query = { api-version = "2024-10-21" }', "azure"),
    ],
)
async def test_rejection_error_names_the_profile_field_and_preset_to_set(
    behaviors: str, line: str, preset: str
) -> None:
    message = await error_at(behaviors, Profile())
    assert f'`preset = "{preset}"` below [models.gpt], or `{line}` below [models.gpt.profile]' in message
    field, value = tomllib.loads(line).popitem()
    assert profile_of("vllm", **{field: value}) != Profile()


@pytest.mark.parametrize("behavior", ["alternates", "alternates_500"])
async def test_error_for_rejected_role_order_proposes_the_field_alternate(behavior: str) -> None:
    assert "`alternate = true`" in await error_at(behavior, Profile(), "user", "user")


async def test_error_for_rejected_system_message_proposes_the_role_user() -> None:
    assert '`system = "user"`' in await error_at("no_system", Profile(), "system", "user")


@pytest.mark.parametrize(
    ("behavior", "fields", "line"),
    [
        ("schema_only", {"structured": "object"}, 'structured = "schema"'),
        ("no_forced_tool", {"structured": "tool"}, 'structured = "object"'),
        ("rejects_unknown", {"body": {"top_k": 5}, "seed": "omit"}, "body = {  }"),
    ],
)
async def test_error_for_rejected_field_of_the_user_proposes_another_value(
    behavior: str, fields: dict[str, object], line: str
) -> None:
    assert line in await error_at(behavior, Profile.model_validate(fields))


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


def test_advice_stays_beside_a_repeated_prompt() -> None:
    prompt = "I am a developer, and I like long walks."
    error = RequestRefused("refused", 400, f"Unsupported parameter: 'seed'. The request: {prompt}")
    said = str(misconfiguration(error, "models.gpt", Profile(), prompt))
    assert "seed" in said and "`system" not in said


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
