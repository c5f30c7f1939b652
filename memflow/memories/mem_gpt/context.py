"""MemGPT's main context: working context (persona and human), summary, queue and search results, with token counts.

All lines are numbered, so that a function call can cite its source lines.
"""

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from memflow.memories.entries import EntryStore, Item
from memflow.memories.mem_gpt.answers import (
    AnySearchCall,
    AnyWriteCall,
    RecallSearchDate,
    Section,
    WorkingAppend,
    WorkingReplace,
)
from memflow.memories.memory import Recall
from memflow.memories.notes import join_texts
from memflow.memories.verbatim import StoredMessage, as_turns, stored_messages, with_buffer
from memflow.tokens import estimate

WORKING, SUMMARY, QUEUE = "working", "summary", "queue"

SECTIONS: dict[Section, str] = {"persona": "Persona", "human": "Human"}
"""The sections of the working context, and their headings."""

NOTHING = "(nothing)"


@dataclass(frozen=True)
class Context:
    """The main context at one point in time. `size` is the token limit of its working context."""

    working: Sequence[Item]
    summary: Sequence[Item]
    """At most one summary."""
    queue: Sequence[StoredMessage]
    size: int
    found: Sequence[Item] = ()

    @classmethod
    def from_store(cls, store: EntryStore, size: int, found: Sequence[Item] = ()) -> "Context":
        """Return the main context that consists of a store's current entries and the search results `found`."""
        working = sorted(store.live(WORKING), key=lambda item: [*SECTIONS].index(item.meta["section"]))
        return cls(working, store.live(SUMMARY), stored_messages(store, QUEUE), size, found)

    @cached_property
    def tokens(self) -> int:
        """The number of tokens that a read adds to the prompt, without search results."""
        return estimate(self._notes()) + sum(self._sizes)

    @property
    def numbers(self) -> dict[str, int]:
        """The maximum of `line` and `rests_on`, properties of function calls that cite lines: the number of lines."""
        return dict.fromkeys(("line", "rests_on"), len(self._texts))

    @property
    def room(self) -> int:
        """The number of free tokens in the working context."""
        return self.size - sum(estimate(item.text) for item in self.working)

    def leaving(self, share: float, limit: float) -> Sequence[StoredMessage]:
        """Return the oldest messages to evict: at least `share` of the queue's tokens, and all tokens above `limit`.

        At least one message is returned, so that a message larger than the whole budget passes through the queue.
        """
        goal = max(share * sum(self._sizes), self.tokens - limit)
        count, evicted_tokens = 0, 0
        while count < len(self.queue) and (count == 0 or evicted_tokens < goal):
            evicted_tokens += self._sizes[count]
            count += 1
        return self.queue[:count]

    def section(self, name: Section) -> list[Item]:
        """Return the lines of a section of the working context."""
        return [item for item in self.working if item.meta["section"] == name]

    def fields(self) -> dict[str, str]:
        """Return the parts of the context by prompt field, one line per entry, numbered from 1 over all parts."""
        lines = [f"{number}. {' '.join(text.split())}" for number, text in enumerate(self._texts, 1)]
        sections: dict[str, Sized] = {
            "persona": self.section("persona"),
            "human": self.section("human"),
            "summary": self.summary,
            "messages": self.queue,
            "found": self.found,
        }
        remaining_lines = iter(lines)  # in the order of the sections
        return {
            name: "\n".join(islice(remaining_lines, len(items))) or NOTHING
            for name, items in sections.items()
        }

    def sources(self, numbers: Iterable[int]) -> list[str]:
        """Return the distinct ids of the source messages of the lines with these numbers."""
        return list(dict.fromkeys(source for number in numbers for source in self._items[number - 1].sources))

    def line(self, number: int) -> Item:
        """Return the entry of the working context that has this line number."""
        return self.working[number - 1]

    def find_error(
        self, call: AnyWriteCall | AnySearchCall, accepted: Sequence[AnyWriteCall | AnySearchCall]
    ) -> str | None:
        """Return the error in a function call that follows the calls `accepted`, or None."""
        if error := self._argument_error(call):
            return error
        if not isinstance(call, WorkingAppend | WorkingReplace):
            return None
        replaced_lines = [change.line for change in accepted if isinstance(change, WorkingReplace)]
        if isinstance(call, WorkingReplace) and call.line in replaced_lines:
            return f"line {call.line} of the working context is replaced twice"
        room = self.room
        for change in (*accepted, call):
            if isinstance(change, WorkingReplace):
                room += estimate(self.line(change.line).text)
            if isinstance(change, WorkingAppend | WorkingReplace):
                room -= estimate(change.text)
        if room < min(0, self.room):  # a context that is already too large may shrink
            return f"the working context would be {-room} tokens too large: shorten it, or use the archive"
        return None

    def recall(self) -> Recall:
        """Return working context, summary and search results as notes, and the message queue as chat turns."""
        notes = self._notes(sorted(self.found, key=lambda item: item.order))
        entries = (*self.found, *self.working, *self.summary)
        return with_buffer(Recall(notes=notes, entries=entries, injected_tokens=estimate(notes)), self.queue)

    def _argument_error(self, call: AnyWriteCall | AnySearchCall) -> str | None:
        """Return the error in the arguments of a function call, or None."""
        if isinstance(call, RecallSearchDate):
            is_ordered = call.start_date <= call.end_date
            return (
                None if is_ordered else f"{call.function} starts at {call.start_date}, after {call.end_date}"
            )
        if isinstance(call, AnySearchCall):
            return None if call.query.strip() else f"{call.function} has an empty query"
        if not call.text.strip() and not isinstance(call, WorkingReplace):
            return f"{call.function} has an empty text"
        if max(call.rests_on) > len(self._items):
            return f"there is no line {max(call.rests_on)}; they are numbered 1 to {len(self._items)}"
        if isinstance(call, WorkingReplace) and call.line > len(self.working):
            return f"line {call.line} is none of the {len(self.working)} lines of the working context"
        return None

    @cached_property
    def _sizes(self) -> list[int]:
        return [estimate(turn.content) for turn in as_turns(self.queue)]

    @cached_property
    def _items(self) -> list[Item]:
        return [*self.working, *self.summary, *(message.item for message in self.queue), *self.found]

    @cached_property
    def _texts(self) -> list[str]:
        texts = [item.text for item in (*self.working, *self.summary)]
        return [*texts, *(message.note() for message in self.queue), *(item.text for item in self.found)]

    def _notes(self, results: Sequence[Item] = ()) -> str:
        sections = (
            *((title, self.section(name)) for name, title in SECTIONS.items()),
            ("Summary of earlier messages", self.summary),
            ("Retrieved", results),
        )
        return "\n\n".join(f"{title}:\n{join_texts(items)}" for title, items in sections if items)
