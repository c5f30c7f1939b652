"""Selection of the gold answer among annotated answers, of the people that names refer to, and of distractors.

A distractor is an answer to another question of the same kind and season, or another person. Distractors share no word
with an annotated answer and do not occur in the scene. Answers of another speaker and of similar length are preferred.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.benchmarks.comem.sources.friendsqa.scenes import (
    AnnotatedAnswer,
    FriendsQAScene,
    SceneQuestion,
    kind_of,
)
from memflow.benchmarks.comem.sources.friendsqa.text import detokenize
from memflow.words import search_words

WRONG = 3
_NEAREST = 8
"""Number of best distractors to sample from."""
_SAME_SPEAKER = 0.5
"""Penalty for a distractor of the same speaker or of none, in units of the log length ratio."""
LEAST = 3
"""Minimum length of an abbreviated first name: `Pete` for Peter."""


@dataclass(frozen=True)
class AnswerSpan:
    """An answer: its text, its words, the person that it names, and its utterance.

    `true_of` is the person, without a person the speaker, and without either an empty text.
    """

    text: str
    words: frozenset[str]
    person: str | None
    true_of: str
    utterance: int

    def agrees(self, other: "AnswerSpan") -> bool:
        """Return whether both answers name the same person or share a word."""
        if self.person is not None and other.person is not None:
            return self.person == other.person
        return bool(self.words & other.words)


class SeasonSpeakers:
    """The speakers of a season, most frequent first."""

    def __init__(self, scenes: Iterable[FriendsQAScene]) -> None:
        lines = Counter(
            name for scene in scenes for each in scene.said if each.named for name in each.speakers
        )
        self.names = tuple(sorted(lines, key=lambda name: (-lines[name], name)))

    def person(self, text: str, here: Sequence[str]) -> str | None:
        """Return the person that a text names, or None.

        The text is a full name or an unambiguous first name. First names are looked up among `here`, then in the
        season.
        """
        if text in self.names:
            return text
        if len(text) < LEAST or not text.isalpha() or not text[0].isupper():
            return None
        for names in (here, self.names):
            found = [name for name in names if name.startswith(text)]
            if found:
                return found[0] if len(found) == 1 else None
        return None


def spans_of(scene: FriendsQAScene, question: SceneQuestion, people: SeasonSpeakers) -> list[AnswerSpan]:
    """Return the annotated answers to a question."""
    return [_span(scene, answer, people, kind_of(question.id) == "Who") for answer in question.answers]


def best(spans: Sequence[AnswerSpan]) -> AnswerSpan | None:
    """Return the annotated answer that agrees with most others, or None if several answers all disagree."""

    def backed(at: int) -> int:
        return sum(spans[at].agrees(other) for place, other in enumerate(spans) if place != at)

    order = sorted(range(len(spans)), key=lambda at: (-backed(at), spans[at].person is None, at))
    return spans[order[0]] if len(spans) == 1 or backed(order[0]) else None


def _span(
    scene: FriendsQAScene, answer: AnnotatedAnswer, people: SeasonSpeakers, asks_who: bool
) -> AnswerSpan:
    held = scene.said[answer.utterance_id]
    if answer.is_speaker:
        text = answer.answer_text
    else:
        text = detokenize(held.utterance).between(answer.inner_start, answer.inner_end)
    person = people.person(text, scene.speakers) if asks_who or answer.is_speaker else None
    if person is not None:
        return AnswerSpan(person, words(person), person, person, held.uid)
    true_of = held.speaker if held.named and not asks_who else ""
    return AnswerSpan(text, words(text), None, true_of, held.uid)


def words(text: str) -> frozenset[str]:
    """Return the content words of a text."""
    return frozenset(search_words(text))


def wrong_options(
    gold: AnswerSpan,
    accepted: Sequence[AnswerSpan],
    scene: FriendsQAScene,
    question: str,
    pool: Iterable[AnswerSpan],
    people: SeasonSpeakers,
    draw: random.Random,
) -> list[str]:
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
    return [each.text for each in draw.sample(near, min(WRONG, len(near)))]


def said_in(scene: FriendsQAScene) -> frozenset[str]:
    """Return the words of a scene, including the names of its speakers."""
    said = (detokenize(each.utterance).text for each in scene.said)
    return words(" ".join((*said, *scene.speakers)))


def _others(
    accepted: Sequence[AnswerSpan],
    scene: FriendsQAScene,
    question: str,
    people: SeasonSpeakers,
    draw: random.Random,
) -> list[str]:
    """Return wrong answers: first people of the scene in random order, then the season's most frequent speakers.

    People whom the question names come last.
    """
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
    return others[:WRONG]


def _distance(gold: AnswerSpan, other: AnswerSpan) -> float:
    length = abs(math.log(len(other.text) / len(gold.text)))
    elsewhere = other.true_of not in ("", gold.true_of)
    return length + (0.0 if elsewhere else _SAME_SPEAKER)


def _says_the_same(one: AnswerSpan, other: AnswerSpan) -> bool:
    return one.words <= other.words or other.words <= one.words
