"""A recomputed gold, and the reasons why a gold cannot be recomputed."""

from collections.abc import Callable
from dataclasses import dataclass


class UnreadError(Exception):
    """The examiner cannot read the question or a message that the question requires."""


class FaultyError(Exception):
    """The messages do not determine one answer."""


class ContradictionError(FaultyError):
    """Messages state different values of an attribute, and no cue of a correction is read."""


@dataclass(frozen=True)
class Gold:
    """A recomputed gold, the ids of the messages that state it, and a test of whether an option is right.

    `other_readings` are answers that a reader could defend too; no option may be one of them. If `all_required`, the
    evidence must have all these messages, because the gold is a count or a list of what they state.
    """

    text: str
    messages: tuple[str, ...]
    is_right: Callable[[str], bool]
    other_readings: Callable[[str], bool] = lambda option: False
    all_required: bool = False
