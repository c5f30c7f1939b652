"""Wording of plans: required and forbidden words, reasons for failures, and concurrent requests."""

from dataclasses import replace
from datetime import datetime

import pytest

from memflow.benchmarks.membench.answers import ToldMessage, ToldRound
from memflow.benchmarks.membench.generation.dialogues import word_trajectory
from memflow.benchmarks.membench.turns import turn_rows

START = datetime(2024, 10, 1, 8, 0)
PLACES = ["Boston", "Denver"]


async def worded(plan, chat):
    return await word_trajectory(plan, "made", START, PLACES, 1, chat)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_worded_session_has_planned_messages_and_rounds_at_one_place(planned, simulator, language):
    plan = planned(rounds=3, language=language)
    trajectory = await worded(plan, simulator())
    assert trajectory.reason is None and len(trajectory.steps) == 10
    for session in (0, 1):
        steps = [step for step in trajectory.steps if step.session == session]
        assert len(steps) == 5 and [step.exposes for step in steps if step.exposes]
        stamps = "".join(step.user for step in steps).replace("；", ";")
        assert sum(f"{place};" in stamps for place in PLACES) == 1
        for step in steps:
            assert step.sent_at in step.user and step.sent_at in step.assistant
            assert step.exposes is None or "28 years old" in step.user


async def test_wording_without_required_word_is_requested_again(planned, simulator):
    asked = []

    def forgetful(request):
        asked.append(request.attempt)
        text = "She is grown up." if request.attempt == 0 else request.fields["said"]
        return ToldRound(user=text, assistant="I see.")

    trajectory = await worded(planned(rounds=1), simulator(told=forgetful))
    assert trajectory.reason is None and sorted(asked) == [0] * 4 + [1] * 4


async def test_trajectory_whose_wording_lacks_required_words_is_quarantined(planned, simulator):
    chat = simulator(told=lambda request: '{"user": "She is grown up.", "assistant": "I see."}')
    trajectory = await worded(planned(rounds=1), chat)
    assert 'have to stand in it as they are: "chess"' in trajectory.reason
    turns = list(turn_rows("d", trajectory))
    assert len(turns) == 12 and all(turn.reason for turn in turns)


async def test_conversation_with_too_few_rounds_quarantines_its_steps(planned, simulator):
    short = '{"rounds": [{"user": "Hello.", "assistant": "Hello."}]}'
    trajectory = await worded(planned(rounds=3), simulator(dialogue=lambda request: short))
    assert "membench/dialogue: no usable answer in 3 attempts" in trajectory.reason
    assert sum(step.reason is not None for step in trajectory.steps) == 6


def avoiding(plan, *words: str):
    return replace(plan, sessions=tuple(replace(session, forbidden_words=words) for session in plan.sessions))


async def test_wording_with_forbidden_word_is_requested_again(planned, simulator):
    requests = []

    def telling(request):
        requests.append(request)
        text = "Chess! It is so sad." if request.attempt == 0 else request.fields["said"]
        return ToldRound(user=text, assistant="I see.")

    trajectory = await worded(avoiding(planned(fillers=(0, 0)), "sad"), simulator(told=telling))
    assert trajectory.reason is None
    assert not any("sad" in step.user for step in trajectory.steps)
    assert all('"sad"' in request.fields["avoids"] for request in requests)
    assert {request.attempt for request in requests} == {0, 1}


@pytest.mark.parametrize(
    ("scene", "stem", "answer"),
    [
        ("participation", "told", lambda text: ToldRound(user=text, assistant="How sad.")),
        ("observation", "told_alone", lambda text: ToldMessage(text=f"{text} So sad.")),
    ],
)
async def test_forbidden_words_apply_to_replies_and_observations(planned, simulator, scene, stem, answer):
    plan = avoiding(planned(scene=scene, fillers=(0, 0)), "sad")
    trajectory = await worded(plan, simulator(**{stem: lambda request: answer(request.fields["said"])}))
    assert 'must not stand in it: "sad"' in (trajectory.reason or "")
