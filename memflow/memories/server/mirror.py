"""Mirror: the entries of a store that correspond to the items of a memory server, and the checks of these items."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memflow.errors import ServerFailed
from memflow.memories.entries import EntryStore, Item
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import FAILURE
from memflow.memories.server.protocol import Capabilities, SentMessage, Wire, WireItem

MEMORY = "memory"
"""The kind of an entry whose item has no usable kind of its own."""
SERVER, WRITE, READ, NOTES = "server", "write", "read", "notes"
"""Kinds of entries for the server's declaration, a write, a stored read, and the server's own notes."""
UNSTORED = "unstored:"
"""The first characters of the ids of items without an entry, which a server returned and did not export."""
_KIND = re.compile(r"[a-z][a-z0-9_]{0,40}")


def is_unstored(entry_id: str) -> bool:
    """Return whether an id is of an item that a server returned and did not export."""
    return entry_id.startswith(UNSTORED)


class SentWrite(Wire):
    """A write that was sent, or a request to `forget`, as the metadata of an entry.

    `failed` is whether the server reported that it failed. `extracted` are the texts that the server declares for the
    write, if it does.
    """

    write: int
    messages: tuple[SentMessage, ...]
    failed: bool = False
    forget: ForgetRequest | None = None
    extracted: tuple[str, ...] | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the messages, in their order."""
        return tuple(message.id for message in self.messages)

    @property
    def summary(self) -> str:
        """The number of the write and of its messages, as text."""
        count = len(self.messages)
        content = f"{count} message{'' if count == 1 else 's'}"
        content = content if self.forget is None else f"forget by {self.forget.by}"
        return f"write {self.write}: {content}" + (", failed" * self.failed)


@dataclass
class Mirror:
    """The items of one space as entries of a store.

    `writes` are all writes of the space; they resolve the sources of items.
    """

    store: EntryStore
    capabilities: Capabilities
    reserved_kinds: frozenset[str]
    writes: list[SentWrite] = field(default_factory=list)
    _messages: dict[str, int] = field(default_factory=dict)
    _message_ids_by_write: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _entries: dict[str, str] = field(default_factory=dict)
    _reported: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for entry in self.store.live(WRITE):
            self.add_write(SentWrite.model_validate(entry.meta))
        for entry in self.store.live():
            if "id" in entry.meta:
                self._entries[entry.meta["id"]] = entry.entry_id

    def add_write(self, write: SentWrite) -> None:
        """Add a write, whose messages may be sources of items from now on."""
        self.writes.append(write)
        self._message_ids_by_write[str(write.write)] = write.ids
        for message in write.messages:
            self._messages.setdefault(message.id, len(self._messages))

    def retire_all(self) -> None:
        """Retire the entries of all items and notes, since what the server contains is not known any more."""
        self.add_exported(())
        for notes in self.store.live(NOTES):
            self.store.retire(notes.entry_id)

    def add_returned(self, items: Sequence[WireItem]) -> list[Item]:
        """Return the entries of items that a read returned, and add those that are new. Raises ServerFailed."""
        self.check(items)
        return [self._write_entry(item, self._find(item)) for item in items]

    def find_returned(self, items: Sequence[WireItem]) -> list[Item]:
        """Return the entries of items that a read returned, without a change of the store. Raises ServerFailed.

        An item without an entry is returned as an entry that the store does not have.
        """
        self.check(items)
        first_order = 1 + max((entry.order for entry in self.store), default=-1)
        return [
            self._find(item) or self._unstored_entry(item, order)
            for order, item in enumerate(items, first_order)
        ]

    def add_exported(self, items: Sequence[WireItem]) -> None:
        """Make the current entries equal to the items of an export.

        An invalid item is recorded as a failure, once per reason; the entry that it had stays as it was.
        """
        current = [item for item in items if item.until is None]
        current_ids = {item.id for item in current}
        checked_ids: set[str] = set()
        valid = []
        for item in current:
            if problem := self._problem(item, checked_ids):
                if problem not in self._reported:
                    self._reported.add(problem)
                    self.store.add(FAILURE, problem, sources=())
            else:
                valid.append(item)
        entries = [self._find(item) for item in valid]
        matched_ids = {entry.entry_id for entry in entries if entry is not None}
        for item, entry in zip(valid, entries, strict=True):
            predecessor = None if item.previous in (None, *current_ids) else self._entry(item.previous)
            previous = None if predecessor is None or predecessor.entry_id in matched_ids else predecessor
            matched_ids.add(self._write_entry(item, entry, previous).entry_id)
        for item_id in [known_id for known_id in self._entries if known_id not in current_ids]:
            entry = self._entry(item_id)
            if entry is not None and entry.entry_id not in matched_ids:
                self.store.retire(entry.entry_id)
            del self._entries[item_id]

    def check(self, items: Iterable[WireItem]) -> None:
        """Raise ServerFailed for an item that is invalid under the server's capabilities."""
        checked_ids: set[str] = set()
        for item in items:
            if problem := self._problem(item, checked_ids):
                raise ServerFailed(problem)

    def position(self, entry: Item) -> int | None:
        """Return the position of an entry's first source among all messages; None without a source."""
        return min(
            (self._messages[source] for source in entry.sources if source in self._messages), default=None
        )

    def unknown(self, ids: Iterable[str]) -> list[str]:
        """Return the ids of messages that were never sent to this space."""
        return [message_id for message_id in ids if message_id not in self._messages]

    def _problem(self, item: WireItem, checked_ids: set[str]) -> str:
        """Return the error in an item; empty if the item is valid."""
        unit = self.capabilities.sources
        if item.id in checked_ids:
            return f"the item id {item.id!r} occurs twice in one answer. Return each item once."
        checked_ids.add(item.id)
        if unit == "none":
            return ""
        if not item.sources:
            return (
                f"the server declares `sources: {unit!r}`, but the item {item.id!r} has none. Return the sources, or "
                "declare 'none'."
            )
        sendable = self._messages if unit == "message" else self._message_ids_by_write
        unknown = [source for source in item.sources if source not in sendable]
        if unknown:
            return (
                f"the item {item.id!r} has the source {unknown[0]!r}, which is no {unit} that was sent to its space "
                "up to the state that was read. Return ids that were sent."
            )
        return ""

    def _write_entry(self, item: WireItem, entry: Item | None, previous: Item | None = None) -> Item:
        """Return the entry of an item: `entry` if there is one, a revision of an earlier entry, or a new entry."""
        if entry is None:
            text, sources, meta = item.text, self._source_ids(item), self._meta(item)
            earlier = self._entry(item.id) or previous
            if earlier is None:
                entry = self.store.add(self._entry_kind(item), text, sources=sources, meta=meta)
            else:
                entry = self.store.revise(
                    earlier, text=text, sources=sources, meta=meta, kind=self._entry_kind(item)
                )
        self._entries[item.id] = entry.entry_id
        return entry

    def _find(self, item: WireItem) -> Item | None:
        """Return the current entry of an item, if it has the item's content."""
        entry = self._entry(item.id)
        content = self._entry_kind(item), item.text, self._source_ids(item), item.sent_at
        if entry is None or content != (entry.kind, entry.text, entry.sources, entry.meta.get("sent_at")):
            return None
        return entry

    def _entry(self, item_id: str | None) -> Item | None:
        entry = self._entries.get(item_id) if item_id is not None else None
        return None if entry is None else self.store.get(entry)

    def _unstored_entry(self, item: WireItem, order: int) -> Item:
        """Return an item of the server as an entry that is not added to the store."""
        kind = self._entry_kind(item)
        return Item(
            f"{UNSTORED}{kind}:{item.id}",
            kind,
            item.text,
            self._source_ids(item),
            self.store.sequence,
            order=order,
            meta=self._meta(item),
        )

    def _entry_kind(self, item: WireItem) -> str:
        is_usable = _KIND.fullmatch(item.kind) and item.kind not in self.reserved_kinds
        return item.kind if is_usable else MEMORY

    def _source_ids(self, item: WireItem) -> tuple[str, ...]:
        """Return the ids of an item's source messages."""
        if self.capabilities.sources == "none":
            return ()
        if self.capabilities.sources == "message":
            return item.sources
        return tuple(
            dict.fromkeys(
                message_id for source in item.sources for message_id in self._message_ids_by_write[source]
            )
        )

    def _meta(self, item: WireItem) -> Mapping[str, Any]:
        """Return the metadata of an item's entry: its id, date, writes, and kind if the entry has another kind."""
        meta: dict[str, Any] = {"id": item.id}
        if item.sent_at is not None:
            meta["sent_at"] = item.sent_at
        if self.capabilities.sources == "write":
            meta["writes"] = list(item.sources)
        if self._entry_kind(item) != item.kind:
            meta["kind"] = item.kind
        return meta


def wire_items(store: EntryStore) -> list[WireItem]:
    """Return the items of the current entries for `restore`, with the sources that the server reported."""
    return [
        WireItem(
            id=entry.meta["id"],
            text=entry.text,
            sources=tuple(entry.meta.get("writes", entry.sources)),
            sent_at=entry.meta.get("sent_at"),
            kind=entry.meta.get("kind", entry.kind),
        )
        for entry in store.live()
        if "id" in entry.meta
    ]
