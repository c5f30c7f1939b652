"""Fixtures: a hand-written plan, and simulators with answers set by the test."""

from collections.abc import Callable
from typing import Any

import pytest

from memflow.benchmarks.membench.generation.plans import (
    PlannedMessage,
    PlannedQuestion,
    PlannedSession,
    TrajectoryPlan,
)
from memflow.benchmarks.membench.kinds import KINDS
from memflow.benchmarks.membench.scripted import HANDLERS
from memflow.chat.scripted import ScriptedChat

AGE = {"entity": "niece", "attribute": "age", "value": "28 years old"}


@pytest.fixture(scope="session")
def planned() -> Callable[..., TrajectoryPlan]:
    """Two sessions of two beats each; the second beat of the first and the first of the second are evidence."""

    def plan(scene="participation", language="en", rounds=0, fillers=(), **asked: Any) -> TrajectoryPlan:
        messages = (
            PlannedMessage("My niece plays chess.", required_words=("chess",)),
            PlannedMessage("My niece is 28 years old.", required_words=("28 years old",), exposes=AGE),
        )
        session: dict[str, Any] = {"topic": "my niece", "context": {"hometown": "Boston"}}
        session |= {"rounds": rounds, "fillers": fillers}
        query: dict[str, Any] = {
            "question": "How old is my niece?",
            "answer": "28 years old",
            "wrong": ("27 years old", "30 years old", "31 years old"),
            "required_words": ("niece",),
            **asked,
        }
        return TrajectoryPlan(
            trajectory_id="u1/simple/roles/0",
            user_id="u1",
            scene=scene,
            kind=KINDS["simple"],
            scenario="roles",
            language=language,
            sessions=(
                PlannedSession(messages=messages, **session),
                PlannedSession(messages=messages[::-1], **session),
            ),
            query=PlannedQuestion(**query),
        )

    return plan


@pytest.fixture(scope="session")
def simulator() -> Callable[..., ScriptedChat]:
    """Return the scripted chat with replaced handlers, for example `simulator(told=handler)`."""

    def chat(**instead: Any) -> ScriptedChat:
        return ScriptedChat({**HANDLERS, **{f"membench/{stem}": each for stem, each in instead.items()}})

    return chat
