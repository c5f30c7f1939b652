"""The published shapes, typed: a LoCoMo conversation with its questions, and a case without a corpus.

Reading files is records.py's; what is made of these, the other modules'.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from memflow.records import Record

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
NOT_MENTIONED = "Not mentioned in the conversation"
"""The right option of every adversarial question, as LoCoMo words it."""
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


class Spoken(BaseModel):
    """One message of a session. Captions of shared images are published beside it and not read:
    MemoryBench, too, gives the memories the text alone.
    """

    speaker: Text
    dia_id: Text
    text: Text


class Asked(BaseModel):
    """A question. `split` is our sample's; LoCoMo is split by split.py."""

    question: Text
    answer: str | int | float | None = None
    adversarial_answer: str | None = None
    evidence: list[str] = []
    category: Annotated[int, Field(ge=1, le=5)]
    split: Literal["train", "test"] | None = None

    @model_validator(mode="after")
    def _has_gold(self) -> "Asked":
        gold = "adversarial_answer" if self.category == 5 else "answer"
        if getattr(self, gold) in (None, ""):
            raise ValueError(f"the question {self.question[:60]!r} of category {self.category} has no {gold}")
        return self

    def evidence_ids(self) -> list[str]:
        """The message ids in the evidence, some of which is published as `D8:6; D9:17` or `D30:05`."""
        found = (match for text in self.evidence for match in _EVIDENCE.finditer(text))
        return list(dict.fromkeys(f"D{int(match[1])}:{int(match[2])}" for match in found))


class Session(BaseModel):
    """Messages of one day, in order."""

    date: Text
    messages: list[Spoken]


class Conversation(BaseModel):
    """A long conversation of two people, and what is asked about it."""

    sample_id: Text
    speaker_a: Text
    speaker_b: Text
    sessions: Annotated[list[Session], Field(min_length=1)]
    questions: list[Asked]

    @classmethod
    def read(cls, published: Mapping[str, Any]) -> "Conversation":
        """From LoCoMo's JSON. Raises KeyError, TypeError or ValueError where it is not of that shape."""
        said = published["conversation"]
        return cls.model_validate(
            {
                "sample_id": published["sample_id"],
                "speaker_a": said["speaker_a"],
                "speaker_b": said["speaker_b"],
                "sessions": list(_sessions(said)),
                "questions": published["qa"],
            }
        )

    def options(self) -> dict[int, tuple[str, str]]:
        """Options (a) and (b) by the position of each adversarial question.

        The right one is (a) for the first of them, then takes turns over all the conversation's questions,
        whether they are taken or not.
        """
        found: dict[int, tuple[str, str]] = {}
        for position, asked in enumerate(self.questions):
            if asked.category == 5:
                pair = (NOT_MENTIONED, str(asked.adversarial_answer))
                found[position] = pair if len(found) % 2 == 0 else (pair[1], pair[0])
        return found


def _sessions(said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    # One conversation dates 35 sessions and holds 19: what counts is the sessions.
    number = 1
    while f"session_{number}" in said:
        yield {"date": said[f"session_{number}_date_time"], "messages": said[f"session_{number}"]}
        number += 1


class Case(BaseModel):
    """A case without a corpus. A training case's user wants its `rule` known; a test case rests on rules."""

    case_id: Text
    dataset: Text
    language: Literal["en", "zh"]
    split: Literal["train", "test"]
    question: Text
    answer: Text
    rule: str = ""
    rests_on: list[str] = []

    @property
    def probe_id(self) -> str:
        return f"{self.dataset}/{self.case_id}"


def conversations(records: Sequence[Record]) -> list[tuple[str, str, Conversation]]:
    """Data set, episode id (`locomo-3`, its place in the published file) and conversation, in order."""
    contents = [(record, json.loads(record.content)) for record in records]
    return [
        (record.dataset, f"{record.dataset}-{record.position}", Conversation.read(content))
        for record, content in contents
        if "conversation" in content
    ]


def cases(records: Sequence[Record]) -> list[Case]:
    """The cases without a corpus, in order."""
    contents = (json.loads(record.content) for record in records)
    return [Case.model_validate(content) for content in contents if "case_id" in content]
