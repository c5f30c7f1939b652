"""Memories without search: `none`, `oracle`, `previous`, `vanilla`, `full`, `recent` and `last_lines`.

`none` and `oracle` bound the scores of all memories: `none` recalls nothing; with `oracle`, the prompt has the gold
context. With `previous`, the prompt has the gold context before its last change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

from memflow.memories.design import Design
from memflow.memories.forgetting import FORMS
from memflow.memories.memory import Memory, Message, Recall, parameter
from memflow.memories.notes import Grain, join_texts, recalled, split_messages
from memflow.memories.verbatim import (
    newest_within,
    retire_messages,
    store_messages,
    stored_messages,
    with_buffer,
)
from memflow.tokens import MOST_PER_ESTIMATE, PER_MESSAGE, estimate

MESSAGE, BUFFER, LINE = "message", "buffer", "line"
SESSION: Grain = "session"
OVERFLOW = ("drop", "fail")


@dataclass
class Nothing(Memory):
    """The lower bound: a memory that stores and recalls nothing."""

    needs_playing: ClassVar[bool] = False
    recalls_entries: ClassVar[bool] = False
    ranks_entries: ClassVar[bool] = False
    recalls_notes: ClassVar[bool] = False
    cannot_forget: ClassVar[str] = "it stores nothing"

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
class Vanilla(Memory):
    """A model without memory, which gets the first sessions of a corpus that fit, and no dialogue of its own.

    Source: MemoryBench, A.3.2 and A.3.3. A corpus is a conversation between speakers with names: messages without a
    speaker's name are those of the assistant's own dialogues, and are not stored. The sessions are an unchanged prefix
    of the corpus for every query, until one does not fit; later ones are counted in `dropped_tokens`. Without a budget
    and with an unknown context window, all sessions are recalled.
    """

    budget: int = parameter(0, "Tokens of sessions (estimated); 0: the model's context window.")

    ranks_entries: ClassVar[bool] = False
    recalls_notes: ClassVar[bool] = False
    forgets: ClassVar[frozenset[str]] = FORMS
    uses_window: ClassVar[bool] = True

    @property
    def design(self) -> Design:
        """The memory stores no role of its own dialogues, and recalls nothing without a corpus."""
        return Design(roles=(), merges=True, threshold=True)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store the messages of named speakers as one session."""
        corpus = [message for message in messages if message.speaker is not None]
        for draft in split_messages(corpus, SESSION):
            self.store.add(SESSION, draft.text, sources=draft.sources)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the first sessions that fit beside the query, whole and in order."""
        budget = self.budget or self.prompt_budget(query)
        sessions = self.store.live(SESSION)
        tokens = [estimate(session.text) for session in sessions]
        fitting_count = sum(total <= budget for total in accumulate(tokens))
        fitting = sessions[:fitting_count]
        notes = join_texts(fitting)
        return Recall(
            notes,
            entries=tuple(fitting),
            injected_tokens=estimate(notes),
            dropped_tokens=sum(tokens[fitting_count:]),
        )


@dataclass
class Full(Memory):
    """A memory that recalls all messages, or the newest that fit, as chat turns.

    This is AMemGym's native LLM (section 4). MemoryBench's Vanilla is another baseline: `Vanilla`. A message that does
    not fit and all messages before it are dropped, and counted in `dropped_messages` and `dropped_tokens`. Without a
    budget, and with an unknown context window or with `overflow = "fail"` (AMemGym's code), nothing is dropped: a
    prompt that is too long for the model fails with PromptTooLong.
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
    forgets: ClassVar[frozenset[str]] = FORMS
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
            per_message = 0 if self.budget else PER_MESSAGE / MOST_PER_ESTIMATE
            messages = stored_messages(self.store, MESSAGE)
            self._recalls[budget] = newest_within(messages, budget, per_message)
        return self._recalls[budget]

    def _budget(self, query: str) -> float:
        """Return the estimated tokens for messages, infinite without a budget and window."""
        if self.budget:
            return self.budget
        return math.inf if self.overflow == "fail" else self.prompt_budget(query)


@dataclass
class Recent(Memory):
    """A memory that recalls a fixed number of the newest messages, as chat turns.

    The default is three rounds, the maximum size of the buffer of `rag_2_4_30`.
    """

    messages: int = parameter(6, "Number of newest messages in the memory; a round has two.", low=1)

    ranks_entries: ClassVar[bool] = False
    recalls_notes: ClassVar[bool] = False
    forgets: ClassVar[frozenset[str]] = FORMS

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


@dataclass
class LastLines(Memory):
    """A memory that recalls the last lines of all messages, and nothing of what was said before.

    Where newer statements replace older ones, it shows how far recency alone gets, as in MemoryAgentBench's
    FactConsolidation.
    """

    lines: int = parameter(100, "Number of last lines in the memory.", low=1)

    ranks_entries: ClassVar[bool] = False
    forgets: ClassVar[frozenset[str]] = FORMS

    @property
    def design(self) -> Design:
        """The memory is sure to keep lines of the newest message only, which may have more than `lines`."""
        return Design(window=1)

    async def write(self, messages: Sequence[Message]) -> None:
        """Store each line as an entry, and retire all but the last `self.lines`."""
        for message in messages:
            for line in message.line().splitlines():
                if line.strip():
                    self.store.add(LINE, line, sources=[message.message_id])
        for entry in self.store.live(LINE)[: -self.lines]:
            self.store.retire(entry.entry_id)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the stored lines in order, for any query."""
        return recalled(self.store.live(LINE))
