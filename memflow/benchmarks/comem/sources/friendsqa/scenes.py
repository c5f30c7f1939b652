"""The schema of a published FriendsQA scene, and its validation.

Texts are tokens separated by spaces. An answer is a token span of one utterance, or the speaker of the utterance.
"""

import re
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from memflow.benchmarks.published_file import Said

NOTE, ALL = "#NOTE#", "#ALL#"
"""The speakers of stage directions and of utterances by everyone."""
CALLED = {NOTE: "Note", ALL: "All"}

_TITLE = re.compile(r"s(\d+)_e(\d+)_c(\d+)")
Title = Annotated[str, StringConstraints(pattern=rf"^{_TITLE.pattern}$")]


class _PublishedModel(BaseModel):
    model_config = ConfigDict(frozen=True)


class SceneUtterance(_PublishedModel):
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


class AnnotatedAnswer(_PublishedModel):
    """An annotator's answer: the tokens from `inner_start` to `inner_end`, inclusive, or a speaker of the utterance."""

    answer_text: Said
    utterance_id: int = Field(ge=0)
    inner_start: int
    inner_end: int
    is_speaker: bool


class SceneQuestion(_PublishedModel):
    """A question with its annotated answers. The id ends in the question's kind and an optional `_Paraphrased`."""

    id: Said
    question: Said
    answers: tuple[AnnotatedAnswer, ...] = Field(min_length=1)


class SceneParagraph(_PublishedModel):
    """The utterances and questions of a scene. In the published file, the key of the utterances ends with a colon."""

    utterances: tuple[SceneUtterance, ...] = Field(min_length=1, validation_alias="utterances:")
    qas: tuple[SceneQuestion, ...]

    @model_validator(mode="after")
    def _answers_are_there(self) -> Self:
        for number, each in enumerate(self.utterances):
            if each.uid != number:
                raise ValueError(
                    f"utterance {number} has the `uid` {each.uid}; number the utterances 0, 1, 2, ..."
                )
        for question in self.qas:
            for number, answer in enumerate(question.answers, start=1):
                if wrong := self._answer_error(answer):
                    raise ValueError(f"question {question.id}, answer {number}: {wrong}")
        return self

    def _answer_error(self, answer: AnnotatedAnswer) -> str | None:
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


class FriendsQAScene(_PublishedModel):
    """A scene. The id `s01_e23_c06` means season 1, episode 23, scene 6."""

    title: Title
    paragraphs: tuple[SceneParagraph] = Field()

    @model_validator(mode="after")
    def _questions_are_its_own(self) -> Self:
        names = [question.id for question in self.questions]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(
                f"scene {self.title}: the question id {twice!r} occurs twice; rename one of the questions"
            )
        for name in names:
            if kind_of(name) is None or not name.startswith(f"{self.title}_"):
                raise ValueError(
                    f"question {name}: its id does not begin with the scene's title or does not end with a "
                    f"question kind ({', '.join(KINDS)})"
                )
        return self

    @property
    def said(self) -> tuple[SceneUtterance, ...]:
        """The utterances of the scene in order."""
        return self.paragraphs[0].utterances

    @property
    def questions(self) -> tuple[SceneQuestion, ...]:
        """The questions of all paragraphs of the scene."""
        return self.paragraphs[0].qas

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
