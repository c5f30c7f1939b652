"""Distractors: answers to other questions of the same kind and season, or other people.

A distractor shares no word with any annotated answer, and does not occur in the scene. Those of another speaker and
of similar length come first.
"""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.benchmarks.comem.sources.friendsqa.scenes import FriendsQAScene
from memflow.benchmarks.comem.sources.friendsqa.spans import AnswerSpan, SeasonSpeakers, words
from memflow.benchmarks.comem.sources.friendsqa.text import detokenize

WRONG = 3
_NEAREST = 8
"""Number of best distractors to sample from."""
_SAME_SPEAKER = 0.5
"""Penalty for a distractor of the same speaker or of none, in units of the log length ratio."""


@dataclass(frozen=True)
class Option:
    """An option, and the speaker of whom it is true, or ""."""

    text: str
    true_of: str


def wrong_options(
    gold: AnswerSpan,
    accepted: Sequence[AnswerSpan],
    scene: FriendsQAScene,
    question: str,
    pool: Iterable[AnswerSpan],
    people: SeasonSpeakers,
    draw: random.Random,
) -> list[Option]:
    """Return up to WRONG distractors. `pool` has the gold answers to questions of the same kind in other scenes."""
    if gold.person is not None:
        return _others(accepted, scene, question, people, draw)
    said = said_in(scene)
    right = frozenset().union(*(each.words for each in accepted))
    fit = [each for each in pool if not each.words & right and not each.words <= said]
    draw.shuffle(fit)
    fit.sort(key=lambda each: _distance(gold, each))
    near: list[AnswerSpan] = []
    for each in fit:
        if len(near) < _NEAREST and not any(_says_the_same(each, other) for other in near):
            near.append(each)
    return [Option(each.text, each.true_of) for each in draw.sample(near, min(WRONG, len(near)))]


def said_in(scene: FriendsQAScene) -> frozenset[str]:
    """Return the words of a scene, including its speakers' names."""
    said = (detokenize(each.utterance).text for each in scene.said)
    return words(" ".join((*said, *scene.speakers)))


def _others(
    accepted: Sequence[AnswerSpan],
    scene: FriendsQAScene,
    question: str,
    people: SeasonSpeakers,
    draw: random.Random,
) -> list[Option]:
    """Return people who are not annotated answers: first of the scene, then the most frequent of the season. People
    named in the question come last."""
    here = list(scene.speakers)
    draw.shuffle(here)
    right = {each.person for each in accepted}
    told = frozenset().union(*(each.words for each in accepted if each.person is None))
    asked = words(question)
    others = [
        name
        for name in dict.fromkeys((*here, *people.names))
        if name not in right and not words(name.split()[0]) & told
    ]
    others.sort(key=lambda name: bool(words(name.split()[0]) & asked))
    return [Option(name, name) for name in others[:WRONG]]


def _distance(gold: AnswerSpan, other: AnswerSpan) -> float:
    """Return the distance in length and speaker between an option and the gold answer."""
    length = abs(math.log(len(other.text) / len(gold.text)))
    elsewhere = other.true_of not in ("", gold.true_of)
    return length + (0.0 if elsewhere else _SAME_SPEAKER)


def _says_the_same(one: AnswerSpan, other: AnswerSpan) -> bool:
    return one.words <= other.words or other.words <= one.words
