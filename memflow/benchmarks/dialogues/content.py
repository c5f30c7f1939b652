"""The types of own dialogues: messages, questions and dialogues, with gold and moments resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


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

    `number` is the correct option, from 1. `golds` are the correct answers of an open question. With a `rubric`, a
    judge decides. `abstain`: the messages do not contain the answer. `reason` states why the question is quarantined.
    """

    question_id: str
    question: str = ""
    options: tuple[str, ...] = ()
    number: int | None = None
    golds: tuple[str, ...] = ()
    rubric: str | None = None
    abstain: bool = False
    visible: int = 0
    asked_at: str | None = None
    evidence: tuple[str, ...] = ()
    metric: str | None = None
    category: str | None = None
    slices: Mapping[str, str] = field(default_factory=dict)
    language: str | None = None
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
