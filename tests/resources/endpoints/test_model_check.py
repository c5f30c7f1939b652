"""The check of an endpoint: what small requests show, and the profile that follows."""

import asyncio
import itertools
import json
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from stub import Stub, StubBehavior
from stub.odd_responses import odd_responses
from stub.providers import PROVIDERS

from memflow.chat.asking import parse_completion
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.errors import BadInput
from memflow.memories.lib_mem0.answers import Operations
from memflow.memories.mem_gpt.answers import Acts
from memflow.resources.endpoints import model_check_requests
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.model_check import ModelCheck, Observation
from memflow.resources.endpoints.model_check_requests import CheckResponse, requests_to
from memflow.resources.endpoints.profile_proposal import Proposal, propose
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import read_reply
from memflow.resources.settings.chat_models import Model

OUTPUTS = (Acts, Operations)
"""Output types that use unions, definitions, defaults and bounds."""

Body = Mapping[str, Any]
Rule = Callable[[Body], CheckResponse | None]
"""Returns the response to a body, or None if the next rule answers."""


def message(content: Any, tokens: int = 0, finish_reason: str = "stop", **more: Any) -> CheckResponse:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": tokens},
    }
    body = {
        "choices": [{"message": {"content": content, **more}, "finish_reason": finish_reason}],
        "usage": usage,
    }
    return CheckResponse(200, read_reply(json.dumps(body).encode(), Profile()))


def rejected(text: str, status: int = 400) -> CheckResponse:
    return CheckResponse(status, error=f"{status}: {text}")


def rejects(name: str) -> Rule:
    """Return a rule: a body with this parameter is rejected."""
    return lambda body: rejected(f"Unsupported parameter: {name}") if name in body else None


def rejects_keyword(name: str) -> Rule:
    """Return a rule: a schema with this keyword is rejected."""
    return lambda body: rejected(f"{name} is not permitted") if f'"{name}"' in json.dumps(body) else None


def answers(body: Body) -> CheckResponse:
    """Answer as a server that follows schemas, in the body or in the prompt."""
    typed = (
        body.get("response_format", {}).get("type") == "json_schema"
        or "JSON" in body["messages"][-1]["content"]
    )
    return message('{"colour": "red"}' if typed else "The sea is wide.")


def alternates(body: Body) -> CheckResponse | None:
    roles = [each["role"] for each in body["messages"]]
    same = any(one == other for one, other in itertools.pairwise(roles))
    return rejected("Conversation roles must alternate", 500) if same else None


def has_no_system_role(body: Body) -> CheckResponse | None:
    named = {each["role"] for each in body["messages"]} & {"system", "developer"}
    return rejected("System role not supported") if named else None


def knows_no_schema(body: Body) -> CheckResponse | None:
    kind = body.get("response_format", {}).get("type")
    return rejected("This response_format type is unavailable now") if kind == "json_schema" else None


def ignores_schema(body: Body) -> CheckResponse | None:
    return message("The sea is wide.") if "response_format" in body or "tools" in body else None


def routes(body: Body) -> CheckResponse | None:
    return None if "provider" in body else ignores_schema(body)


def thinks(body: Body) -> CheckResponse | None:
    if body.get("max_tokens", 0) <= 16:
        return message("", 16, "length", reasoning_content="First")
    return message("42", 300, reasoning_content="First I add the tens.") if "17" in str(body) else None


def check(*rules: Rule, profile: Profile | None = None) -> tuple[dict[str, Any], ModelCheck]:
    """Return the accepted value of each field of an endpoint with these rules, and the check."""

    async def post(profile: Profile, body: Body) -> CheckResponse:
        return next(found for rule in (*rules, answers) if (found := rule(body)) is not None)

    made = ModelCheck("m", post, profile or Profile())
    seen = asyncio.run(made.run())
    return {name: value for each in seen for name, value in each.fields.items()}, made


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((), {"bound": "max_tokens", "temperature": "send", "seed": "send", "structured": "schema"}),
        ((rejects("max_tokens"),), {"bound": "max_completion_tokens"}),
        ((rejects("max_tokens"), rejects("max_completion_tokens")), {"bound": "none"}),
        ((rejects("temperature"),), {"temperature": "omit", "top_p": "send", "seed": "send"}),
        ((rejects("seed"),), {"seed": "random_seed"}),
        ((rejects("seed"), rejects("random_seed")), {"seed": "omit"}),
        ((alternates,), {"alternate": True, "system": "system"}),
        ((has_no_system_role,), {"alternate": False, "system": "user"}),
        ((thinks,), {"headroom": 2048}),
        ((knows_no_schema,), {"structured": "object"}),
        ((ignores_schema,), {"structured": "prompt"}),
        (
            (rejects_keyword("maxLength"), rejects_keyword("default")),
            {"schema_drop": ("minLength", "maxLength", "default")},
        ),
        ((rejects_keyword("oneOf"),), {"schema_unions": "any_of", "schema_drop": ()}),
        ((rejects_keyword("$ref"),), {"schema_inline": True, "schema_drop": ()}),
        ((routes,), {"structured": "schema", "body": {"provider": {"require_parameters": True}}}),
    ],
)
def test_model_check_finds_accepted_profile_fields(rules: tuple[Rule, ...], expected: dict[str, Any]) -> None:
    found, made = check(*rules)
    assert {name: found[name] for name in expected} == expected
    assert made.requests <= 25


def test_model_check_of_endpoint_without_restrictions_sends_at_most_13_requests() -> None:
    assert check()[1].requests <= 13


def test_model_check_raises_bad_input_if_no_request_is_answered() -> None:
    with pytest.raises(BadInput, match="401: wrong key"):
        check(lambda body: rejected("wrong key", 401))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_proposed_profile_gets_typed_answers_from_stub_of_each_provider(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check starts without a preset. The proposed profile gets typed answers of every kind from the server."""
    monkeypatch.setenv("OPENAI_API_KEY", "key")

    async def examine() -> tuple[Proposal, list[Completion]]:
        async with Stub(StubBehavior(provider=provider)) as stub:
            model = Model.model_validate({"url": stub.url, "model": "stub"})
            proposal = propose(await ModelCheck("stub", requests_to(model), model.profile).run(), stub.url)
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
    async def post(profile: Profile, body: Body) -> CheckResponse:
        return message("Ein Meer.")

    seen = asyncio.run(ModelCheck("m", post, Profile()).run())
    assert any("no value works" in each.seen for each in seen)


def test_check_survives_every_odd_response_that_a_run_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_check_requests, "PATIENCE_S", 0.1)
    names = [name for name, each in odd_responses().items() if each.outcome in ("answered", "cut", "blank")]

    async def check_all() -> list[CheckResponse]:
        async with Stub(StubBehavior(odd=1e-9)) as stub:
            post = requests_to(Model.model_validate({"url": stub.url, "model": "stub"}))
            return [await post(Profile(), body_of(name)) for name in names]

    def body_of(name: str) -> Body:
        return {"model": "stub", "messages": [{"role": "user", "content": f"odd response: {name}"}]}

    responses = asyncio.run(check_all())
    assert len(responses) > 100 and all(each.ok for each in responses)
