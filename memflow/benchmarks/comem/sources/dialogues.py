"""The user's own dialogues: a JSON list of contexts with messages and questions (docs/explanation/comem.md).

Messages and options are numbered from 1. With the domain's parameter `keys = "rule"`, gold labels come from
`known`, without an annotator; the default `annotated` ignores `known`.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion, KnownAnswer
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.models import StrictModel
from memflow.benchmarks.published_file import File, Said
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.records import Record

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^/\s][^/]*$")]


class DialogueMessage(StrictModel):
    """A message. The role `user` includes all speakers except an assistant."""

    text: Said
    role: Literal["user", "assistant"] = "user"
    speaker: Name | None = None
    session: int = Field(0, ge=0)
    sent_at: Said | None = None


class KnownFrom(StrictModel):
    """A known answer: option number `option` is correct after message number `after`.

    `evidence` lists the numbers of the messages that make it correct."""

    after: int = Field(ge=1)
    option: int = Field(ge=1)
    evidence: tuple[Annotated[int, Field(ge=1)], ...] = ()


class DialogueQuestion(StrictModel):
    """A multiple-choice question. `answer` is correct at the end; `end` is the number of visible messages."""

    id: Name
    question: Said
    options: tuple[Said, ...] = Field(min_length=2, max_length=10)
    answer: int | None = Field(None, ge=1)
    category: Name | None = None
    asked_at: Said | None = None
    known: tuple[KnownFrom, ...] = ()
    end: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _numbers_lead_somewhere(self) -> Self:
        if len(set(self.options)) < len(self.options):
            raise ValueError(f"question {self.id}: two options are equal; reword one of them")
        for number in (self.answer, *(each.option for each in self.known)):
            if number is not None and number > len(self.options):
                raise ValueError(
                    f"question {self.id}: option {number} does not exist; use 1 to {len(self.options)}"
                )
        return self


class Dialogue(StrictModel):
    """A context: its messages and questions."""

    id: Name
    language: Literal["en", "zh"] = "en"
    messages: tuple[DialogueMessage, ...] = Field(min_length=1)
    questions: tuple[DialogueQuestion, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _messages_are_there(self) -> Self:
        names = [question.id for question in self.questions]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(
                f"dialogue {self.id}: the question id {twice!r} occurs twice; rename one of the questions"
            )
        for question in self.questions:
            for each in question.known:
                for number in (each.after, *each.evidence):
                    if number > len(self.messages):
                        raise ValueError(
                            f"question {question.id}: message {number} does not exist; use 1 to {len(self.messages)}"
                        )
                if any(number > each.after for number in each.evidence):
                    raise ValueError(
                        f"question {question.id}: evidence in `known` is later than message `after` "
                        f"({each.after}); list only messages up to it"
                    )
        return self


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per context. Raises BadInput."""
    return parse_records(file.json_items("dialogue", start=1), validated(Dialogue, "id"))


def contexts(domain: Domain, records: Sequence[Record], config: CoMemConfig) -> list[Context]:
    """Return one context per dialogue record."""
    return [
        _context(record.dataset, Dialogue.model_validate(json.loads(record.content))) for record in records
    ]


def _context(dataset: str, dialogue: Dialogue) -> Context:
    lines = (
        ContextMessage(message.text, message.role, message.speaker, message.session, message.sent_at)
        for message in dialogue.messages
    )
    return Context(
        dialogue.id,
        dataset,
        tuple(lines),
        tuple(_context_question(question) for question in dialogue.questions),
        dialogue.language,
    )


def _context_question(question: DialogueQuestion) -> ContextQuestion:
    known = (
        KnownAnswer(each.after, each.option, tuple(number - 1 for number in each.evidence))
        for each in question.known
    )
    return ContextQuestion(
        question.id,
        question.question,
        question.options,
        question.answer,
        question.category,
        question.asked_at,
        tuple(known),
        question.end,
    )
