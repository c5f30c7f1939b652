"""Mirror: the entries of a store that correspond to the items of a memory server, and the checks of these items."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memflow.errors import ServerFailed
from memflow.memories.entries import EntryStore, Item
from memflow.memories.memory import FAILURE
from memflow.memories.server.protocol import Capabilities, SentMessage, WireItem

MEMORY = "memory"
"""The kind of an entry whose item has no usable kind of its own."""
SERVER, WRITE, READ, NOTES = "server", "write", "read", "notes"
"""Kinds of entries for the server's declaration, a write, a stored read, and the server's own notes."""
UNSTORED = "unstored:"
"""The first characters of the ids of items without an entry, which a server returned and did not export."""
_KIND = re.compile(r"[a-z][a-z0-9_]{0,40}")


def unstored(entry_id: str) -> bool:
    """Return whether an id is of an item that a server returned and did not export."""
    return entry_id.startswith(UNSTORED)


@dataclass(frozen=True)
class SentWrite:
    """A write that was sent. `failed` is whether the server reported that the whole write failed."""

    number: int
    messages: tuple[SentMessage, ...]
    failed: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the messages."""
        return tuple(message.id for message in self.messages)

    @property
    def summary(self) -> str:
        """The number of the write and of its messages, as text."""
        count = len(self.messages)
        return f"write {self.number}: {count} message{'' if count == 1 else 's'}" + (", failed" * self.failed)

    def meta(self) -> dict[str, Any]:
        """Return the write as metadata of an entry."""
        sent = [message.model_dump(mode="json", exclude_none=True) for message in self.messages]
        return {"write": self.number, "messages": sent, **({"failed": True} if self.failed else {})}

    @classmethod
    def of(cls, entry: Item) -> "SentWrite":
        """Return the write that an entry records."""
        messages = tuple(SentMessage.model_validate(each) for each in entry.meta["messages"])
        return cls(entry.meta["write"], messages, entry.meta.get("failed", False))


@dataclass
class Mirror:
    """The items of one space as entries of a store.

    `writes` are all writes of the space; they resolve the sources of items.
    """

    store: EntryStore
    can: Capabilities
    reserved_kinds: frozenset[str]
    writes: list[SentWrite] = field(default_factory=list)
    _messages: dict[str, int] = field(default_factory=dict)
    _of_write: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _entries: dict[str, str] = field(default_factory=dict)
    _contents: dict[tuple[Any, ...], str] = field(default_factory=dict)
    _reported: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for entry in self.store.live(WRITE):
            self.add_write(SentWrite.of(entry))
        for entry in self.store.live():
            if "id" in entry.meta:
                self._remember(entry)

    def add_write(self, write: SentWrite) -> None:
        """Add a write, whose messages may be sources of items from now on."""
        self.writes.append(write)
        self._of_write[str(write.number)] = write.ids
        for message in write.messages:
            self._messages.setdefault(message.id, len(self._messages))

    def add_returned(self, items: Sequence[WireItem]) -> list[Item]:
        """Return the entries of items that a read returned, and add those that are new. Raises ServerFailed."""
        self.check(items)
        return [self._put(item, found) for item, found in zip(items, self._find(items), strict=True)]

    def find_returned(self, items: Sequence[WireItem]) -> list[Item]:
        """Return the entries of items that a read returned, without a change of the store. Raises ServerFailed.

        An item without an entry is returned as an entry that the store does not have.
        """
        self.check(items)
        after = 1 + max((entry.order for entry in self.store), default=-1)
        return [
            found or self._unstored(item, after + at)
            for at, (item, found) in enumerate(zip(items, self._find(items), strict=True))
        ]

    def add_exported(self, items: Sequence[WireItem]) -> None:
        """Make the current entries equal to the items of an export.

        An invalid item is recorded as a failure, once per reason; the entry that it had stays as it was.
        """
        now = [item for item in items if item.until is None]
        there = {item.id for item in now}
        seen: set[str] = set()
        valid = []
        for item in now:
            if problem := self._problem(item, seen):
                self._fail(problem)
            else:
                valid.append(item)
        found = self._find(valid)
        present = {entry.entry_id for entry in found if entry is not None}
        for item, entry in zip(valid, found, strict=True):
            replaced = None if item.previous in (None, *there) else self._entry(item.previous)
            before = None if replaced is None or replaced.entry_id in present else replaced
            present.add(self._put(item, entry, before).entry_id)
        for item_id in [each for each in self._entries if each not in there]:
            entry = self._entry(item_id)
            if entry is not None and entry.entry_id not in present:
                self._forget(entry)
                self.store.retire(entry.entry_id)
            del self._entries[item_id]

    def check(self, items: Iterable[WireItem]) -> None:
        """Raise ServerFailed for an item that is invalid under the server's capabilities."""
        seen: set[str] = set()
        for item in items:
            if problem := self._problem(item, seen):
                raise ServerFailed(problem)

    def position(self, entry: Item) -> int | None:
        """Return the position of an entry's first source among all messages; None without a source."""
        return min(
            (self._messages[source] for source in entry.sources if source in self._messages), default=None
        )

    def unknown(self, ids: Iterable[str]) -> list[str]:
        """Return the ids of messages that were never sent to this space."""
        return [each for each in ids if each not in self._messages]

    def _problem(self, item: WireItem, seen: set[str]) -> str:
        """Return what is wrong with an item; empty if nothing is."""
        grain = self.can.sources
        if item.id in seen:
            return f"the item id {item.id!r} occurs twice in one answer. Return each item once."
        seen.add(item.id)
        if grain == "none":
            return ""
        if not item.sources:
            return (
                f"the server declares `sources: {grain!r}`, but the item {item.id!r} has none. Return the sources, or "
                "declare 'none'."
            )
        known = self._messages if grain == "message" else self._of_write
        unknown = [source for source in item.sources if source not in known]
        if unknown:
            return (
                f"the item {item.id!r} has the source {unknown[0]!r}, which is no {grain} that was sent to its space "
                "up to the state that was read. Return ids that were sent."
            )
        return ""

    def _fail(self, problem: str) -> None:
        if problem not in self._reported:
            self._reported.add(problem)
            self.store.add(FAILURE, problem, sources=())

    def _put(self, item: WireItem, found: Item | None, previous: Item | None = None) -> Item:
        """Return the entry of an item: the one that was found, a revision of an earlier one, or a new entry."""
        if found is None:
            text, sources, meta = item.text, self._sources(item), self._meta(item)
            before = self._entry(item.id) or previous
            if before is None:
                found = self.store.add(self._kind(item), text, sources=sources, meta=meta)
            else:
                self._forget(before)
                found = self.store.revise(
                    before, text=text, sources=sources, meta=meta, kind=self._kind(item)
                )
        self._remember(found, item.id)
        return found

    def _find(self, items: Sequence[WireItem]) -> list[Item | None]:
        """Return the current entry with the content of each item: by its id, or by equal content if ids are random."""
        found = [self._entry(item.id) for item in items]
        contents = [self._content_of(item) for item in items]
        same = [
            entry if entry is not None and self._content(entry) == content else None
            for entry, content in zip(found, contents, strict=True)
        ]
        used = {entry.entry_id for entry in found if entry is not None}
        for at, content in enumerate(contents):
            entry_id = self._contents.get(content) if found[at] is None else None
            if entry_id is not None and entry_id not in used:
                used.add(entry_id)
                same[at] = self.store.get(entry_id)
        return same

    def _entry(self, item_id: str | None) -> Item | None:
        entry = self._entries.get(item_id) if item_id is not None else None
        return None if entry is None else self.store.get(entry)

    def _remember(self, entry: Item, item_id: str | None = None) -> None:
        self._entries[item_id or entry.meta["id"]] = entry.entry_id
        self._contents[self._content(entry)] = entry.entry_id

    def _forget(self, entry: Item) -> None:
        if self._contents.get(self._content(entry)) == entry.entry_id:
            del self._contents[self._content(entry)]

    def _content(self, entry: Item) -> tuple[Any, ...]:
        return entry.kind, entry.text, entry.sources, entry.meta.get("sent_at")

    def _content_of(self, item: WireItem) -> tuple[Any, ...]:
        return self._kind(item), item.text, self._sources(item), item.sent_at

    def _unstored(self, item: WireItem, order: int) -> Item:
        kind = self._kind(item)
        return Item(
            f"{UNSTORED}{kind}:{item.id}",
            kind,
            item.text,
            self._sources(item),
            self.store.sequence,
            order=order,
            meta=self._meta(item),
        )

    def _kind(self, item: WireItem) -> str:
        usable = _KIND.fullmatch(item.kind) and item.kind not in self.reserved_kinds
        return item.kind if usable else MEMORY

    def _sources(self, item: WireItem) -> tuple[str, ...]:
        """Return the ids of an item's source messages."""
        if self.can.sources == "none":
            return ()
        if self.can.sources == "message":
            return item.sources
        return tuple(dict.fromkeys(each for source in item.sources for each in self._of_write[source]))

    def _meta(self, item: WireItem) -> Mapping[str, Any]:
        """Return what restores the item, and its date."""
        found: dict[str, Any] = {"id": item.id}
        if item.sent_at is not None:
            found["sent_at"] = item.sent_at
        if self.can.sources == "write":
            found["writes"] = list(item.sources)
        if self._kind(item) != item.kind:
            found["kind"] = item.kind
        return found


def wire_items(store: EntryStore, can: Capabilities) -> list[WireItem]:
    """Return the current entries that correspond to items as items to restore, with the sources that were given."""
    found = []
    for entry in store.live():
        if "id" in entry.meta:
            sources = {"none": (), "write": entry.meta.get("writes", ()), "message": entry.sources}[
                can.sources
            ]
            found.append(
                WireItem(
                    id=entry.meta["id"],
                    text=entry.text,
                    sources=tuple(sources),
                    sent_at=entry.meta.get("sent_at"),
                    kind=entry.meta.get("kind", entry.kind),
                )
            )
    return found
