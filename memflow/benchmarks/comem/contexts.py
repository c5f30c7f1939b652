"""A context: a dialogue of two or of many, and what is asked of it. What every source is read into.

Here are the types alone, and what can be said of one context by itself. Where contexts come from is sources/; what is
visible at which checkpoint, truncation.py; what becomes of them, turns.py and probes.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.benchmarks.comem.config import UNKNOWN

UNKNOWING = frozenset(
    {"i don't know", "i do not know", "unknown", "cannot be answered", "not mentioned", "我不知道", "不知道"}
)
"""Options that say that there is no telling, in lower case and without a full stop."""


def unknowing(options: Sequence[str]) -> int | None:
    """The number, from 1, of the option that says that there is no telling, if there is one."""
    for number, option in enumerate(options, start=1):
        if option.strip().rstrip(".。").strip().casefold() in UNKNOWING:
            return number
    return None


@dataclass(frozen=True)
class Line:
    """A message. `role` is `user` for everybody but an assistant; `speaker` is who says it, where there are names."""

    text: str
    role: Literal["user", "assistant"] = "user"
    speaker: str | None = None
    session: int = 0
    sent_at: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Known:
    """From the first `since` messages on, option number `answer` is right, by those of the lines at `evidence`, from 0.

    What is known later replaces it.
    """

    since: int
    answer: int
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True)
class Asked:
    """A question with its options; numbers of options are from 1.

    `answer` is what its source publishes as right. `known` says from when on what is right, where the source tells.
    `end` is how many messages came before it in its source, 1 at least; None for all. `true_of` names for each option
    the speaker of whom it is true, empty where nobody or not known. `dropped` says why its source has it not asked,
    though nothing failed.
    """

    question_id: str
    question: str
    options: tuple[str, ...]
    answer: int | None = None
    category: str | None = None
    asked_at: str | None = None
    known: tuple[Known, ...] = ()
    end: int | None = None
    true_of: tuple[str, ...] = ()
    reason: str | None = None
    dropped: str | None = None

    @property
    def unknowing(self) -> int | None:
        """The number of the option that says that there is no telling, if there is one."""
        return unknowing(self.options)

    def told(self, visible: int) -> Known | None:
        """What is known from the first `visible` messages; None where nothing is."""
        return max(
            (each for each in self.known if each.since <= visible), key=lambda each: each.since, default=None
        )

    def key(self, visible: int) -> str:
        """The right option's number by what is known from the first `visible` messages, or `unknown`."""
        known = self.told(visible)
        if known is not None:
            return str(known.answer)
        return UNKNOWN if self.unknowing is None else str(self.unknowing)


@dataclass(frozen=True)
class Context:
    """A dialogue and its questions. Its id is unique in a domain, and is the id of its episode.

    With a `reason` it is quarantined as a whole: its lines are not played, its questions not asked. One without lines
    is not there: its source drops its questions.
    """

    context_id: str
    dataset: str
    lines: tuple[Line, ...]
    asked: tuple[Asked, ...]
    language: str = "en"
    reason: str | None = None

    def message_id(self, line: int) -> str:
        """The id of the line at that place from 0: `CONTEXT/SESSION.LINE`."""
        return f"{self.context_id}/{self.lines[line].session}.{line}"

    def question_id(self, asked: Asked) -> str:
        """The question's id, unique in a domain."""
        return f"{self.context_id}/{asked.question_id}"

    @property
    def sound(self) -> Sequence[Asked]:
        """The questions that can be asked, once somebody has said what is right."""
        if self.reason is not None:
            return ()
        return tuple(asked for asked in self.asked if asked.reason is None and asked.dropped is None)

    @property
    def speakers(self) -> Sequence[str]:
        """Who speaks, in the order of their first words."""
        return tuple(dict.fromkeys(line.speaker for line in self.lines if line.speaker))
