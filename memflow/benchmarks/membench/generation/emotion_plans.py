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

from memflow.benchmarks.membench.generation.liked_items import WRONG
from memflow.benchmarks.membench.generation.plans import Beat, Plan, Query, Talk, Task
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


class Moods(_Part):
    """The moods of one language; the question, in which $happening stands for what has happened."""

    asked: Words
    topic: Words
    stop: Words
    """What ends a sentence."""
    moods: tuple[Mood, ...] = Field(min_length=8)

    def apart_from(self, *moods: Mood) -> list[Mood]:
        """The moods that are neither one of these nor near to one."""
        return [
            each
            for each in self.moods
            if all(each != one and each.mood not in one.near and one.mood not in each.near for one in moods)
        ]


@cache
def moods(language: Language) -> Moods:
    """The moods of a language."""
    source = files("memflow.benchmarks.membench").joinpath("sample", f"emotions_{language}.yaml")
    return Moods.model_validate(yaml.safe_load(source.read_text(encoding="utf-8")))


def emotion(task: Task) -> Plan:
    """Two sessions in two moods, one of which is asked for."""
    words, chance = moods(task.language), task.chance
    mood = chance.choice(words.moods)
    other = chance.choice(words.apart_from(mood))
    # Only the right mood has to be told from the others, which may be near each other.
    wrong = chance.sample([each for each in words.apart_from(mood) if each != other], WRONG - 1)
    happening = chance.choice(mood.happenings)
    asked_of = _session(task, words, mood, happening)
    beside = _session(task, words, other, chance.choice(other.happenings), told=False)
    talks = (asked_of, beside) if chance.random() < 0.5 else (beside, asked_of)
    at = talks.index(asked_of)
    query = Query(
        question=words.asked.replace("$happening", happening),
        answer=mood.mood,
        evidence=tuple((at, beat) for beat in range(len(asked_of.beats))),
        wrong=(other.mood, *(each.mood for each in wrong)),
        keeps=(happening,),
    )
    return task.plan(talks, query)


def _session(task: Task, words: Moods, mood: Mood, happening: str, told: bool = True) -> Talk:
    """What has happened and, at once, as many remarks as the parameters have items; then talk about it."""
    chance, parameters = task.chance, task.parameters
    remarks = chance.sample(mood.remarks, min(chance.randint(*parameters.items), len(mood.remarks)))
    sentence = f"{happening[0].upper()}{happening[1:]}{words.stop}"
    beats = [
        Beat(said, exposes={"entity": "user", "attribute": "mood", "value": mood.mood} if told else None)
        for said in (sentence, *remarks)
    ]
    fillers = (*(0 for _ in remarks), chance.randint(*parameters.fillers))
    return Talk(words.topic, tuple(beats), fillers=fillers, avoids=mood.named, at_once=True)
