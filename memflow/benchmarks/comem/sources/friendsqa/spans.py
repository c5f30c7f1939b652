"""The gold answer among several annotated answers, and the people that names refer to."""

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

LEAST = 3
"""Minimum length of an abbreviated first name: `Pete` for Peter."""


@dataclass(frozen=True)
class AnswerSpan:
    """An answer: its text, its words, the person that it names, and its utterance.

    `true_of` is that person, else the speaker, else "".
    """

    text: str
    words: frozenset[str]
    person: str | None
    true_of: str
    utterance: int

    def agrees(self, other: "AnswerSpan") -> bool:
        """Return whether both name the same person or share a word."""
        if self.person is not None and other.person is not None:
            return self.person == other.person
        return bool(self.words & other.words)


class SeasonSpeakers:
    """The speakers of a season, the most frequent first."""

    def __init__(self, scenes: Iterable[FriendsQAScene]) -> None:
        lines = Counter(
            name for scene in scenes for each in scene.said if each.named for name in each.speakers
        )
        self.names = tuple(sorted(lines, key=lambda name: (-lines[name], name)))

    def person(self, text: str, here: Sequence[str]) -> str | None:
        """Return the person that a text names: in full, or by an unambiguous first name, first among `here`, then in
        the season."""
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
    """Return the answer that agrees with most others, people first; None where several answers all disagree."""

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
