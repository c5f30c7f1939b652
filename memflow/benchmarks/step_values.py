"""Values that the steps of a benchmark take and return, beside the rows of tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.records import Change, Entity, Profile, Variable


@dataclass(frozen=True)
class States:
    """The state tables of a domain: users and their changing states, or the people and things in their lives."""

    profiles: list[Profile] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)


@dataclass(frozen=True)
class Annotators:
    """The two models that annotate gold labels: `first` answers and `second` verifies the answers.

    `expect(total)` announces the total number of answers of both models and returns a function to call after each
    answer.
    """

    first: Chat
    second: Chat
    expect: Callable[[int], Callable[[], None]] = lambda total: lambda: None


@dataclass(frozen=True)
class Question:
    """The prompt for a probe with its fields, and the search query for the memory."""

    prompt: Prompt
    fields: Mapping[str, Any]
    query: str


MemorySnapshots = Mapping[tuple[str, int], str]
"""The memory state by episode and checkpoint, as text."""
