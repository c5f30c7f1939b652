"""The check of an endpoint: what small requests show, and the profile that follows."""

import asyncio
import json
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from stub import Stub, StubBehavior
from stub.odd_responses import odd_responses
from stub.providers import PROVIDERS

from memflow.chat.asking import parse_completion
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.errors import BadInput, RequestRefused
from memflow.memories.lib_mem0.answers import Operations
from memflow.memories.mem_gpt.answers import Acts
from memflow.resources.endpoints import model_check
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.model_check import (
    ModelCheck,
    Observation,
    Post,
    Proposal,
    propose,
    requests_to,
)
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import ChatReply, ReplyUsage
from memflow.resources.settings.chat_models import Model

OUTPUTS = (Acts, Operations)
"""Output types that use unions, definitions, defaults and bounds."""

Body = Mapping[str, Any]
COLOUR = ChatReply("answered", '{"colour": "red"}')
THOUGHT = ChatReply("answered", "42", usage=ReplyUsage(reasoning=300))


async def observed(made: ModelCheck) -> list[Observation]:
    return [observation async for observation in made.run()]


def check(post: Post) -> tuple[dict[str, Any], ModelCheck]:
    """Return the accepted value of each field of an endpoint, and the check."""
    made = ModelCheck("m", post, Profile())
    seen = asyncio.run(observed(made))
    return {name: value for each in seen for name, value in each.fields.items()}, made


def server_without(*words: str) -> Post:
    """Return a server that rejects the requests in which one of the words stands, and answers the others in JSON."""

    async def post(profile: Profile, body: Body) -> ChatReply:
        rejected = next((word for word in words if f'"{word}"' in json.dumps(body)), "")
        if rejected:
            raise RequestRefused(f"400: Unsupported: {rejected}", 400)
        return COLOUR

    return post


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", {"bound": "max_tokens", "temperature": "send", "seed": "send", "structured": "schema"}),
        ("max_tokens", {"bound": "max_completion_tokens"}),
        ("max_tokens max_completion_tokens", {"bound": "none"}),
        ("temperature", {"temperature": "omit", "top_p": "send", "seed": "send"}),
        ("seed", {"seed": "random_seed"}),
        ("seed random_seed", {"seed": "omit"}),
        ("system developer", {"alternate": False, "system": "user"}),
        ("json_schema", {"structured": "tool"}),
        ("json_schema tools", {"structured": "object"}),
        ("response_format tools", {"structured": "prompt"}),
        ("maxLength default", {"schema_drop": ("minLength", "maxLength", "default")}),
        ("oneOf", {"schema_unions": "any_of", "schema_drop": ()}),
        ("$ref", {"schema_inline": True, "schema_drop": ()}),
    ],
)
def test_model_check_finds_accepted_profile_fields(words: str, expected: dict[str, Any]) -> None:
    found, made = check(server_without(*words.split()))
    assert {name: found[name] for name in expected} == expected
    assert made.requests <= (25 if words else 13)


def test_model_check_leaves_room_for_the_thoughts_that_it_sees() -> None:
    async def post(profile: Profile, body: Body) -> ChatReply:
        return THOUGHT

    assert check(post)[0]["headroom"] == 2048


def test_model_check_raises_bad_input_if_no_request_is_answered() -> None:
    async def post(profile: Profile, body: Body) -> ChatReply:
        raise RequestRefused("401: wrong key", 401)

    with pytest.raises(BadInput, match="401: wrong key"):
        check(post)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_proposed_profile_gets_typed_answers_from_stub_of_each_provider(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check starts without a preset. The proposed profile gets typed answers of every kind from the server."""
    monkeypatch.setenv("OPENAI_API_KEY", "key")

    async def examine() -> tuple[Proposal, list[Completion]]:
        async with Stub(StubBehavior(provider=provider)) as stub:
            model = Model.model_validate({"url": stub.url, "model": "stub"})
            proposal = propose(
                await observed(ModelCheck("stub", requests_to(model), model.profile)), stub.url
            )
            endpoint = Endpoint(stub.url, profile=proposal.profile(), patience=1)
            async with OpenAIChat(
                stub.url, "stub", "", Sampling(max_tokens=2048, seed=1), endpoint=endpoint
            ) as chat:
                messages = (
                    ChatMessage("system", "Be brief."),
                    ChatMessage("user", "One."),
                    ChatMessage("user", "Two."),
                )
                requests = [
                    ChatRequest("p", {}, messages, chat.sampling, output) for output in (None, *OUTPUTS)
                ]
                return proposal, [await chat.complete(request) for request in requests]

    proposal, completions = asyncio.run(examine())
    assert not proposal.fields, "a preset fits each provider"
    assert [each.end for each in completions] == ["answered"] * (1 + len(OUTPUTS))
    for output, completion in zip(OUTPUTS, completions[1:], strict=True):
        assert parse_completion(completion, output)[0] is not None


def test_proposal_prefers_the_preset_of_the_host() -> None:
    seen = [Observation("structured output", "", {"structured": "schema"})]
    assert propose(seen, "https://eu.api.mistral.ai/v1").preset == "mistral"


def test_proposal_as_toml_is_a_valid_model_with_the_proposed_profile() -> None:
    fields = {"structured": "prompt", "alternate": True, "schema_drop": ("minLength", "const")}
    proposal = propose([Observation("all", "", fields)], "http://127.0.0.1:8000/v1")
    assert proposal.preset == "plain"
    table = tomllib.loads(proposal.toml("local"))["models"]["local"]
    model = Model.model_validate({"url": "http://127.0.0.1:8000/v1", "model": "m", **table})
    assert model.profile == proposal.profile()
    assert model.profile.schema_drop == ("minLength", "const")


def test_check_says_that_no_structure_works_if_a_model_never_writes_json() -> None:
    async def post(profile: Profile, body: Body) -> ChatReply:
        return ChatReply("answered", "Ein Meer.")

    seen = asyncio.run(observed(ModelCheck("m", post, Profile())))
    assert any("no value works" in each.seen for each in seen)


def test_check_survives_every_odd_response_that_a_run_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_check, "PATIENCE_S", 0.1)
    names = [name for name, each in odd_responses().items() if each.outcome in ("answered", "cut", "blank")]

    async def check_all() -> list[ChatReply]:
        async with Stub(StubBehavior(odd=1e-9)) as stub:
            post = requests_to(Model.model_validate({"url": stub.url, "model": "stub"}))
            return [await post(Profile(), body_of(name)) for name in names]

    def body_of(name: str) -> Body:
        return {"model": "stub", "messages": [{"role": "user", "content": f"odd response: {name}"}]}

    responses = asyncio.run(check_all())
    assert len(responses) > 100 and all(isinstance(each, ChatReply) for each in responses)
