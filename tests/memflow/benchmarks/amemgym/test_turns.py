"""Turns: exposed values, times, and messages from which the state cannot be recovered."""

import json
from dataclasses import replace

from amemgym_agents import SpyChat

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.chat.scripted import ScriptedChat


async def test_turn_generation_with_scripted_chat_is_reproducible(demo):
    chat = ScriptedChat(AMemGym().handlers())
    assert await AMemGym().turns(demo.domain, demo.records, demo.states, chat) == demo.turns


def mumbling(refinements):
    """Return a chat whose first words reveal nothing; after `refinements` refinements those of the first session do."""

    def opening(request):
        state = json.loads(request.fields["state"])
        return {
            "groups": [{"variables": [name], "text": f"Hello, number {at}."} for at, name in enumerate(state)]
        }

    def rewritten(request):
        text = request.fields["text"]
        return None if f"Hello, number 0.{'?' * refinements}" in text else {"text": f"{text}?"}

    return SpyChat({"opening": opening, "utterance_again": rewritten})


async def test_message_that_does_not_reveal_its_values_is_rewritten_by_the_simulator(demo):
    chat = mumbling(refinements=1)
    turns = await AMemGym().turns(demo.domain.limited(1), demo.records, demo.states, chat)
    first = turns[0]
    [value] = json.loads(first.exposes).values()
    assert first.reason is None and value.replace("_", " ") in first.text and "Hello" not in first.text


async def test_message_that_hides_its_values_after_3_rewrites_is_quarantined(demo):
    chat = mumbling(refinements=9)
    turns = await AMemGym().turns(demo.domain, demo.records, demo.states, chat)
    opening = [turn for turn in turns if turn.checkpoint == 0]
    assert {turn.reason.split(":")[0] for turn in opening} == {"after 3 refinements the text does not reveal"}
    assert len(chat.asked("utterance_again")) == 3 * len(opening)
    assert [turn.reason for turn in turns if turn.checkpoint > 0] == [None] * (len(turns) - len(opening))
    lost = {turn.message_id for turn in opening}
    episodes = AMemGym().episodes(demo.domain, demo.states, turns, [], chat)
    played = {event.messages[0].message_id for episode in episodes for event in episode.events}
    assert played and not played & lost
    probes = await AMemGym().probes(demo.domain, demo.records, demo.states, turns, chat)
    for probe in probes:
        assert (probe.reason is not None) == bool(lost & set(probe.evidence))
    assert any(probe.reason is None for probe in probes)


async def test_message_that_hides_its_values_quarantines_its_user_if_configured(demo):
    parameters = {**demo.domain.parameters, "quarantine": "user", "refinements": 0}
    hidden = SpyChat({"utterance": {"text": "Hello."}}, whom="Tomás")
    turns = await AMemGym().turns(
        replace(demo.domain, parameters=parameters), demo.records, demo.states, hidden
    )
    assert {turn.episode_id for turn in turns if turn.reason is None} == {"nora", "mei"}
    whole = [turn.reason for turn in turns if turn.episode_id == "tomas" and turn.checkpoint == 0]
    assert whole and all("the user is dropped: message tomas/" in reason for reason in whole)
    probes = await AMemGym().probes(demo.domain, demo.records, demo.states, turns, SpyChat())
    assert {probe.episode_id for probe in probes if probe.reason is not None} == {"tomas"}
    assert all(probe.reason is not None for probe in probes if probe.episode_id == "tomas")


async def test_failed_opening_request_gives_one_quarantined_turn_in_period_0(demo):
    chat = SpyChat({"opening": ""})
    turns = await AMemGym().turns(demo.domain.limited(1), demo.records, demo.states, chat)
    first = [turn for turn in turns if turn.episode_id == "nora" and turn.checkpoint == 0]
    assert len(first) == 1 and "amemgym/opening: no usable answer" in first[0].reason


def test_each_published_session_becomes_one_turn_in_file_order(base):
    users = [json.loads(record.content) for record in base.records]
    sessions = [session for user in users for period in user["periods"] for session in period["sessions"]]
    assert len(base.turns) == len(sessions)
    for turn, session in zip(base.turns, sessions, strict=True):
        assert turn.text == f"[Current Time: {session['session_time']}]\n{session['query']}"
        assert json.loads(turn.exposes) == session["exposed_states"]
    if len(users) == 12:
        assert len(base.turns) == 579
