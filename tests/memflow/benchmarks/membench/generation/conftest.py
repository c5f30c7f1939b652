"""A plan written by hand, and simulators that do as a test says."""

from collections.abc import Callable
from typing import Any

import pytest

from memflow.benchmarks.membench.generation.plans import Beat, Plan, Query, Talk
from memflow.benchmarks.membench.kinds import KINDS
from memflow.benchmarks.membench.scripted import HANDLERS
from memflow.chat.scripted import ScriptedChat

AGE = {"entity": "niece", "attribute": "age", "value": "28 years old"}


@pytest.fixture(scope="session")
def planned() -> Callable[..., Plan]:
    """Two sessions of two beats each; the second beat of the first and the first of the second are evidence."""

    def plan(scene="participation", language="en", rounds=0, fillers=(), **asked: Any) -> Plan:
        beats = (
            Beat("My niece plays chess.", keeps=("chess",)),
            Beat("My niece is 28 years old.", keeps=("28 years old",), exposes=AGE),
        )
        talk: dict[str, Any] = {"topic": "my niece", "context": {"hometown": "Boston"}}
        talk |= {"rounds": rounds, "fillers": fillers}
        query: dict[str, Any] = {
            "question": "How old is my niece?",
            "answer": "28 years old",
            "evidence": ((0, 1), (1, 0)),
            "keeps": ("niece",),
            **asked,
        }
        return Plan(
            trajectory_id="u1/simple/roles/0",
            user_id="u1",
            scene=scene,
            kind=KINDS["simple"],
            scenario="roles",
            language=language,
            talks=(Talk(beats=beats, **talk), Talk(beats=beats[::-1], **talk)),
            query=Query(**query),
        )

    return plan


@pytest.fixture(scope="session")
def simulator() -> Callable[..., ScriptedChat]:
    """The scripted chat, with other handlers for some prompts: `simulator(told=handler)`."""

    def chat(**instead: Any) -> ScriptedChat:
        return ScriptedChat({**HANDLERS, **{f"membench/{stem}": each for stem, each in instead.items()}})

    return chat
