"""Plans in words: what has to stay stays, what cannot be worded has its reason, and all is asked at once."""

import asyncio
from datetime import datetime

import pytest

from memflow.benchmarks.membench.generation.dialogues import word_trajectory
from memflow.benchmarks.membench.generation.layout import lay_out
from memflow.benchmarks.membench.turns import turn_rows
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput

START = datetime(2024, 10, 1, 8, 0)
PLACES = ["Boston", "Denver"]


async def told(plan, chat):
    return await word_trajectory(plan, lay_out(plan, "made", START, 1), PLACES, 1, chat)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_session_mixes_messages_and_rounds_at_one_place(planned, simulator, language):
    plan = planned(rounds=3, language=language)
    trajectory = await told(plan, simulator())
    assert trajectory.reason is None and len(trajectory.steps) == 10
    for session in (0, 1):
        steps = [step for step in trajectory.steps if step.session == session]
        assert len(steps) == 5 and [step.exposes for step in steps if step.exposes]
        places = {
            place
            for step in steps
            for place in PLACES
            if f"{place}；" in step.user or f"{place};" in step.user
        }
        assert len(places) == 1
        for step in steps:
            assert step.sent_at in step.user and step.sent_at in step.assistant
            assert step.exposes is None or "28 years old" in step.user


async def test_gold_is_on_message_that_states_it(planned, simulator):
    turns = list(turn_rows("d", await told(planned(rounds=1), simulator())))
    exposing = [turn for turn in turns if turn.exposes]
    assert {turn.role for turn in exposing} == {"user"} and len(exposing) == 2
    assert all("28 years old" in turn.text for turn in exposing)


async def test_fillers_follow_their_message(planned, simulator):
    trajectory = await told(planned(fillers=(2, 0)), simulator())
    assert [
        ("chess" in step.user, "28" in step.user.partition(" (place")[0]) for step in trajectory.steps
    ] == [
        (True, False),
        (False, False),
        (False, False),
        (False, True),
        (False, True),
        (False, False),
        (False, False),
        (True, False),
    ]


async def test_observation_has_no_replies(planned, simulator):
    trajectory = await told(planned(scene="observation", fillers=(1, 2)), simulator())
    assert len(trajectory.steps) == 10 and {step.assistant for step in trajectory.steps} == {None}


async def test_observation_rejects_conversation_rounds(planned, simulator):
    with pytest.raises(BadInput, match="leads no conversation"):
        await told(planned(scene="observation", rounds=2), simulator())


async def test_wording_without_required_word_is_retried(planned, simulator):
    asked = []

    def forgetful(request):
        asked.append(request.attempt)
        told = "She is grown up." if request.attempt == 0 else request.fields["said"]
        return f'{{"user": "{told}", "assistant": "I see."}}'

    trajectory = await told(planned(rounds=1), simulator(told=forgetful))
    assert trajectory.reason is None and sorted(asked) == [0] * 4 + [1] * 4


async def test_missing_required_words_quarantine_trajectory(planned, simulator):
    chat = simulator(told=lambda request: '{"user": "She is grown up.", "assistant": "I see."}')
    trajectory = await told(planned(rounds=1), chat)
    assert 'have to stand in it as they are: "chess"' in trajectory.reason
    turns = list(turn_rows("d", trajectory))
    assert len(turns) == 12 and all(turn.reason for turn in turns)


async def test_conversation_of_wrong_length_is_rejected(planned, simulator):
    short = '{"rounds": [{"user": "Hello.", "assistant": "Hello."}]}'
    trajectory = await told(planned(rounds=3), simulator(dialogue=lambda request: short))
    assert "membench/dialogue: no usable answer in 3 attempts" in trajectory.reason
    assert sum(step.reason is not None for step in trajectory.steps) == 6


async def test_requests_are_concurrent(planned, simulator):
    """Every request is under way before any of them is answered."""
    chat, waiting, all_there = simulator(), [], asyncio.Event()

    class Gate(ScriptedChat):
        async def complete(self, request):
            waiting.append(request.prompt)
            if len(waiting) == 6:
                all_there.set()
            await asyncio.wait_for(all_there.wait(), 5)
            return await super().complete(request)

    await told(planned(rounds=2), Gate(chat.handlers))
    assert sorted(waiting) == ["membench/dialogue"] * 2 + ["membench/told"] * 4
