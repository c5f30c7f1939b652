"""The requests of a user's first sessions under the profile `published`, compared with the published code's.

PUBLISHED has the values of the code at the commit that protocol.yaml names.
"""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from amemgym_export import export_users

from memflow.benchmarks import registry
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.protocol import with_profile
from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.request_bodies import RequestBodies
from memflow.run.answer import answer_all
from memflow.run.handlers import handlers
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

PUBLISHED: dict[tuple[str, ...], tuple[float, int]] = {
    ("amemgym/reply", "amemgym/reply_with_notes"): (0.0, 8192),
    ("amemgym/follow_up_published",): (0.2, 8192),
    ("awi/update",): (0.0, 8192),
    ("amemgym/choice", "amemgym/choice_with_notes"): (0.0, 8192),
    ("amemgym/state", "amemgym/state_with_notes"): (0.0, 8192),
    ("amemgym/choice_told",): (0.0, 8192),
}
"""Temperature and token limit of each request of the published code, by our prompts for it."""


class RecordingChat(ScriptedChat):
    """The scripted chat of a role with the decoding of a domain. It records its requests."""

    def __init__(self, role: str, domain: Domain, recorded: list[tuple[str, ChatRequest]]) -> None:
        super().__init__(handlers())
        self.role, self.recorded = role, recorded
        if role in domain.decoding:
            self.bound, self.sampling = domain.decoding[role].applied(TokenBound(), Sampling())

    async def complete(self, request: ChatRequest) -> Completion:
        self.recorded.append((self.role, request))
        return await super().complete(request)


def recorded_requests(domain: Domain, made: Any) -> list[tuple[str, ChatRequest]]:
    """Return the requests of the first user's dialogue and probes with AWI and the upper bound, each with its role."""
    benchmark, recorded = AMemGym(), []

    async def measure() -> None:
        roles = ("assistant", "memory", "simulator")
        assistant, memory, simulator = (RecordingChat(role, domain, recorded) for role in roles)
        [episode, *_] = benchmark.episodes(domain, made.states, made.turns, [], simulator)
        replier = benchmark.replier(domain, assistant)
        awi = memory_factory("awi_2_4", Tools(memory, HashingEmbedder()))
        played = await play_all([episode], awi, replier)
        lines = transcript_rows(domain.name, "awi_2_4", played)
        entries = list(entry_rows(domain.name, "awi_2_4", played))
        probes = [probe for probe in made.probes if probe.episode_id == episode.episode_id]
        pasts = episode_histories(entries, lines, probes)
        await answer_all(benchmark, domain, "awi_2_4", probes, pasts, awi, assistant)
        oracle = memory_factory("oracle", Tools(memory, HashingEmbedder()))
        choices = [probe for probe in probes if probe.kind == "choice"]
        await answer_all(benchmark, domain, "oracle", choices, {}, oracle, assistant)

    asyncio.run(measure())
    return recorded


@pytest.fixture(scope="module")
def recorded(demo, read_back) -> list[tuple[str, ChatRequest]]:
    points = registry.protocol("amemgym").points
    domain = with_profile(registry.find_domain("amemgym_base"), points, "published")
    users = export_users(demo.states, demo.turns, demo.probes)
    made = read_back(users, replace(domain, limit=1))
    return recorded_requests(made.domain, made)


def test_published_profile_sends_the_published_temperature_and_token_limit_in_every_request(recorded) -> None:
    bodies = RequestBodies(Profile())
    for prompts, expected in PUBLISHED.items():
        sent = [bodies.build("m", request) for _, request in recorded if request.prompt in prompts]
        assert {(body["temperature"], body["max_tokens"]) for body in sent} == {expected}, prompts


def test_published_user_model_receives_two_messages_the_first_message_and_the_end_of_the_period(
    recorded,
) -> None:
    asked = [request for _, request in recorded if request.prompt == "amemgym/follow_up_published"]
    assert [message.role for request in asked for message in request.messages] == ["user"] * len(asked)
    for request in asked:
        fields = request.fields
        assert "state" not in fields
        assert fields["query"].startswith("[Current Time: ")
        assert fields["date"].endswith("-01")  # the last day of a period, on which the last session is
        speakers = ("user: ", "assistant: ")
        assert len([line for line in fields["context"].splitlines() if line.startswith(speakers)]) == 2


def test_memories_under_published_profile_receive_no_date_except_in_first_messages(recorded) -> None:
    updates = [request for _, request in recorded if request.prompt == "awi/update"]
    assert updates
    dated = [
        line for each in updates for line in each.fields["messages"].splitlines() if line.startswith("[")
    ]
    assert all(line.startswith("[Current Time: ") for line in dated)
