"""Which of the annotators' answers is the right one, and whether they agree; who is meant by a name.

What other options stand beside it is options.py.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memflow.benchmarks.comem.sources.friendsqa.scenes import Answer, Question, Scene, kind_of
from memflow.benchmarks.comem.sources.friendsqa.text import written
from memflow.words import search_words

LEAST = 3
"""So many letters of a first name stand for it: `Pete` for Peter."""


@dataclass(frozen=True)
class Span:
    """An answer: its text, its words, the person that it is, and which utterance holds it.

    `true_of` is that person, or else who says it; empty where nobody is named.
    """

    text: str
    words: frozenset[str]
    person: str | None
    true_of: str
    utterance: int

    def agrees(self, other: "Span") -> bool:
        """Whether both are the same person, or have a word in common."""
        if self.person is not None and other.person is not None:
            return self.person == other.person
        return bool(self.words & other.words)


class People:
    """Who speaks in a season, those who speak most first."""

    def __init__(self, scenes: Iterable[Scene]) -> None:
        lines = Counter(
            name for scene in scenes for each in scene.said if each.named for name in each.speakers
        )
        self.names = tuple(sorted(lines, key=lambda name: (-lines[name], name)))

    def person(self, text: str, here: Sequence[str]) -> str | None:
        """Whose name a text is: in full, or a first name of one alone, of those `here` or else of the season."""
        if text in self.names:
            return text
        if len(text) < LEAST or not text.isalpha() or not text[0].isupper():
            return None
        for names in (here, self.names):
            found = [name for name in names if name.startswith(text)]
            if found:
                return found[0] if len(found) == 1 else None
        return None


def spans_of(scene: Scene, question: Question, people: People) -> list[Span]:
    """The answers to a question as they stand in its scene."""
    return [_span(scene, answer, people, kind_of(question.id) == "Who") for answer in question.answers]


def best(spans: Sequence[Span]) -> Span | None:
    """The answer that most of the others agree with; a person before other words, the first among equals. None where
    there are several and none agrees with another."""

    def backed(at: int) -> int:
        return sum(spans[at].agrees(other) for place, other in enumerate(spans) if place != at)

    order = sorted(range(len(spans)), key=lambda at: (-backed(at), spans[at].person is None, at))
    return spans[order[0]] if len(spans) == 1 or backed(order[0]) else None


def _span(scene: Scene, answer: Answer, people: People, asks_who: bool) -> Span:
    held = scene.said[answer.utterance_id]
    if answer.is_speaker:
        text = answer.answer_text
    else:
        text = written(held.utterance).between(answer.inner_start, answer.inner_end)
    person = people.person(text, scene.speakers) if asks_who or answer.is_speaker else None
    if person is not None:
        return Span(person, words(person), person, person, held.uid)
    true_of = held.speaker if held.named and not asks_who else ""
    return Span(text, words(text), None, true_of, held.uid)


def words(text: str) -> frozenset[str]:
    """The words of a text that tell something."""
    return frozenset(search_words(text))
