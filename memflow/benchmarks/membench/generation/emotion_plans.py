"""Plans for questions about the user's mood, which remarks about an event show and which no message names.

The paper has such questions (table 7) but no procedure; this procedure is ours. One session has an event and remarks in
the mood of the answer. Another session has an event and remarks in a clearly different mood, which is a wrong option
(sample/emotions_*.yaml).
"""

from functools import cache

from pydantic import Field

from memflow.benchmarks.membench.generation.liked_items import DISTRACTOR_COUNT
from memflow.benchmarks.membench.generation.plans import (
    PlannedMessage,
    PlannedQuestion,
    PlannedSession,
    PlanRequest,
    TrajectoryPlan,
)
from memflow.benchmarks.membench.generation.vocabulary import PACKAGE, FrozenModel, Language, Words
from memflow.benchmarks.packaged import load_yaml


class Mood(FrozenModel):
    """A mood, with events and remarks that show the mood, words that name the mood, and similar moods."""

    mood: Words
    named: tuple[Words, ...] = Field(min_length=1)
    near: tuple[Words, ...]
    happenings: tuple[Words, ...] = Field(min_length=6)
    remarks: tuple[Words, ...] = Field(min_length=6)


class EmotionTemplates(FrozenModel):
    """The moods of a language. In the question, the event replaces `$happening`."""

    asked: Words
    topic: Words
    stop: Words
    """End of a sentence."""
    moods: tuple[Mood, ...] = Field(min_length=8)

    def apart_from(self, *excluded: Mood) -> list[Mood]:
        """Return all moods except the given moods and the moods similar to them."""
        return [
            each
            for each in self.moods
            if all(
                each != one and each.mood not in one.near and one.mood not in each.near for one in excluded
            )
        ]


@cache
def emotion_templates(language: Language) -> EmotionTemplates:
    """Return the bundled moods of a language."""
    return EmotionTemplates.model_validate(load_yaml(PACKAGE, f"sample/emotions_{language}.yaml"))


def plan_emotion(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan of two sessions in two moods and a question about one of the moods."""
    words, rng = emotion_templates(request.language), request.rng
    mood = rng.choice(words.moods)
    other = rng.choice(words.apart_from(mood))
    # Wrong moods may be similar to each other, but not to the right one.
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
    """Return a session with an event, remarks about it within minutes, and conversation about it."""
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
