"""Plans of what is asked of a mood that nobody names: it shows in what a user says in a row about one thing.

The paper has such questions (table 7) and publishes nothing that makes them, so how they are made is our own: in one
session something has happened and several remarks that express one mood follow it at once; in another, before or after
it, the same goes for a mood that is quite another. The question asks for the mood at the one thing; the other mood
stands among the options. What people say in a mood is a list of our own writing (sample/emotions_*.yaml).
"""

from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field

from memflow.benchmarks.membench.generation.liked_items import DISTRACTOR_COUNT
from memflow.benchmarks.membench.generation.plans import (
    PlannedMessage,
    PlannedQuestion,
    PlannedSession,
    PlanRequest,
    TrajectoryPlan,
)
from memflow.benchmarks.membench.generation.vocabulary import Language, Words


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Mood(_Part):
    """A mood: what happens in it, what is said in it, the words that would name it, and the moods near it."""

    mood: Words
    named: tuple[Words, ...] = Field(min_length=1)
    near: tuple[Words, ...]
    happenings: tuple[Words, ...] = Field(min_length=6)
    remarks: tuple[Words, ...] = Field(min_length=6)


class EmotionTemplates(_Part):
    """The moods of one language; the question, in which $happening stands for what has happened."""

    asked: Words
    topic: Words
    stop: Words
    """What ends a sentence."""
    moods: tuple[Mood, ...] = Field(min_length=8)

    def apart_from(self, *excluded: Mood) -> list[Mood]:
        """The moods that are neither one of these nor near to one."""
        return [
            each
            for each in self.moods
            if all(
                each != one and each.mood not in one.near and one.mood not in each.near for one in excluded
            )
        ]


@cache
def emotion_templates(language: Language) -> EmotionTemplates:
    """The moods of a language."""
    source = files("memflow.benchmarks.membench").joinpath("sample", f"emotions_{language}.yaml")
    return EmotionTemplates.model_validate(yaml.safe_load(source.read_text(encoding="utf-8")))


def plan_emotion(request: PlanRequest) -> TrajectoryPlan:
    """Two sessions in two moods, one of which is asked for."""
    words, rng = emotion_templates(request.language), request.rng
    mood = rng.choice(words.moods)
    other = rng.choice(words.apart_from(mood))
    # Only the right mood has to be told from the others, which may be near each other.
    wrong = rng.sample([each for each in words.apart_from(mood) if each != other], DISTRACTOR_COUNT - 1)
    happening = rng.choice(mood.happenings)
    asked_of = _session(request, words, mood, happening)
    beside = _session(request, words, other, rng.choice(other.happenings), told=False)
    sessions = (asked_of, beside) if rng.random() < 0.5 else (beside, asked_of)
    at = sessions.index(asked_of)
    query = PlannedQuestion(
        question=words.asked.replace("$happening", happening),
        answer=mood.mood,
        evidence=tuple((at, message) for message in range(len(asked_of.messages))),
        wrong=(other.mood, *(each.mood for each in wrong)),
        required_words=(happening,),
    )
    return request.plan(sessions, query)


def _session(
    request: PlanRequest, words: EmotionTemplates, mood: Mood, happening: str, told: bool = True
) -> PlannedSession:
    """What has happened and, at once, as many remarks as the parameters have items; then talk about it."""
    rng, parameters = request.rng, request.parameters
    remarks = rng.sample(mood.remarks, min(rng.randint(*parameters.items), len(mood.remarks)))
    sentence = f"{happening[0].upper()}{happening[1:]}{words.stop}"
    messages = [
        PlannedMessage(
            said, exposes={"entity": "user", "attribute": "mood", "value": mood.mood} if told else None
        )
        for said in (sentence, *remarks)
    ]
    fillers = (*(0 for _ in remarks), rng.randint(*parameters.fillers))
    return PlannedSession(
        words.topic, tuple(messages), fillers=fillers, forbidden_words=mood.named, within_minutes=True
    )
