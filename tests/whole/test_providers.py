"""A benchmark with servers that behave as the providers do: every probe is answered with the provider's preset."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from generated import Generated, generate
from server_evaluation import evaluated
from stub import Stub, StubBehavior
from stub.calls import THOUGHT

from memflow.chat.requests import ChatRequest, Completion
from memflow.memories.registry import find
from memflow.resources.endpoints.chat import OpenAIChat
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import PRESETS, Preset, Profile, preset_fields, profile_of

MEMORIES = ("full", "mem0", "mem_gpt")
PAGE = Path(__file__).parents[2] / "docs/how-to/model.md"


class RecordedRequests(OpenAIChat):
    """A chat that records the messages of its requests."""

    said: str = ""

    async def complete(self, request: ChatRequest) -> Completion:
        """Record the request. Return the answer."""
        self.said += request.messages_json
        return await super().complete(request)


@dataclass
class Run:
    """The tables of some memories, by memory, and all that the model was sent."""

    tables: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    said: str = ""

    def rows(self, table: str) -> list[Any]:
        return [row for tables in self.tables.values() for row in tables[table]]

    @property
    def reasons(self) -> list[str]:
        """The reasons of probes without an answer."""
        return [reply.reason for reply in self.rows("answer.replies") if reply.reason]


@pytest.fixture(scope="module")
def one_user() -> Generated:
    """Return the first user of amemgym_demo."""
    return generate("amemgym_demo", 1)


def run(generated: Generated, behavior: StubBehavior, profile: Profile, *memories: str) -> Run:
    """Play and answer a domain with each memory and a server of this behavior."""

    async def session() -> Run:
        found = Run()
        async with Stub(behavior) as stub:
            endpoint = Endpoint(stub.url, profile=profile)
            chat = RecordedRequests(stub.url, "stub", "f", section="models.m", endpoint=endpoint)
            async with chat:
                for memory in memories:
                    found.tables[memory] = await evaluated(generated, find(memory), answering=chat)
                found.said = chat.said
        return found

    return asyncio.run(session())


@pytest.mark.parametrize("preset", PRESETS)
def test_every_probe_is_answered_with_the_preset_of_the_provider(one_user: Generated, preset: Preset) -> None:
    found = run(one_user, StubBehavior(provider=preset), profile_of(preset), *MEMORIES)
    assert found.reasons == []
    assert len(found.rows("answer.replies")) == len(MEMORIES) * len(one_user.probes)


def test_documentation_contains_the_current_table_of_presets() -> None:
    lines = ["| preset | differs from the default in |", "|---|---|"]
    for preset in PRESETS:
        fields = (f"`{name}`" for name in preset_fields(preset) if name != "thinking_levels")
        lines.append(f"| `{preset}` | {', '.join(fields) or 'nothing'} |")
    expected = "\n".join(lines)
    assert expected in PAGE.read_text(encoding="utf-8"), f"replace the table of presets by:\n{expected}"


THINKING = (
    "thinks_in_field",
    "thinks_in_reasoning",
    "thinks_in_details",
    "thinks_in_tags",
    "thinks_in_parts",
)
WITH_HEADROOM = Profile(headroom=4096)


def values(found: Run) -> list[tuple[str, float | None]]:
    return [(verdict.probe_id, verdict.value) for verdict in found.rows("score.verdicts")]


@pytest.fixture(scope="module")
def unthinking(one_user: Generated) -> Run:
    """Return the run with a model that does not think."""
    return run(one_user, StubBehavior(provider="vllm", text_length=600), WITH_HEADROOM, "full", "mem0")


@pytest.mark.parametrize("behavior", THINKING)
def test_thoughts_change_no_verdict_and_are_not_stored(
    one_user: Generated, unthinking: Run, behavior: str
) -> None:
    thinking = StubBehavior(provider="vllm", behaviors=behavior, text_length=600, thought_tokens=2000)
    found = run(one_user, thinking, WITH_HEADROOM, "full", "mem0")
    assert values(found) == values(unthinking)
    assert THOUGHT not in found.said + repr(found.tables)


@pytest.mark.parametrize("behavior", ["thinks_too_long", "unclosed_think"])
def test_thoughts_up_to_the_token_limit_give_a_reply_with_reason(one_user: Generated, behavior: str) -> None:
    found = run(one_user, StubBehavior(behaviors=behavior), WITH_HEADROOM, "full")
    assert len(found.reasons) == len(one_user.probes)
    assert THOUGHT not in found.said + repr(found.tables)


def test_model_with_thinking_off_answers_without_headroom(one_user: Generated, unthinking: Run) -> None:
    behavior = StubBehavior(behaviors="thinks_in_reasoning", thought_tokens=10**6, text_length=600)
    found = run(one_user, behavior, profile_of("vllm", thinking="off"), "full", "mem0")
    assert values(found) == values(unthinking)
