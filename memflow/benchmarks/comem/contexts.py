"""The type of a context: a dialogue of two or more speakers with questions. All sources are converted to contexts.

This module also computes the messages that are visible at a checkpoint (paper, section 3.2.2).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig

UNKNOWN_OPTION_TEXTS = {"en": "I don't know.", "zh": "我不知道。"}
"""The text of an added "not enough information" option, per language."""
UNKNOWN_OPTIONS = frozenset(
    {"i don't know", "i do not know", "unknown", "cannot be answered", "not mentioned", "我不知道", "不知道"}
)
"""Texts of "not enough information" options, in lower case and without a period."""


def unknown_option(options: Sequence[str]) -> int | None:
    """Return the number, from 1, of the "not enough information" option, or None without such an option."""
    for number, option in enumerate(options, start=1):
        if option.strip().rstrip(".。").strip().casefold() in UNKNOWN_OPTIONS:
            return number
    return None


@dataclass(frozen=True)
class ContextMessage:
    """A message. `role` is `assistant` for an assistant and `user` for all others. `speaker` is a name, if known."""

    text: str
    role: Literal["user", "assistant"] = "user"
    speaker: str | None = None
    session: int = 0
    sent_at: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class KnownAnswer:
    """An answer that is correct after the first `since` messages. `evidence` lists positions of messages, from 0.

    A later known answer of the same question supersedes this one.
    """

    since: int
    answer: int
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True)
class ContextQuestion:
    """A question with its options, numbered from 1.

    `answer` is the published gold. `known` lists the correct answers over time, if the source states them. `end` is the
    number of messages before the question in its source, at least 1; None stands for all. `dropped` is the reason why
    the source excludes a valid question.
    """

    question_id: str
    question: str
    options: tuple[str, ...]
    answer: int | None = None
    category: str | None = None
    asked_at: str | None = None
    known: tuple[KnownAnswer, ...] = ()
    end: int | None = None
    reason: str | None = None
    dropped: str | None = None

    @property
    def unknown_option(self) -> int | None:
        """The number of the "not enough information" option, or None."""
        return unknown_option(self.options)

    def known_at(self, visible: int) -> KnownAnswer | None:
        """Return the answer that is known after the first `visible` messages, or None if the answer is unknown."""
        return max(
            (each for each in self.known if each.since <= visible),
            key=lambda each: each.since,
            default=None,
        )

    def label_at(self, visible: int) -> str:
        """Return the label after the first `visible` messages: the number of an option, or `unknown`."""
        known = self.known_at(visible)
        if known is not None:
            return str(known.answer)
        return UNKNOWN if self.unknown_option is None else str(self.unknown_option)


@dataclass(frozen=True)
class Context:
    """A dialogue and its questions. The context id is unique in a domain and is also the episode id.

    A context with a `reason` is quarantined as a whole. A context without messages is missing, and its questions are
    dropped.
    """

    context_id: str
    dataset: str
    messages: tuple[ContextMessage, ...]
    questions: tuple[ContextQuestion, ...]
    language: str = "en"
    reason: str | None = None

    def message_id(self, line: int) -> str:
        """Return the id of the message at a position, from 0: `CONTEXT/SESSION.POSITION`."""
        return f"{self.context_id}/{self.messages[line].session}.{line}"

    def question_id(self, asked: ContextQuestion) -> str:
        """Return the question's id, which is unique in a domain."""
        return f"{self.context_id}/{asked.question_id}"

    @property
    def valid_questions(self) -> Sequence[ContextQuestion]:
        """The questions that are neither quarantined nor dropped by the source."""
        if self.reason is not None:
            return ()
        return tuple(asked for asked in self.questions if asked.reason is None and asked.dropped is None)


def truncation_indices(context: Context, config: CoMemConfig) -> tuple[int, ...]:
    """Return the number of messages before each checkpoint: 0 for checkpoint 0, then floor(share x messages)."""
    # Binary fractions: 0.29 x 100 is slightly less than 29.
    return (
        0,
        *(math.floor(share * len(context.messages) + 1e-9) for share in config.checkpoints),
    )


def visible_counts(context: Context, asked: ContextQuestion, config: CoMemConfig) -> tuple[int, ...]:
    """Return the number of messages that are visible to a question at each checkpoint, including checkpoint 0."""
    if config.ends == "context" or asked.end is None:
        return truncation_indices(context, config)
    return tuple(min(index, asked.end) for index in truncation_indices(context, config))
