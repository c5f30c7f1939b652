"""Names of repeats: `rag_2_4_30@model~answers2` is the second evaluation of the assistant `rag_2_4_30@model`.

A repeat is a partition of its own, whose requests have digests of their own in the ledger, since a cached answer has no
variance. The first evaluation has the plain name and plain digests, so results without repeats stay as they are. What
a kind of repeat does not evaluate again is read from the partition of the first evaluation. This module is the only one
that parses the names.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from memflow.errors import BadSettings

MARK = "~"
"""Separates the assistant from the repeat, as it separates a domain from the limit of a sample."""


class Kind(StrEnum):
    """What a repeat evaluates again: answers and their judging, the whole run from play on, or the judging only."""

    answers = "answers"
    run = "run"
    judge = "judge"


SHARED: dict[str, tuple[str, ...]] = {
    "answers": ("memory.", "score.claims"),
    "run": (),
    "judge": ("memory.", "answer."),
}
"""The tables that a kind of repeat shares with the first evaluation, by the beginning of their names."""
STAGES: dict[str, tuple[str, ...]] = {
    "answers": ("answer", "score"),
    "run": ("memory", "answer", "score"),
    "judge": ("score",),
}
"""The stages whose requests a kind of repeat sends again."""
_NAME = re.compile(rf"([^{MARK}]+){MARK}({'|'.join(SHARED)})([1-9][0-9]{{0,3}})")


class Repeat(NamedTuple):
    """The parts of an assistant's name: the plain name, and the kind and number of the repeat ("" and 1 if none)."""

    assistant: str
    kind: str = ""
    number: int = 1


def repeat_in(assistant: str) -> Repeat:
    """Parse the name of an assistant, such as `rag@model~answers2`, into plain name, kind and number.

    Raises BadSettings if the part after `~` is not a kind and a number from 2 on.
    """
    if MARK not in assistant:
        return Repeat(assistant)
    match = _NAME.fullmatch(assistant)
    if match is None or int(match[3]) < 2:
        raise BadSettings(
            f"the assistant name {assistant!r} is invalid. A repeat is named ASSISTANT{MARK}KIND and a number from 2 "
            f"on, such as full{MARK}answers2, where KIND is one of {', '.join(SHARED)}."
        )
    return Repeat(match[1], match[2], int(match[3]))


def plain_name(assistant: str) -> str:
    """Return the name of a repeat's first evaluation; other names unchanged."""
    return assistant.partition(MARK)[0]


def memory_name(assistant: str) -> str:
    """Return the name of an assistant's memory, such as `rag_2_4_30` of `rag_2_4_30@model~run2`."""
    return plain_name(assistant).partition("@")[0]


def suffix(partition: str) -> str:
    """Return what marks a repeat in the key of a partition, such as `answers2` of `DOMAIN~2/full~answers2`; or ""."""
    return partition.partition("/")[2].partition(MARK)[2]


def with_memory(assistant: str, memory: str) -> str:
    """Return the name of an assistant with another memory, and with the same model and repeat."""
    plain, mark, repeat = assistant.partition(MARK)
    _, at, model = plain.partition("@")
    return f"{memory}{at}{model}{mark}{repeat}"


def shares(assistant: str, tables: Iterable[str]) -> bool:
    """Return whether an assistant is a repeat that shares one of these tables with the first evaluation."""
    shared = SHARED.get(repeat_in(assistant).kind, ())
    return any(table.startswith(shared) for table in tables)


def source_of(table: str, assistant: str) -> str:
    """Return the assistant whose partition has the rows of a table for `assistant`."""
    return plain_name(assistant) if shares(assistant, [table]) else assistant


def request_repeat(assistant: str, stage: str) -> int:
    """Return the repeat number of the requests that an assistant sends in a stage; 1 if they are not repeated."""
    _, kind, number = repeat_in(assistant)
    return number if stage in STAGES.get(kind, ()) else 1


def with_repeats(assistants: Iterable[str], repeats: int, kind: Kind) -> tuple[str, ...]:
    """Return the assistants, then the repeats 2 to `repeats` of each, without duplicates."""
    names = list(assistants)
    plain = [name for name in names if MARK not in name]
    numbers = range(2, repeats + 1)
    return tuple(dict.fromkeys([*names, *(f"{name}{MARK}{kind}{n}" for n in numbers for name in plain)]))
