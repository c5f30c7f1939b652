"""Dialogues of a user's own: a JSON list of contexts with their messages and questions (docs/how-to/data.md).

Messages and options are counted from 1. A question may say from which message on which option is right (`known`), so
that its keys need no annotator.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Asked, Context, Known, Line
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File, Said
from memflow.records import Record

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^/\s][^/]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Message(_Strict):
    """What one says. Everybody but an assistant is a `user`."""

    text: Said
    role: Literal["user", "assistant"] = "user"
    speaker: Name | None = None
    session: int = Field(0, ge=0)
    sent_at: Said | None = None


class From(_Strict):
    """From message number `after` on, option number `option` is right, by those messages."""

    after: int = Field(ge=1)
    option: int = Field(ge=1)
    evidence: tuple[Annotated[int, Field(ge=1)], ...] = ()


class Question(_Strict):
    """A multiple choice. `answer` is right in the end; `end` is how many messages may be seen for it."""

    id: Name
    question: Said
    options: tuple[Said, ...] = Field(min_length=2, max_length=10)
    answer: int | None = Field(None, ge=1)
    category: Name | None = None
    asked_at: Said | None = None
    known: tuple[From, ...] = ()
    end: int | None = Field(None, ge=1)
    true_of: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _numbers_lead_somewhere(self) -> Self:
        if len(set(self.options)) < len(self.options):
            raise ValueError("an option is there twice")
        for number in (self.answer, *(each.option for each in self.known)):
            if number is not None and number > len(self.options):
                raise ValueError(f"there is no option {number}; there are {len(self.options)}")
        if self.true_of and len(self.true_of) != len(self.options):
            raise ValueError("true_of names a speaker for each option, or an empty text")
        return self


class Dialogue(_Strict):
    """A context: what is said, and what is asked of it."""

    id: Name
    language: Literal["en", "zh"] = "en"
    messages: tuple[Message, ...] = Field(min_length=1)
    questions: tuple[Question, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _messages_are_there(self) -> Self:
        names = [question.id for question in self.questions]
        if len(set(names)) < len(names):
            raise ValueError("two questions have the same id")
        for question in self.questions:
            for each in question.known:
                for number in (each.after, *each.evidence):
                    if number > len(self.messages):
                        raise ValueError(f"question {question.id}: there is no message {number}")
                if any(number > each.after for number in each.evidence):
                    raise ValueError(f"question {question.id}: its evidence comes after it is known")
        return self


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """A record per context. Raises BadInput."""
    published = file.json()
    if not isinstance(published, list) or not published:
        raise file.bad("it is no list of dialogues, or an empty one")
    return [
        (file.shaped(Dialogue, raw, f"dialogue {number}").id, raw)
        for number, raw in enumerate(published, start=1)
    ]


def contexts(domain: Domain, records: Sequence[Record], parameters: Parameters) -> list[Context]:
    """A context per record."""
    return [
        _context(record.dataset, Dialogue.model_validate(json.loads(record.content))) for record in records
    ]


def _context(dataset: str, dialogue: Dialogue) -> Context:
    lines = (
        Line(each.text, each.role, each.speaker, each.session, each.sent_at) for each in dialogue.messages
    )
    return Context(
        dialogue.id,
        dataset,
        tuple(lines),
        tuple(_asked(question) for question in dialogue.questions),
        dialogue.language,
    )


def _asked(question: Question) -> Asked:
    known = (
        Known(each.after, each.option, tuple(number - 1 for number in each.evidence))
        for each in question.known
    )
    return Asked(
        question.id,
        question.question,
        question.options,
        question.answer,
        question.category,
        question.asked_at,
        tuple(known),
        question.end,
        question.true_of,
    )
