"""The types of own dialogues: messages, questions and dialogues, with gold and moments resolved."""

from dataclasses import dataclass
from typing import Literal

from memflow.benchmarks.dialogues.schema import QuestionFields


@dataclass(frozen=True, slots=True)
class OwnMessage:
    """A message of a dialogue. `message_id` is unique in the dialogue."""

    message_id: str
    text: str
    role: Literal["user", "assistant"] = "user"
    speaker: str | None = None
    time: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """A question after the first `visible` messages of its dialogue.

    `number` is the correct option, from 1. `golds` are the correct answers of an open question. `abstain`: the messages
    do not contain the answer. `reason` states why the question is quarantined.
    """

    question_id: str
    fields: QuestionFields
    number: int | None = None
    golds: tuple[str, ...] = ()
    abstain: bool = False
    visible: int = 0
    asked_at: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class OwnDialogue:
    """A dialogue with its questions. With a `reason`, it is quarantined as a whole."""

    dialogue_id: str
    dataset: str
    messages: tuple[OwnMessage, ...]
    questions: tuple[OwnQuestion, ...]
    language: str | None = None
    reason: str | None = None
