"""The user model: prompt fields of both variants, without future states."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from amemgym_agents import SpyChat

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.config import parse_config
from memflow.benchmarks.amemgym.states import histories
from memflow.chat.requests import ChatRequest
from memflow.errors import BadSettings
from memflow.memories.baselines import Nothing
from memflow.run.play import play_all

PAPER, PUBLISHED = "amemgym/follow_up", "amemgym/follow_up_published"


def asked(made, **parameters) -> list[ChatRequest]:
    """What the user model of the first user is asked when the domain is played with these parameters."""
    domain = replace(made.domain, parameters={**made.domain.parameters, **parameters})
    chat, benchmark = SpyChat(), AMemGym()

    async def walk() -> None:
        turns = await benchmark.turns(domain, made.records, made.states, chat)
        episodes = benchmark.episodes(domain, made.states, turns, [], chat)
        await play_all(episodes[:1], Nothing, benchmark.replier(domain, chat))

    asyncio.run(walk())
    return [request for request in chat.requests if request.prompt in (PAPER, PUBLISHED)]


def texts(request: ChatRequest) -> dict[str, str]:
    return {message.role: message.content for message in request.messages}


def first_life(made):
    return next(iter(histories(made.states).values()))


def stated(request: ChatRequest, states: Sequence[dict[str, str]]) -> list[int]:
    shown = "\n".join(message.content for message in request.messages)
    return [at for at, state in enumerate(states) if json.dumps(state, indent=1) in shown]


def test_user_model_of_paper_receives_profile_and_current_states(demo):
    history, requests = first_life(demo), asked(demo)
    turns = [turn for turn in demo.turns if turn.episode_id == history.profile.user_id and turn.follow_ups]
    assert [request.prompt for request in requests] == [PAPER] * len(turns)
    by_query = {request.fields["query"]: request for request in requests}
    for turn in turns:
        request = by_query[turn.text]
        said = texts(request)
        assert [message.role for message in request.messages] == ["system", "user"]
        assert history.profile.profile in said["system"] and turn.sent_at[:10] in said["system"]
        assert stated(request, history.periods) == [turn.checkpoint]
        assert f"user: {turn.text}\nassistant: " in said["user"]


def test_user_model_of_published_code_receives_no_states(demo):
    history, requests = first_life(demo), asked(demo, user_model="published_code")
    turns = {turn.text: turn for turn in demo.turns}
    assert {request.prompt for request in requests} == {PUBLISHED}
    for request in requests:
        turn = turns[request.fields["query"]]
        (message,) = request.messages
        assert message.role == "user" and request.sampling.temperature == 0.2
        assert history.profile.profile in message.content and history.end(turn.checkpoint) in message.content
        assert turn.text.startswith("[Current Time: ") and turn.text in message.content
        assert json.dumps(history.schema, indent=1) in message.content
        assert stated(request, history.periods) == []


@pytest.mark.parametrize("model", ["paper", "published_code"])
def test_user_model_prompt_contains_no_later_events_questions_or_options(demo, model):
    history = first_life(demo)
    gold = [change.event for changes in history.changes[1:] for change in changes]
    gold += [turn.exposes for turn in demo.turns]
    gold += [text for probe in demo.of_kind("choice") for text in (probe.question, *probe.options)]
    for request in asked(demo, user_model=model):
        shown = "\n".join(message.content for message in request.messages)
        assert [text for text in gold if text in shown] == []


def roles(request: ChatRequest) -> list[str]:
    return [line.partition(":")[0] for line in request.fields["context"].split("\n") if line[:1] in "ua"]


@pytest.mark.parametrize(
    ("parameters", "seen"),
    [
        ({}, [2, 2, 2]),
        ({"user_model": "published_code"}, [2, 2, 2]),
        ({"user_context": 3}, [2, 3, 3]),
        ({"user_context": 0}, [2, 4, 6]),
    ],
)
def test_user_context_parameter_limits_dialogue_messages_in_user_model_prompt(demo, parameters, seen):
    requests = asked(demo, rounds_update=4, **parameters)
    query = requests[0].fields["query"]
    session = [request for request in requests if request.fields["query"] == query]
    assert [len(roles(request)) for request in session] == seen
    assert all(roles(request)[-1] == "assistant" for request in session)
    assert (query in session[-1].fields["context"]) == (seen[-1] == 6)


def test_user_model_of_published_code_rejects_user_context_other_than_2_messages(demo):
    parameters = {**demo.domain.parameters, "user_model": "published_code", "user_context": 4}
    with pytest.raises(BadSettings, match=r"user_context: .* always sees the latest 2"):
        parse_config(replace(demo.domain, parameters=parameters))
