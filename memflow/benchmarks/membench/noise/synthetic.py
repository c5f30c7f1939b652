"""Noise of our own making: news of matters that are in nobody's life, from sample/noise_en.yaml and noise_zh.yaml.

A unit is about one thing of one topic. Its sentences are frames filled with the topic's phrases, so that there is no
end of distinct units. Where two speak it is three rounds and about 1,000 tokens long, where one is observed three
messages and about 100: the lengths of the published noise.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from memflow.benchmarks.membench.kinds import Scene
from memflow.benchmarks.membench.noise.insertion import Unit
from memflow.benchmarks.membench.turns import Step
from memflow.fingerprint import seeded
from memflow.tokens import estimate

STEPS = 3
"""Rounds or messages of a unit, as published."""
SPOKEN = 2
"""Sentences that a user says in a round; where one is observed, a message is a sentence."""
ANSWERED = 8
"""Sentences that the assistant says in a round."""
SPARE = 2
"""How many times the tokens that a trajectory needs are in its pool, so that trajectories differ in their noise."""

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Several = Annotated[tuple[Words, ...], Field(min_length=2)]


class _Topic(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    thing: Several
    done: Several
    cause: Several
    effect: Several
    next: Several
    details: Several


class Grammar(BaseModel):
    """Topics and their phrases, and frames: what a user reports, and what an assistant remarks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bodies: Several
    reports: Annotated[tuple[Words, ...], Field(min_length=STEPS * SPOKEN)]
    remarks: Several
    topics: Mapping[str, _Topic]


@cache
def grammar(language: str) -> Grammar:
    """The grammar in `en` or `zh`."""
    text = (
        files("memflow.benchmarks.membench")
        .joinpath(f"sample/noise_{language}.yaml")
        .read_text(encoding="utf-8")
    )
    return Grammar.model_validate(yaml.safe_load(text))


@cache
def pool(scene: Scene, language: str, tokens: int) -> tuple[Unit, ...]:
    """Distinct units enough for trajectories of so many tokens. The longer pool begins with the shorter one's units."""
    wanted = SPARE * tokens
    found: list[Unit] = []
    for unit in units(scene, language):
        if wanted <= 0:
            break
        found.append(unit)
        wanted -= sum(estimate(step.user) + estimate(step.assistant or "") for step in unit.steps)
    return tuple(found)


def units(scene: Scene, language: str) -> Iterator[Unit]:
    """Units without end and none twice, topic by topic in turn; the same in every run."""
    of = grammar(language)
    said: set[tuple[Step, ...]] = set()
    names = list(of.topics)
    number = 0
    while True:
        topic = names[number % len(names)]
        steps = _steps(of, of.topics[topic], scene, language, random.Random(seeded(scene, language, number)))
        if steps not in said:
            said.add(steps)
            yield Unit(f"{topic}-{number}", steps)
        number += 1


def _steps(
    of: Grammar, topic: _Topic, scene: Scene, language: str, chance: random.Random
) -> tuple[Step, ...]:
    """Three steps about one thing and what became of it; no frame and no detail is used twice."""
    fixed = {name: chance.choice(getattr(topic, name)) for name in ("thing", "done")}

    def told(frames: Sequence[str]) -> str:
        return ("" if language == "zh" else " ").join(map(sentence, frames))

    def sentence(frame: str) -> str:
        """The frame filled, each time with other reasons, effects and plans; a detail has nothing to fill."""
        drawn = {name: chance.choice(getattr(topic, name)) for name in ("cause", "effect", "next")}
        filled = frame.format(**fixed, **drawn, body=chance.choice(of.bodies))
        return filled[0].upper() + filled[1:]

    if scene == "observation":
        return tuple(Step(told([frame])) for frame in chance.sample(of.reports, STEPS))
    reports = chance.sample(of.reports, STEPS * SPOKEN)
    remarks = chance.sample((*of.remarks, *topic.details), STEPS * ANSWERED)
    return tuple(
        Step(
            told(reports[step * SPOKEN : (step + 1) * SPOKEN]),
            told(remarks[step * ANSWERED : (step + 1) * ANSWERED]),
        )
        for step in range(STEPS)
    )
