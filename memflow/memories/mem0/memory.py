"""Mem0: facts extracted from each pair of messages, given a summary and the last messages (section 2.1).

The model sees the summary, the last `recent` messages (paper: m = 10) and the pair; facts are compared with the
`similar` nearest (s = 10). The summary is refreshed after every `refresh` messages.
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
    """A memory of facts that a model extracts from new messages, given a summary and the last messages, and updates."""

    recent: int = parameter(10, "Number of earlier messages in the prompt.")
    refresh: int = parameter(10, "Number of new messages after which the summary is refreshed.", low=1)
    together: int = parameter(2, "Number of messages per extraction of facts.", low=1)

    prompt_stems: ClassVar[tuple[str, ...]] = ("decide", "extract", "summarise")
    calls: ClassVar[Calls] = Calls(chat_write=3, embed_write=2, embed_read=1, per="round")
    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {WINDOW, SUMMARY}
    derived_kinds: ClassVar[frozenset[str]] = frozenset({WINDOW, SUMMARY})
    """The published package deletes memories, with their relations, and neither messages nor entities."""

    async def write(self, messages: Sequence[Message]) -> None:
        """Extract the facts of all message pairs concurrently, then update the stored facts pair by pair."""
        window, passages = self.add_to_window(messages)
        requests = [*map(self.extraction, passages), *self.summary_requests(window)]
        answers = await self.ask_all(requests)
        self.trim_window(window, answers[len(passages) :])
        await self.update_facts([self.new_facts(*pair) for pair in zip(passages, answers, strict=False)])

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the facts nearest to the query; the notes list them in the order of writing."""
        return await self.recall_facts(query)

    def add_to_window(self, messages: Sequence[Message]) -> tuple[list[StoredMessage], list[Passage]]:
        """Add the messages to the window of recent messages. Return the window, and the new messages as passages."""
        old_count = len(self.store.live(WINDOW))
        store_messages(self.store, messages, WINDOW)
        window = stored_messages(self.store, WINDOW)
        summary = "".join(item.text for item in self.store.live(SUMMARY))
        passages = []
        for start in range(old_count, len(window), self.together):
            recent_messages = window[max(0, start - self.recent) : start]
            passages.append(Passage(window[start : start + self.together], recent_messages, summary))
        return window, passages

    def summary_requests(self, window: Sequence[StoredMessage]) -> list[PromptRequest]:
        """Return the request for a new summary, in a list.

        The list is empty if fewer than `refresh` messages wait to be summarized.
        """
        unsummarized = self._unsummarized(window)
        if len(unsummarized) < self.refresh:
            return []
        passage = Passage(unsummarized, summary="".join(item.text for item in self.store.live(SUMMARY)))
        fields = {"summary": passage.summary or NONE, "messages": passage.fields()["messages"]}
        return [PromptRequest("summarise", fields, passage.sources)]

    def trim_window(self, window: Sequence[StoredMessage], new_summaries: Sequence[Summary | None]) -> None:
        """Store the new summary, if requested, and retire the messages that leave the window.

        Messages leave the window even if the summary failed, so that the window does not grow with failures.
        """
        unsummarized = self._unsummarized(window)
        for summary in new_summaries:
            sources = tuple(source for message in unsummarized for source in message.item.sources)
            self._store_summary(summary, sources)
        evicted = window[: max(0, len(window) - self.recent)]
        waiting_ids = [] if new_summaries else [message.item.entry_id for message in unsummarized]
        retire_messages(
            self.store, [message for message in evicted if message.item.entry_id not in waiting_ids], WINDOW
        )

    def _unsummarized(self, window: Sequence[StoredMessage]) -> list[StoredMessage]:
        """Return the messages of the window that are not part of the summary yet."""
        summarized = {source for item in self.store.live(SUMMARY) for source in item.sources}
        return [message for message in window if not summarized.issuperset(message.item.sources)]

    def _store_summary(self, summary: Summary | None, sources: tuple[str, ...]) -> None:
        """Replace the text of the summary and add `sources` to it; without a new summary (None), change nothing."""
        if summary is None:
            return
        summaries = self.store.live(SUMMARY)
        if summaries:
            self.store.revise(summaries[0], text=summary.text, sources=(*summaries[0].sources, *sources))
        else:
            self.store.add(SUMMARY, summary.text, sources=sources)
