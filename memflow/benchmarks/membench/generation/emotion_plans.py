"""Plans for questions about the user's mood. Remarks after an event show the mood; no message names it.

The paper has such questions (table 7) but describes no procedure. In memflow's procedure, one session has an event and
remarks in the mood of the answer. Another session has an event and remarks in a clearly different mood, which is a
wrong option (sample/emotions_*.yaml). Events and moods are drawn independently, and the answer is drawn from the
options, so neither the event in the question nor the set of options reveals the answer.
"""

import random

from pydantic import Field

from memflow.benchmarks.membench.generation.liked_items import DISTRACTOR_COUNT
from memflow.benchmarks.membench.generation.plans import (
    PlannedMessage,
    PlannedQuestion,
    PlannedSession,
    PlanRequest,
    TrajectoryPlan,
)
from memflow.benchmarks.membench.generation.vocabulary import Words, words_loader
from memflow.benchmarks.models import StrictModel


class Mood(StrictModel):
    """A mood, with remarks that show the mood, words that name the mood, and similar moods."""

    mood: Words
    named: tuple[Words, ...] = Field(min_length=1)
    near: tuple[Words, ...]
    remarks: tuple[Words, ...] = Field(min_length=6)


class EmotionTemplates(StrictModel):
    """The moods of a language, and events that go with any mood. In the question, the event replaces `$happening`."""

    asked: Words
    topic: Words
    stop: Words
    """End of a sentence."""
    happenings: tuple[Words, ...] = Field(min_length=8)
    moods: tuple[Mood, ...] = Field(min_length=8)

    def sample_distant_moods(self, rng: random.Random) -> list[Mood]:
        """Return the moods of the options in random order: no two of them are similar.

        Every mood has three others that are distant from it and from each other.
        """
        found: list[Mood] = []
        for mood in rng.sample(self.moods, len(self.moods)):
            if all(mood.mood not in other.near and other.mood not in mood.near for other in found):
                found.append(mood)
        return rng.sample(found[: DISTRACTOR_COUNT + 1], DISTRACTOR_COUNT + 1)


emotion_templates = words_loader(EmotionTemplates, "sample/emotions")
"""Returns the bundled moods of a language."""


def plan_emotion(request: PlanRequest) -> TrajectoryPlan:
    """Return a plan of two sessions in two moods and a question about one of the moods."""
    words, rng = emotion_templates(request.language), request.rng
    mood, other, *absent = words.sample_distant_moods(rng)
    happening, other_happening = rng.sample(words.happenings, 2)
    asked_of = _session(request, words, mood, happening)
    beside = _session(request, words, other, other_happening, told=False)
    sessions = (asked_of, beside) if rng.random() < 0.5 else (beside, asked_of)
    query = PlannedQuestion(
        question=words.asked.replace("$happening", happening),
        answer=mood.mood,
        wrong=(other.mood, *(each.mood for each in absent)),
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
