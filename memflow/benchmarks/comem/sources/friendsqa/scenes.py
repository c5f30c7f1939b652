"""A scene of FriendsQA as its files have it, and what is wrong with one that leads nowhere.

Texts are tokens with spaces between; an answer is a run of tokens of one utterance, or who speaks it. How texts are
written out is text.py.
"""

import re
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from memflow.benchmarks.published_file import Said

NOTE, ALL = "#NOTE#", "#ALL#"
"""Who a stage direction, and what everybody says, is by in the files."""
CALLED = {NOTE: "Note", ALL: "All"}

_TITLE = re.compile(r"s(\d+)_e(\d+)_c(\d+)")
Title = Annotated[str, StringConstraints(pattern=rf"^{_TITLE.pattern}$")]


class _Published(BaseModel):
    model_config = ConfigDict(frozen=True)


class Utterance(_Published):
    """What one or several say at once."""

    uid: int = Field(ge=0)
    speakers: tuple[Said, ...] = Field(min_length=1)
    utterance: str

    @property
    def speaker(self) -> str:
        """Who says it: `Chandler Bing and Joey Tribbiani`, `Note`, `All`."""
        return " and ".join(CALLED.get(name, name) for name in self.speakers)

    @property
    def named(self) -> bool:
        """Whether it is said by people who are named."""
        return not any(name.startswith("#") for name in self.speakers)


class Answer(_Published):
    """An annotator's: tokens `inner_start` to `inner_end`, both included, or who speaks the utterance."""

    answer_text: Said
    utterance_id: int = Field(ge=0)
    inner_start: int
    inner_end: int
    is_speaker: bool


class Question(_Published):
    """A question with the answers that annotators gave; its id ends in the kind of question, and `_Paraphrased`."""

    id: Said
    question: Said
    answers: tuple[Answer, ...] = Field(min_length=1)


class Paragraph(_Published):
    """What is said in a scene, and asked of it. The colon is the files' own."""

    utterances: tuple[Utterance, ...] = Field(min_length=1, validation_alias="utterances:")
    qas: tuple[Question, ...]

    @model_validator(mode="after")
    def _answers_are_there(self) -> Self:
        if [each.uid for each in self.utterances] != list(range(len(self.utterances))):
            raise ValueError("the uids of its utterances do not count up from 0")
        for question in self.qas:
            for number, answer in enumerate(question.answers, start=1):
                if wrong := self._amiss(answer):
                    raise ValueError(f"question {question.id}, answer {number}: {wrong}")
        return self

    def _amiss(self, answer: Answer) -> str | None:
        if answer.utterance_id >= len(self.utterances):
            return f"there is no utterance {answer.utterance_id}"
        held = self.utterances[answer.utterance_id]
        if answer.is_speaker:
            return None if answer.answer_text in held.speakers else "nobody of that name speaks the utterance"
        first, end = answer.inner_start, answer.inner_end + 1
        tokens = held.utterance.split()
        if not 0 <= first < end <= len(tokens):
            return f"tokens {first} to {end - 1} are not in utterance {held.uid}, which has {len(tokens)}"
        if tokens[first:end] != answer.answer_text.split():
            return f"tokens {first} to {end - 1} of utterance {held.uid} are not its text"
        return None


class Scene(_Published):
    """A scene: `s01_e23_c06` is of season 1, episode 23, the sixth."""

    title: Title
    paragraphs: tuple[Paragraph] = Field()

    @model_validator(mode="after")
    def _questions_are_its_own(self) -> Self:
        names = [question.id for question in self.asked]
        if len(set(names)) < len(names):
            raise ValueError("two questions have the same id")
        for name in names:
            if kind_of(name) is None or not name.startswith(f"{self.title}_"):
                raise ValueError(f"question {name}: its id is not the scene's title and a kind of question")
        return self

    @property
    def said(self) -> tuple[Utterance, ...]:
        """What is said, in order."""
        return self.paragraphs[0].utterances

    @property
    def asked(self) -> tuple[Question, ...]:
        """What is asked of it."""
        return self.paragraphs[0].qas

    @property
    def at(self) -> tuple[int, int, int]:
        """Season, episode and number: how scenes are sorted."""
        found = _TITLE.fullmatch(self.title)
        assert found is not None  # the title was checked
        season, episode, number = map(int, found.groups())
        return season, episode, number

    @property
    def place(self) -> str:
        """`season 1, episode 23, scene 6`."""
        season, episode, number = self.at
        return f"season {season}, episode {episode}, scene {number}"

    @property
    def speakers(self) -> tuple[str, ...]:
        """The people who are named as speakers, in the order of their first words."""
        names = (name for each in self.said if each.named for name in each.speakers)
        return tuple(dict.fromkeys(names))


KINDS = ("Who", "What", "Where", "When", "Why", "How")
PARAPHRASED = "_Paraphrased"


def kind_of(question_id: str) -> str | None:
    """The kind of question that an id ends in, but for `_Paraphrased`; None where it ends in none."""
    kind = question_id.removesuffix(PARAPHRASED).rpartition("_")[2]
    return kind if kind in KINDS else None
