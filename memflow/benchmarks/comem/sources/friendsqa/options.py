"""What stands beside the right answer: answers to other questions of its kind in its season, or other people.

None of them is right too, as far as words tell: it has no word in common with any accepted answer, and is not said in
the scene that is asked about. Where several would do, those come first that another speaker says and that are about as
long as the right one.
"""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.benchmarks.comem.sources.friendsqa.scenes import Scene
from memflow.benchmarks.comem.sources.friendsqa.spans import People, Span, words
from memflow.benchmarks.comem.sources.friendsqa.text import written

WRONG = 3
_NEAREST = 8
"""Of so many that come first the wrong options are drawn."""
_SAME_SPEAKER = 0.5
"""What an option of the same speaker, or of nobody, counts as in length: a factor of e to this."""


@dataclass(frozen=True)
class Option:
    """An option, and the speaker of whom it is true; empty where nobody is named."""

    text: str
    true_of: str


def wrong_options(
    gold: Span,
    accepted: Sequence[Span],
    scene: Scene,
    question: str,
    pool: Iterable[Span],
    people: People,
    draw: random.Random,
) -> list[Option]:
    """Up to WRONG options that are not right. `pool`: the right answers to questions of the kind in other scenes."""
    if gold.person is not None:
        return _others(accepted, scene, question, people, draw)
    said = said_in(scene)
    right = frozenset().union(*(each.words for each in accepted))
    fit = [each for each in pool if not each.words & right and not each.words <= said]
    draw.shuffle(fit)
    fit.sort(key=lambda each: _distance(gold, each))
    near: list[Span] = []
    for each in fit:
        if len(near) < _NEAREST and not any(_says_the_same(each, other) for other in near):
            near.append(each)
    return [Option(each.text, each.true_of) for each in draw.sample(near, min(WRONG, len(near)))]


def said_in(scene: Scene) -> frozenset[str]:
    """The words of a scene, and of its speakers' names."""
    said = (written(each.utterance).text for each in scene.said)
    return words(" ".join((*said, *scene.speakers)))


def _others(
    accepted: Sequence[Span], scene: Scene, question: str, people: People, draw: random.Random
) -> list[Option]:
    """People who are no accepted answer: first those of the scene, then those who speak most in the season; those whom
    the question names, of whom it is seldom true, last."""
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


def _distance(gold: Span, other: Span) -> float:
    """How far an option is from being as long as the right one and another speaker's."""
    length = abs(math.log(len(other.text) / len(gold.text)))
    elsewhere = other.true_of not in ("", gold.true_of)
    return length + (0.0 if elsewhere else _SAME_SPEAKER)


def _says_the_same(one: Span, other: Span) -> bool:
    return one.words <= other.words or other.words <= one.words
