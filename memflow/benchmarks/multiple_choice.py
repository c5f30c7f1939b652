"""Multiple-choice questions answered by letter: formatting, answer type and grading for all benchmarks."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, cast

from memflow.benchmarks.models import StrictModel, narrowed
from memflow.errors import BadInput
from memflow.metrics.choice import accuracy
from memflow.records import Probe, Reply

LETTERS = "ABCDEFGHIJ"


class Choice(StrictModel):
    """The letter of an option."""

    choice: Literal["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"]


@cache
def choice_of(options: int) -> type[Choice]:
    """Return the Choice type limited to the letters of this many options."""
    letters = cast(Any, Literal)[tuple(LETTERS[:options])]
    return narrowed(Choice, choice=(letters, ...))


def lettered(options: Sequence[str]) -> str:
    """Format the options as `A. ...`, one per line."""
    return "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))


def unlettered(shown: str) -> tuple[str, ...]:
    """Return the options in a text that `lettered` formatted. An option may have several lines."""
    found: list[str] = []
    for line in shown.split("\n"):
        letter = LETTERS[len(found) : len(found) + 1]
        if letter and line.startswith(f"{letter}. "):
            found.append(line[3:])
        elif found:
            found[-1] += f"\n{line}"
    return tuple(found)


def number_of(value: Choice) -> str:
    """Return the option's number, from 1, in the format of `Reply.parsed` and `Probe.gold`."""
    return str(1 + LETTERS.index(value.choice))


def ungradable_reason(probe: Probe, reply: Reply | None) -> str | None:
    """Return the reason why a reply cannot be graded, or None for a gradable reply."""
    if probe.reason is not None:
        return f"the probe is quarantined: {probe.reason}"
    if reply is None:
        return f"{probe.probe_id} has no reply; regenerate answer.replies"
    if reply.parsed is None or reply.reason is not None:
        return reply.reason or "no answer could be read in the reply"
    return None


def grade(probe: Probe, reply: Reply | None) -> tuple[float | None, str | None]:
    """Return (value, reason): 1 for a correct answer, 0 for a wrong one, None with a reason for an unparsed one."""
    reason = ungradable_reason(probe, reply)
    if reason is not None or reply is None or reply.parsed is None:
        return None, reason
    try:
        return accuracy(reply.parsed, probe.gold, len(probe.options)), None
    except BadInput as error:
        return None, str(error)
