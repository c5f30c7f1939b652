"""A recomputed gold, and the reasons why a gold cannot be recomputed."""

from collections.abc import Callable
from dataclasses import dataclass


class UnreadError(Exception):
    """The examiner cannot read the question or a message that the question requires."""


class FaultyError(Exception):
    """The messages do not determine one answer."""


class ContradictionError(FaultyError):
    """Messages state different values of an attribute, and none contains a cue of a correction."""


@dataclass(frozen=True)
class Gold:
    """A recomputed gold, the ids of the messages that state it, and a test of whether an option is right.

    `other_readings` tests whether an option is right under another reading of the messages; no option may be. With
    `all_required`, all these messages must be evidence, because the gold counts or lists what they state.
    """

    text: str
    messages: tuple[str, ...]
    is_right: Callable[[str], bool]
    other_readings: Callable[[str], bool] = lambda option: False
    all_required: bool = False
