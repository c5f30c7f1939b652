"""The schema of a published FriendsQA scene, and its validation.

Texts are tokens separated by spaces. An answer is a token span of one utterance, or the speaker of the utterance.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from memflow.benchmarks.models import PublishedModel
from memflow.benchmarks.partial import OR_INVALID, InvalidPart
from memflow.benchmarks.published_file import Said

NOTE, ALL = "#NOTE#", "#ALL#"
"""The speakers of stage directions and of utterances by everyone."""
CALLED = {NOTE: "Note", ALL: "All"}

_TITLE = re.compile(r"s(\d+)_e(\d+)_c(\d+)")
Title = Annotated[str, StringConstraints(pattern=rf"^{_TITLE.pattern}$")]


class SceneUtterance(PublishedModel):
    """An utterance of one or more speakers."""

    uid: int = Field(ge=0)
    speakers: tuple[Said, ...] = Field(min_length=1)
    utterance: str

    @property
    def speaker(self) -> str:
        """The speakers as text: `Chandler Bing and Joey Tribbiani`, `Note`, `All`."""
        return " and ".join(CALLED.get(name, name) for name in self.speakers)

    @property
    def named(self) -> bool:
        """True if the speakers are people with names."""
        return not any(name.startswith("#") for name in self.speakers)


class AnnotatedAnswer(PublishedModel):
    """An annotator's answer: the tokens from `inner_start` to `inner_end`, inclusive, or a speaker of the utterance."""

    answer_text: Said
    utterance_id: int = Field(ge=0)
    inner_start: int
    inner_end: int
    is_speaker: bool


class SceneQuestion(PublishedModel):
    """A question with its annotated answers. The id ends in the question's kind and an optional `_Paraphrased`."""

    id: Said
    question: Said
    answers: tuple[AnnotatedAnswer, ...] = Field(min_length=1)


class SceneParagraph(PublishedModel):
    """The utterances and questions of a scene. In the published file, the key of the utterances ends with a colon."""

    utterances: tuple[SceneUtterance, ...] = Field(min_length=1, validation_alias="utterances:")
    qas: tuple[Annotated[SceneQuestion | InvalidPart, OR_INVALID], ...]

    @model_validator(mode="after")
    def _utterances_are_numbered(self) -> Self:
        for number, each in enumerate(self.utterances):
            if each.uid != number:
                raise ValueError(
                    f"utterance {number} has the `uid` {each.uid}; number the utterances 0, 1, 2, ..."
                )
        return self

    def answer_error(self, answer: AnnotatedAnswer) -> str | None:
        if answer.utterance_id >= len(self.utterances):
            return f"utterance {answer.utterance_id} does not exist"
        held = self.utterances[answer.utterance_id]
        if answer.is_speaker:
            return (
                None
                if answer.answer_text in held.speakers
                else "the answer is not a speaker of the utterance"
            )
        first, end = answer.inner_start, answer.inner_end + 1
        tokens = held.utterance.split()
        if not 0 <= first < end <= len(tokens):
            return f"tokens {first} to {end - 1} are not in utterance {held.uid}, which has {len(tokens)}"
        if tokens[first:end] != answer.answer_text.split():
            return f"tokens {first} to {end - 1} of utterance {held.uid} differ from the answer's text"
        return None


class FriendsQAScene(PublishedModel):
    """A scene. The id `s01_e23_c06` means season 1, episode 23, scene 6."""

    title: Title
    paragraphs: tuple[SceneParagraph] = Field()

    @property
    def said(self) -> tuple[SceneUtterance, ...]:
        """The utterances of the scene in order."""
        return self.paragraphs[0].utterances

    @property
    def questions(self) -> tuple[SceneQuestion, ...]:
        """The valid questions of the scene."""
        return tuple(question for question, fault in self._checked() if fault is None)

    @property
    def invalid_questions(self) -> tuple[str, ...]:
        """A text with location and fault for each invalid question of the scene."""
        return tuple(fault for _, fault in self._checked() if fault is not None)

    def _checked(self) -> Iterator[tuple[Any, str | None]]:
        """Yield each question (raw if invalid), with its fault or None."""
        seen: set[str] = set()
        for number, question in enumerate(self.paragraphs[0].qas):
            if isinstance(question, InvalidPart):
                yield question.content, f"question {number}: {question.fault}"
                continue
            fault = self._question_error(question)
            if question.id in seen:
                fault = f"the question id {question.id!r} occurs twice; the first question is kept"
            seen.add(question.id)
            yield question, fault and f"question {question.id}: {fault}"

    def _question_error(self, question: SceneQuestion) -> str | None:
        if kind_of(question.id) is None or not question.id.startswith(f"{self.title}_"):
            return (
                "its id does not begin with the scene's title or does not end with a question kind "
                f"({', '.join(KINDS)})"
            )
        for number, answer in enumerate(question.answers, start=1):
            if wrong := self.paragraphs[0].answer_error(answer):
                return f"answer {number}: {wrong}"
        return None

    @property
    def at(self) -> tuple[int, int, int]:
        """The season, the episode and the number of the scene."""
        found = _TITLE.fullmatch(self.title)
        assert found is not None  # `title` is validated
        season, episode, number = map(int, found.groups())
        return season, episode, number

    @property
    def place(self) -> str:
        """The position of the scene in words: `season 1, episode 23, scene 6`."""
        season, episode, number = self.at
        return f"season {season}, episode {episode}, scene {number}"

    @property
    def speakers(self) -> tuple[str, ...]:
        """The named speakers, in the order of their first utterances."""
        names = (name for each in self.said if each.named for name in each.speakers)
        return tuple(dict.fromkeys(names))


KINDS = ("Who", "What", "Where", "When", "Why", "How")
PARAPHRASED = "_Paraphrased"


def kind_of(question_id: str) -> str | None:
    """Return the question kind in a question id, or None if the id has no kind."""
    kind = question_id.removesuffix(PARAPHRASED).rpartition("_")[2]
    return kind if kind in KINDS else None
