"""The behaviors of the stub server, and what the chat makes of each."""

import asyncio
from dataclasses import replace

import pytest
from pydantic import BaseModel, Field

from memflow.chat.asking import parse_completion
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import PRESETS, Preset, Profile, profile_of
from stub import Stub, StubBehavior
from stub.providers import BEHAVIORS, PROVIDERS


class Choice(BaseModel):
    choice: str = Field(min_length=3, max_length=20)
    score: int = Field(ge=40, le=50)


TYPED = ChatRequest("test/choose", {}, (ChatMessage("user", "Choose."),), Sampling(), Choice)
TEXT = replace(TYPED, output=None)


async def completed(
    behavior: StubBehavior, request: ChatRequest, profile: Profile | None = None
) -> tuple[Completion, int]:
    """Return the completion, and the number of requests that the server received."""

    async def wait(seconds: float) -> None:
        await asyncio.sleep(0)

    async with Stub(behavior) as stub:
        endpoint = Endpoint(stub.url, profile=profile or Profile(), sleep=wait)
        async with OpenAIChat(stub.url, "stub", "f", endpoint=endpoint) as chat:
            return await chat.complete(request), stub.counts.asked


def test_stub_has_a_provider_for_every_preset() -> None:
    assert set(PROVIDERS) == set(PRESETS)
    assert {name for names in PROVIDERS.values() for name in names} <= BEHAVIORS


@pytest.mark.parametrize("preset", PRESETS)
async def test_typed_stub_answers_satisfy_bounds_that_the_sent_schema_omits(preset: Preset) -> None:
    behavior = StubBehavior(provider=preset)
    for number in range(8):
        asked = replace(TYPED, messages=(ChatMessage("user", f"Choose {number}."),))
        completion, requests = await completed(behavior, asked, profile_of(preset))
        value, wrong = parse_completion(completion, Choice)
        assert value is not None, wrong
        assert requests == 1


@pytest.mark.parametrize("behaviors", ["fenced", "preamble"])
async def test_json_answer_between_prose_or_code_fences_is_parsed(behaviors: str) -> None:
    completion, _ = await completed(StubBehavior(behaviors=behaviors), TYPED)
    assert parse_completion(completion, Choice)[0] is not None
