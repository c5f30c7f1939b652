"""Answers of models: facts of a unit, and the judge's labels.

The judge answers in free text of at most ten tokens. The published label is whether it contains `yes`.
"""

from pydantic import BaseModel

from memflow.chat.limits import Items, Text


class Facts(BaseModel):
    """The user's facts in a chat."""

    facts: Items[Text]


def read_label(reply: str) -> bool:
    """Return the published label of a judge's reply."""
    return "yes" in reply.lower()


def is_unclear(reply: str) -> bool:
    """Return whether a judge's reply is neither `yes` nor `no`; its published label may surprise."""
    return reply.strip().strip("\"'*.!").lower() not in ("yes", "no")
