"""The Mem0 memory: facts drawn from each new pair of messages, in the light of a summary and of the last messages.

For each pair the model is shown a summary of the conversation, the last `recent` messages before the pair (the
paper's m = 10) and the pair; what it draws is compared with the `similar` nearest facts (s = 10). The paper refreshes
the summary "periodically", in a process of its own: here whenever `refresh` messages are not in it yet, beside the
extraction, so that the pairs of one arrival see the summary as it was before. Only facts are recalled: the messages
of the window and the summary serve extraction alone, and are no memory of anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.memories.mem0.answers import Summary
from memflow.memories.mem0.facts import FactMemory
from memflow.memories.mem0.passages import NONE, Passage
from memflow.memories.memory import Calls, Memory, Message, PromptRequest, Recall, parameter
from memflow.memories.verbatim import StoredMessage, retire_messages, store_messages, stored_messages

WINDOW, SUMMARY = "window", "summary"


@dataclass
class Mem0(FactMemory):
    """Recalls the `k` facts nearest to the query."""

    recent: int = parameter(10, "How many messages before the new ones the model is shown.")
    refresh: int = parameter(10, "How many messages the summary may be behind.", low=1)
    together: int = parameter(2, "How many messages of an arrival facts are drawn from together.", low=1)

    prompt_stems: ClassVar[tuple[str, ...]] = ("decide", "extract", "summarise")
    calls: ClassVar[Calls] = Calls(chat_write=3, embed_write=2, embed_read=1, per="round")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {WINDOW, SUMMARY}

    async def write(self, messages: Sequence[Message]) -> None:
        """Draw the facts of all new pairs at once, then settle pair after pair what they do to the memory."""
        held, passages = self.arrive(messages)
        asks = [*map(self.extraction, passages), *self.refreshing(held)]
        answers = await self.ask_all(asks)
        self.leave(held, answers[len(passages) :])
        await self.settle([self.candidates(*pair) for pair in zip(passages, answers, strict=False)])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """The facts as notes, in the order in which they were written."""
        return await self.found(query)

    def arrive(self, messages: Sequence[Message]) -> tuple[list[StoredMessage], list[Passage]]:
        """Take the messages into the window: all it holds now, and the new ones as passages."""
        before = len(self.store.live(WINDOW))
        store_messages(self.store, messages, WINDOW)
        held = stored_messages(self.store, WINDOW)
        summary = "".join(item.text for item in self.store.live(SUMMARY))
        starts = range(before, len(held), self.together)
        return held, [
            Passage(held[at : at + self.together], held[max(0, at - self.recent) : at], summary)
            for at in starts
        ]

    def refreshing(self, held: Sequence[StoredMessage]) -> list[PromptRequest]:
        """What to ask for a new summary, once it is `refresh` messages behind."""
        behind = self._behind(held)
        if len(behind) < self.refresh:
            return []
        passage = Passage(behind, summary="".join(item.text for item in self.store.live(SUMMARY)))
        fields = {"summary": passage.summary or NONE, "messages": passage.fields()["messages"]}
        return [PromptRequest("summarise", fields, passage.sources)]

    def leave(self, held: Sequence[StoredMessage], refreshed: Sequence[Summary | None]) -> None:
        """Write the new summary, if one was asked for, and let go of what neither it nor a passage will need.

        What a model fails to sum up leaves the window all the same, and its failure says so: a window must not
        grow with a model's failures.
        """
        behind = self._behind(held)
        for summary in refreshed:
            sources = tuple(source for message in behind for source in message.item.sources)
            self._sum_up(summary, sources)
        old = held[: max(0, len(held) - self.recent)]
        waiting = [] if refreshed else [message.item.entry_id for message in behind]
        retire_messages(
            self.store, [message for message in old if message.item.entry_id not in waiting], WINDOW
        )

    def _behind(self, held: Sequence[StoredMessage]) -> list[StoredMessage]:
        """The messages of the window that the summary does not cover."""
        covered = {source for item in self.store.live(SUMMARY) for source in item.sources}
        return [message for message in held if not covered.issuperset(message.item.sources)]

    def _sum_up(self, summary: Summary | None, sources: tuple[str, ...]) -> None:
        if summary is None:
            return
        before = self.store.live(SUMMARY)
        if before:
            self.store.revise(before[0], text=summary.text, sources=(*before[0].sources, *sources))
        else:
            self.store.add(SUMMARY, summary.text, sources=sources)
