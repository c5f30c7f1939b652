"""A plan written by hand, tasks of plans, and simulators that do as a test says."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from memflow.benchmarks.membench.generation.lives import Life, Thing
from memflow.benchmarks.membench.generation.planning import Task
from memflow.benchmarks.membench.generation.plans import Beat, Plan, Query, Talk
from memflow.benchmarks.membench.generation.preferences import shipped
from memflow.benchmarks.membench.kinds import KINDS
from memflow.benchmarks.membench.parameters import Parameters
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


CATEGORIES = {
    "en": {"movie": "Comedy", "food": "Sour", "book": "Poetry"},
    "zh": {"movie": "喜剧片", "food": "酸", "book": "历史"},
}


@pytest.fixture(scope="session")
def task() -> Callable[..., Task]:
    """A task of somebody who likes comedies, sour dishes and poetry: `task("highlevel", "movie", seed=3)`."""

    def of(kind="highlevel", scenario="movie", language="en", seed=0, liked=None, **parameters: Any) -> Task:
        liked = CATEGORIES[language] if liked is None else liked
        user = Thing("self", "self", "Ada Berg", "self", {"hometown": "A", "work_location": "B", **liked})
        return Task(
            life=Life("u1", language, (user,)),
            kind=KINDS[kind],
            scenario=scenario,
            number=0,
            parameters=Parameters(language=language, **parameters),
            preferences=shipped(language),
            chance=random.Random(seed),
        )

    return of
