"""Feedback rounds as what was said: the question, the answers, and what the user made of them in words.

A round with a reason is no part of it: its answer never came, or nobody knows what the user makes of it.
"""

from collections.abc import Sequence
from typing import Literal

from memflow.benchmarks.memorybench.probes import feedback_id
from memflow.memories.memory import Message
from memflow.records import FeedbackRound
from memflow.run.play import Origin, SpokenMessage


def spoken(rows: Sequence[FeedbackRound], step: int | None = None) -> list[SpokenMessage]:
    """One dialogue's messages in order, those that never came last; `step` stands in the ids of a further dialogue."""
    found: list[SpokenMessage] = []

    def say(
        role: Literal["user", "assistant"],
        text: str,
        origin: Origin,
        completion: str | None = None,
        reason: str | None = None,
    ) -> None:
        message = Message(feedback_id(rows[0].case_id, len(found), step), role, text)
        found.append(SpokenMessage(message, origin, completion, reason))

    kept = [row for row in rows if row.reason is None]
    for row in kept:
        say("user", row.user_text, "simulator" if row.round else "given")
        say("assistant", row.answer, "assistant", row.completion)
    if kept and kept[-1].critique is not None:
        say("user", kept[-1].critique, "simulator")
    for row in rows:
        if row.reason is not None:
            say("assistant", row.answer, "assistant", row.completion, row.reason)
    return found


def messages(rows: Sequence[FeedbackRound]) -> list[Message]:
    """What is remembered of a dialogue that the backbone had about a case."""
    return [one.message for one in spoken(rows) if one.reason is None]
