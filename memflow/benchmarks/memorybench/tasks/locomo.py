"""LoCoMo: long conversations between two people, with questions about each conversation (A.1.1).

As in MemoryBench, its corpora have no image captions, so some questions have no answer. As in the paper, speaker A is
the user and speaker B the assistant. The benchmark `locomo` reads the file with this module too.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import (
    Case,
    CorpusMessage,
    CorpusSession,
    Pool,
    TaskReader,
    Text,
    invalid_case,
)
from memflow.benchmarks.partial import OR_INVALID, InvalidPart
from memflow.benchmarks.published_file import File, valid_records
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.records import Record

ADVERSARIAL = "5"
NOT_MENTIONED = "Not mentioned in the conversation"
"""The correct option of every adversarial question."""
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


class LocomoMessage(BaseModel):
    """A message of a session."""

    speaker: Text
    dia_id: Text
    text: Text
    blip_caption: str | None = None
    """The caption of a shared image."""


class LocomoQuestion(BaseModel):
    """A LoCoMo question. Only questions of memflow's own sample have a `split`."""

    question: Text
    answer: str | int | float | None = None
    adversarial_answer: str | None = None
    evidence: list[str] = []
    category: Annotated[int, Field(ge=1, le=5)]
    split: Literal["train", "test"] | None = None

    @model_validator(mode="after")
    def _has_gold(self) -> "LocomoQuestion":
        gold = "adversarial_answer" if self.category == 5 else "answer"
        if getattr(self, gold) is None or not str(getattr(self, gold)).strip():
            raise ValueError(f"the question {self.question[:60]!r} of category {self.category} lacks {gold}")
        return self

    def evidence_ids(self) -> list[str]:
        """Return the message ids in the evidence, which the published file also writes as `D8:6; D9:17` or `D30:05`."""
        found = (match for text in self.evidence for match in _EVIDENCE.finditer(text))
        return list(dict.fromkeys(f"D{int(match[1])}:{int(match[2])}" for match in found))


class ConversationDay(BaseModel):
    """The messages of one day, in order."""

    date: Text
    messages: list[LocomoMessage]


class Conversation(BaseModel):
    """A conversation between two people, with its questions."""

    sample_id: Text
    speaker_a: Text
    speaker_b: Text
    sessions: Annotated[list[ConversationDay], Field(min_length=1)]
    questions: list[Annotated[LocomoQuestion | InvalidPart, OR_INVALID]]

    @classmethod
    def read(cls, published: Mapping[str, Any]) -> "Conversation":
        """Return a conversation from LoCoMo's JSON. Each invalid question is returned as an InvalidPart.

        Raises KeyError, TypeError or ValueError.
        """
        message_texts = published["conversation"]
        return cls.model_validate(
            {
                "sample_id": published["sample_id"],
                "speaker_a": message_texts["speaker_a"],
                "speaker_b": message_texts["speaker_b"],
                "sessions": list(_sessions(message_texts)),
                "questions": published["qa"],
            }
        )

    def options(self) -> dict[int, tuple[str, str]]:
        """Return options (a) and (b) of each adversarial question, by position of the question.

        The correct option alternates over all adversarial questions, beginning with (a).
        """
        found: dict[int, tuple[str, str]] = {}
        for position, asked in enumerate(self.questions):
            if isinstance(asked, LocomoQuestion) and asked.category == 5:
                pair = (NOT_MENTIONED, str(asked.adversarial_answer))
                found[position] = pair if len(found) % 2 == 0 else (pair[1], pair[0])
        return found


def _sessions(message_texts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    # One conversation has 35 session dates but 19 sessions.
    number = 1
    while f"session_{number}" in message_texts:
        yield {
            "date": message_texts[f"session_{number}_date_time"],
            "messages": message_texts[f"session_{number}"],
        }
        number += 1


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per conversation. Raises BadInput."""
    return parse_records(file.json_items("LoCoMo conversation"), _parse)


def _parse(content: Any) -> tuple[str, Any]:
    try:
        conversation = Conversation.read(content)
    except KeyError as error:
        raise RecordFault(
            f"the conversation has no field {error.args[0]!r}. Add it as in LoCoMo's file, or remove the conversation; "
            "it is excluded until then"
        ) from error
    except TypeError as error:
        raise RecordFault(f"the structure is not that of a LoCoMo conversation ({error})") from error
    _check_messages(conversation)
    return conversation.sample_id, content


def _check_messages(conversation: Conversation) -> None:
    seen: set[str] = set()
    for message in (message for day in conversation.sessions for message in day.messages):
        if message.dia_id in seen:
            raise RecordFault(f"two messages have the id {message.dia_id}")
        if message.speaker not in (conversation.speaker_a, conversation.speaker_b):
            raise RecordFault(
                f"the speaker of message {message.dia_id}, {message.speaker}, is not a speaker of the conversation"
            )
        seen.add(message.dia_id)


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return one pool per conversation, named by its position in the file: `locomo-3`."""
    talks = [(record, Conversation.read(json.loads(record.content))) for record in valid_records(records)]
    return [
        Pool(f"{dataset}-{record.position}", catalog.task(dataset), _cases(talk), corpus(talk))
        for record, talk in talks
    ]


def corpus(talk: Conversation) -> tuple[CorpusSession, ...]:
    """Return the sessions of a conversation."""
    return tuple(
        CorpusSession(
            day.date,
            tuple(
                CorpusMessage(
                    message.dia_id,
                    message.speaker,
                    message.text,
                    "user" if message.speaker == talk.speaker_a else "assistant",
                )
                for message in day.messages
            ),
        )
        for day in talk.sessions
    )


def message_texts(sessions: Sequence[CorpusSession]) -> dict[str, str]:
    """Return the texts of all messages by id, with date and speaker."""
    return {
        message.message_id: f"[{session.date}] {message.speaker}: {message.text}"
        for session in sessions
        for message in session.messages
    }


def _cases(talk: Conversation) -> list[Case]:
    options, messages = talk.options(), message_texts(corpus(talk))
    return [
        invalid_case(str(place), f"question {place}: {asked.fault}")
        if isinstance(asked, InvalidPart)
        else case(place, asked, options.get(place, ()), messages)
        for place, asked in enumerate(talk.questions)
    ]


def case(place: int, asked: LocomoQuestion, pair: tuple[str, ...], messages: Mapping[str, str]) -> Case:
    """Convert a question to a case, with options if it is adversarial. `messages` has the texts of its evidence."""
    # A few ids in the published evidence name no message.
    evidence = [dia_id for dia_id in asked.evidence_ids() if dia_id in messages]
    gold = json.dumps(dict(zip("ab", pair, strict=True))) if pair else str(asked.answer)
    return Case(
        case_id=str(place),
        question=asked.question,
        gold=gold,
        revealed=NOT_MENTIONED if pair else "\n".join(messages[dia_id] for dia_id in evidence) or gold,
        category=str(asked.category),
        options=pair,
        evidence=tuple(evidence),
        part=asked.split,
    )


READER = TaskReader(read, pools=pools)
