"""Conversion of feedback rounds to messages: question, answers and verbal feedback.

Rounds with a reason are not part of the conversation.
"""

from collections.abc import Sequence
from typing import Literal

from memflow.benchmarks.memorybench.probes import feedback_id
from memflow.memories.memory import Message
from memflow.records import FeedbackRound
from memflow.run.play import Origin, SpokenMessage


def dialogue_messages(rows: Sequence[FeedbackRound], step: int | None = None) -> list[SpokenMessage]:
    """Return the messages of a dialogue in order, failed ones last. `step` is part of the ids of repeated dialogues."""
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


def remembered_messages(rows: Sequence[FeedbackRound]) -> list[Message]:
    """Return the messages of an off-policy dialogue that a memory receives."""
    return [one.message for one in dialogue_messages(rows) if one.reason is None]
