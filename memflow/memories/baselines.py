"""Memories without search: `none`, `oracle`, `previous`, `full[_BUDGET]` and `recent_MESSAGES`.

`none` and `oracle` bound the scores of all memories: `none` recalls nothing; with `oracle`, the prompt has the gold
context. With `previous`, the prompt has the gold context before its last change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from memflow.memories.design import Design
from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.systems import System
from memflow.memories.verbatim import (
    newest_within,
    retire_messages,
    store_messages,
    stored_messages,
    with_buffer,
)
from memflow.tokens import estimate

MESSAGE, BUFFER = "message", "buffer"
OVERFLOW = ("drop", "fail")
ROOM = 1024
"""Tokens of the context window that `full` leaves for the prompt around the query; the query gets a multiple of it."""


@dataclass
class Nothing(Memory):
    """The lower bound: a memory that stores and recalls nothing."""

    needs_playing: ClassVar[bool] = False
    recalls_entries: ClassVar[bool] = False
    ranks_entries: ClassVar[bool] = False
    recalls_notes: ClassVar[bool] = False

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
    """A memory that recalls all messages, or the newest that fit, as chat turns.

    This is AMemGym's native LLM (section 4). MemoryBench's Vanilla (section 5.1) is another baseline: it has no
    memory, gets the first sessions of a corpus, and never sees training dialogues (deviations.yaml). A message that
    does not fit and all messages before it are dropped, and counted in `dropped_messages` and `dropped_tokens`.
    Without a budget, and without a context window in the model's profile or with `overflow = "fail"` (AMemGym's
    code), nothing is dropped: a prompt that is too long for the model fails with PromptTooLong.
    """

    budget: int = parameter(
        0, "Tokens of messages before the question (estimated); 0: the model's context window."
    )
    overflow: str = parameter(
        "drop",
        "Whether messages beyond the context window are dropped, or the request fails.",
        choices=OVERFLOW,
    )

    ranks_entries: ClassVar[bool] = False
    recalls_notes: ClassVar[bool] = False
    uses_window: ClassVar[bool] = True

    _recalls: dict[float, Recall] = field(default_factory=dict, init=False, repr=False, compare=False)
    _version: int = field(default=-1, init=False, repr=False, compare=False)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the messages."""
        store_messages(self.store, messages, MESSAGE)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the newest messages that fit beside the query. The results are cached until the store changes."""
        if self._version != self.store.version:
            self._recalls.clear()
            self._version = self.store.version
        budget = self._budget(query)
        if budget not in self._recalls:
            self._recalls[budget] = newest_within(stored_messages(self.store, MESSAGE), budget)
        return self._recalls[budget]

    def _budget(self, query: str) -> float:
        """Return the tokens for messages, infinite without a budget and window.

        The room for the query is a multiple of ROOM, so that most queries get the same messages, which a server's
        prefix cache then holds.
        """
        if self.budget:
            return self.budget
        if self.tools.window is None or self.overflow == "fail":
            return math.inf
        return max(0, self.tools.window - ROOM * (1 + math.ceil(estimate(query) / ROOM)))


@dataclass
class Recent(Memory):
    """A memory that recalls a fixed number of the newest messages, as chat turns.

    The default is three rounds, the maximum size of the buffer of `rag_2_4_30`.
    """

    messages: int = parameter(6, "Number of newest messages in the memory; a round has two.", low=1)

    ranks_entries: ClassVar[bool] = False
    recalls_notes: ClassVar[bool] = False

    @property
    def design(self) -> Design:
        """The memory keeps a window of messages."""
        return Design(window=self.messages)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the messages and retire all but the last `self.messages` messages."""
        store_messages(self.store, messages, BUFFER)
        buffer = stored_messages(self.store, BUFFER)
        retire_messages(self.store, buffer[: max(0, len(buffer) - self.messages)], BUFFER)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the stored messages, for any query."""
        return with_buffer(Recall(), stored_messages(self.store, BUFFER))


NONE = System("none", Nothing, "CoMem, checkpoint 0; MemoryBench, Vanilla without a corpus")
ORACLE = System("oracle", Oracle, "AMemGym, upper bound")
PREVIOUS = System("previous", PreviousState, "a baseline of ours")
FULL = System("full", Full, "AMemGym, native LLM", ("budget",))
RECENT = System("recent", Recent, "a baseline of ours", ("messages",))
