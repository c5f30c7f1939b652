"""Memories without search: `none`, `oracle`, `previous`, `full_BUDGET` and `recent_MESSAGES`.

`none` and `oracle` bound the scores of all memories: `none` recalls nothing; with `oracle`, the prompt has the gold
context. With `previous`, the prompt has the gold context before its last change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.verbatim import (
    newest_within,
    retire_messages,
    store_messages,
    stored_messages,
    with_buffer,
)

PREVIOUS = "previous"
BOUNDS = ("none", "oracle", PREVIOUS)
"""The names of the memories that store nothing, between which the scores of all others lie."""
MESSAGE, BUFFER = "message", "buffer"


@dataclass
class Nothing(Memory):
    """The lower bound: a memory that stores and recalls nothing."""

    needs_playing: ClassVar[bool] = False
    recalls_entries: ClassVar[bool] = False
    ranks_entries: ClassVar[bool] = False

    async def write(self, messages: Sequence[Message]) -> None:
        """Store nothing."""

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return an empty recall."""
        return Recall()


@dataclass
class Oracle(Nothing):
    """The upper bound: a memory with which the prompt contains the gold evidence or states.

    The gold never passes through the Memory protocol: `memflow.run.answer` adds it to the prompt for this class and for
    `PreviousState` alone.
    """


@dataclass
class PreviousState(Nothing):
    """The stale baseline: a memory with which the prompt contains the gold states before their last change.

    It answers the questions for which an outdated memory suffices. As for `Oracle`, the gold does not pass through the
    Memory protocol. `Benchmark.has_previous_state` states where it can be asked.
    """


@dataclass
class Full(Memory):
    """A memory that recalls the newest messages that fit into the token budget, as chat turns.

    This is AMemGym's native LLM (section 4) and MemoryBench's vanilla (section 5.1), except that MemoryBench drops the
    newest sessions instead of the oldest. A message that does not fit and all messages before it are dropped;
    `dropped_tokens` counts their tokens.
    """

    budget: int = parameter(100_000, "Tokens of messages that go before the question (estimated).", low=1)

    ranks_entries: ClassVar[bool] = False

    _recall: tuple[int, Recall] | None = field(default=None, init=False, repr=False, compare=False)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the messages."""
        store_messages(self.store, messages, MESSAGE)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the newest messages within the budget, for any query. The result is cached until the store changes."""
        if self._recall is None or self._recall[0] != self.store.version:
            self._recall = (
                self.store.version,
                newest_within(stored_messages(self.store, MESSAGE), self.budget),
            )
        return self._recall[1]


@dataclass
class Recent(Memory):
    """A memory that recalls a fixed number of the newest messages, as chat turns.

    The default is three rounds, the maximum size of the buffer of `rag_2_4_30`.
    """

    messages: int = parameter(6, "How many of the newest messages are kept; a round is two.", low=1)

    ranks_entries: ClassVar[bool] = False

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the messages and retire all but the last `self.messages` messages."""
        store_messages(self.store, messages, BUFFER)
        buffer = stored_messages(self.store, BUFFER)
        retire_messages(self.store, buffer[: max(0, len(buffer) - self.messages)], BUFFER)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the stored messages, for any query."""
        return with_buffer(Recall(), stored_messages(self.store, BUFFER))
