"""The requests of a user's first sessions under the profile `published`, beside those of the published code.

PUBLISHED has the facts of the code at the commit that protocol.yaml names. The test renders the table in
docs/explanation/amemgym.md from the bodies of recorded requests.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.export import export_users
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.protocol import with_profile
from memflow.chat.prompts import load
from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound
from memflow.chat.scripted import ScriptedChat
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.run.answer import answer_all
from memflow.run.handlers import handlers
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows
from resources.endpoints.profiles import Profile
from resources.endpoints.request_bodies import RequestBodies

ROOT = Path(__file__).parents[4]
FIELDS = ("model", "temperature", "max_tokens", "response_format", "messages")


class PublishedRequest(NamedTuple):
    """A request of the published code: who sends it, its fields, and our prompts for it."""

    what: str
    prompts: tuple[str, ...]
    model: str
    temperature: float
    max_tokens: int
    response_format: str
    messages: str
    place: int = -1
    """Which of the recorded requests the table shows: the last one, or 0 for the first one."""


_AGENT = "system (memories by time), 4 buffered messages, user"
PUBLISHED = (
    PublishedRequest(
        "first reply of AWI",
        ("amemgym/reply", "amemgym/reply_with_notes"),
        *("assistant", 0.0, 8192, "none"),
        "system (no memories yet), user (message after its time)",
        place=0,
    ),
    PublishedRequest(
        "last reply of AWI",
        ("amemgym/reply", "amemgym/reply_with_notes"),
        *("assistant", 0.0, 8192, "none"),
        f"{_AGENT} (message; the first of a session after its time)",
    ),
    PublishedRequest(
        "message of the user model",
        ("amemgym/follow_up_published",),
        *("simulator", 0.2, 8192, "none"),
        "user (profile, start date, last day of the period, first message with its time, latest 2 messages, schema)",
    ),
    PublishedRequest(
        "update of AWI",
        ("awi/update",),
        *("assistant", 0.0, 8192, "JSON object"),
        "user (kinds of facts, facts by label, 2 messages)",
    ),
    PublishedRequest(
        "question",
        ("amemgym/choice", "amemgym/choice_with_notes"),
        *("assistant", 0.0, 8192, "none"),
        f"{_AGENT} (question, numbered options, form of the answer)",
    ),
    PublishedRequest(
        "state probe",
        ("amemgym/state", "amemgym/state_with_notes"),
        *("assistant", 0.0, 8192, "none"),
        f"{_AGENT} (schema of the question's states, form of the answer)",
    ),
    PublishedRequest(
        "upper bound",
        ("amemgym/choice_told",),
        *("assistant", 0.0, 8192, "JSON object"),
        "user (question, states, numbered options, form of the answer)",
    ),
)


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


def message_form(request: ChatRequest) -> str:
    """Return the roles of a request's messages, with the fields of the prompt that each contains."""
    package = "memflow.memories.awi" if request.prompt.startswith("awi/") else "memflow.benchmarks.amemgym"
    prompt = load(package, request.prompt.partition("/")[2])
    history = len(request.messages) - len([role for role, _ in prompt.sections if role != "history"])
    return ", ".join(
        f"{history} buffered messages" if role == "history" else f"{role} ({_fields(text, prompt.fields)})"
        for role, text in prompt.sections
        if role != "history" or history
    )


def _fields(text: str, names: Sequence[str]) -> str:
    return ", ".join(name for name in names if f"${name}" in text)


def table(recorded: Sequence[tuple[str, ChatRequest]]) -> str:
    """Return the Markdown table of a recorded request of each kind beside the published one."""
    return "\n".join(
        ["| request | field | published code | memflow |", "|---|---|---|---|", *_rows(recorded)]
    )


def _rows(recorded: Sequence[tuple[str, ChatRequest]]) -> Iterator[str]:
    for published in PUBLISHED:
        role, request = [pair for pair in recorded if pair[1].prompt in published.prompts][published.place]
        body = RequestBodies(Profile()).build("m", request)
        ours = {
            "model": f"`roles.{'assistant' if role == 'memory' else role}`",
            "temperature": body["temperature"],
            "max_tokens": body["max_tokens"],
            "response_format": "JSON schema" if "response_format" in body else "none",
            "messages": message_form(request),
        }
        models = {"assistant": "gpt-4.1-mini", "simulator": "gpt-4.1"}
        theirs = {**published._asdict(), "model": models[published.model]}
        for number, name in enumerate(FIELDS):
            yield f"| {published.what if not number else ''} | {name} | {theirs[name]} | {ours[name]} |"


@pytest.fixture(scope="module")
def recorded(demo, read_back) -> list[tuple[str, ChatRequest]]:
    points = registry.protocol("amemgym").points
    domain = with_profile(registry.find_domain("amemgym_base"), points, "published")
    users = export_users(demo.states, demo.turns, demo.probes).users
    made = read_back(users, replace(domain, limit=1))
    return recorded_requests(made.domain, made)


def test_published_profile_sends_the_published_temperature_and_token_limit_in_every_request(recorded) -> None:
    bodies = RequestBodies(Profile())
    for published in PUBLISHED:
        sent = [bodies.build("m", request) for _, request in recorded if request.prompt in published.prompts]
        assert sent, published.what
        assert {(body["temperature"], body["max_tokens"]) for body in sent} == {
            (published.temperature, published.max_tokens)
        }


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


def test_table_of_requests_in_the_documentation_is_up_to_date(recorded) -> None:
    text = (ROOT / "docs/explanation/amemgym.md").read_text(encoding="utf-8")
    section = text.partition("<!-- requests -->\n")[2].partition("\n<!-- /requests -->")[0]
    assert section == table(recorded), f"replace the section by this table:\n{table(recorded)}"
