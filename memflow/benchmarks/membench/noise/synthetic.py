"""Synthetic noise: news on topics that no user graph contains, from sample/noise_en.yaml and noise_zh.yaml.

Each unit is about one topic. The topic's phrases fill sentence templates. Sizes are those of the published noise: three
rounds with about 1,000 tokens in participation, three messages with about 100 in observation.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import Field, StringConstraints

from memflow.benchmarks.membench.generation.vocabulary import Language, words_loader
from memflow.benchmarks.membench.kinds import Scene
from memflow.benchmarks.membench.turns import Step
from memflow.benchmarks.models import StrictModel
from memflow.fingerprint import seeded
from memflow.tokens import estimate

UNIT_STEPS = 3
"""Rounds or messages per unit, as published."""
USER_SENTENCES = 2
"""User sentences per round; in observation a message is one sentence."""
ASSISTANT_SENTENCES = 8
"""Assistant sentences per round."""
POOL_FACTOR = 2
"""Ratio of the pool's tokens to a trajectory's, so that trajectories have different noise."""

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Several = Annotated[tuple[Words, ...], Field(min_length=2)]


@dataclass(frozen=True)
class NoiseUnit:
    """Steps of noise that are inserted together. The id is unique in the pool and contains no slash."""

    unit_id: str
    steps: tuple[Step, ...]

    @property
    def texts(self) -> list[str]:
        """The texts of all steps."""
        return [text for step in self.steps for text in (step.user, step.assistant) if text is not None]

    @property
    def tokens(self) -> int:
        """The number of tokens of all texts."""
        return sum(map(estimate, self.texts))


class _Topic(StrictModel):
    thing: Several
    done: Several
    cause: Several
    effect: Several
    next: Several
    details: Several


class Grammar(StrictModel):
    """The topics with their phrases, and the templates of user reports and assistant remarks."""

    bodies: Several
    reports: Annotated[tuple[Words, ...], Field(min_length=UNIT_STEPS * USER_SENTENCES)]
    remarks: Several
    topics: Mapping[str, _Topic]


load_grammar = words_loader(Grammar, "sample/noise")
"""Returns the grammar of a language."""


@cache
def synthetic_units(scene: Scene, language: Language, tokens: int) -> tuple[NoiseUnit, ...]:
    """Return distinct units for trajectories of this length. A longer pool starts with the units of a shorter pool."""
    wanted = POOL_FACTOR * tokens
    found: list[NoiseUnit] = []
    for unit in generate_units(scene, language):
        if wanted <= 0:
            break
        found.append(unit)
        wanted -= unit.tokens
    return tuple(found)


def generate_units(scene: Scene, language: Language) -> Iterator[NoiseUnit]:
    """Yield distinct units without end, taking the topics in turn. The sequence is the same in every run."""
    of = load_grammar(language)
    said: set[tuple[Step, ...]] = set()
    names = list(of.topics)
    number = 0
    while True:
        topic = names[number % len(names)]
        steps = _steps(of, of.topics[topic], scene, language, random.Random(seeded(scene, language, number)))
        if steps not in said:
            said.add(steps)
            yield NoiseUnit(f"{topic}-{number}", steps)
        number += 1


def _steps(
    of: Grammar, topic: _Topic, scene: Scene, language: Language, chance: random.Random
) -> tuple[Step, ...]:
    """Return three steps about one event. No template or detail occurs twice."""
    fixed = {name: chance.choice(getattr(topic, name)) for name in ("thing", "done")}

    def join(frames: Sequence[str]) -> str:
        return ("" if language == "zh" else " ").join(map(sentence, frames))

    def sentence(frame: str) -> str:
        """Return a sentence template, filled with random reasons, effects and plans of the topic."""
        drawn = {name: chance.choice(getattr(topic, name)) for name in ("cause", "effect", "next")}
        filled = frame.format(**fixed, **drawn, body=chance.choice(of.bodies))
        return filled[0].upper() + filled[1:]

    if scene == "observation":
        return tuple(Step(join([frame])) for frame in chance.sample(of.reports, UNIT_STEPS))
    reports = chance.sample(of.reports, UNIT_STEPS * USER_SENTENCES)
    remarks = chance.sample((*of.remarks, *topic.details), UNIT_STEPS * ASSISTANT_SENTENCES)
    return tuple(
        Step(
            join(reports[step * USER_SENTENCES : (step + 1) * USER_SENTENCES]),
            join(remarks[step * ASSISTANT_SENTENCES : (step + 1) * ASSISTANT_SENTENCES]),
        )
        for step in range(UNIT_STEPS)
    )
