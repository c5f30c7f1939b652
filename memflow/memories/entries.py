"""EntryStore: the append-only store of a memory's entries.

Entries are added and retired; a change retires an entry and adds its next version. The state at a sequence number
consists of the entries with `since <= sequence < until`. A memory keeps all its state in its store, including buffers,
summaries and profiles.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a memory. `order` is the number of the addition; it orders entries with equal `since`.

    `meta` is further JSON data, such as importance or links, and is never changed in place. `previous` is the id of the
    entry that this version replaces. Comparisons ignore vectors, which are computed from the texts.
    """

    entry_id: str
    kind: str
    text: str
    sources: tuple[str, ...]
    since: int
    until: int | None = None
    role: str | None = None
    vector: Vector | None = field(default=None, compare=False, repr=False)
    order: int = 0
    meta: Mapping[str, Any] = field(default_factory=dict)
    previous: str | None = None

    def alive(self, sequence: int) -> bool:
        """Return whether the entry is current (not retired) at `sequence`, after this number of messages."""
        return self.since <= sequence and (self.until is None or sequence < self.until)


def sources_of(items: Iterable[Item]) -> tuple[str, ...]:
    """Return the distinct ids of the source messages of entries, in order."""
    return tuple(dict.fromkeys(source for item in items for source in item.sources))


class EntryStore:
    """The entries of one memory in one episode. `sequence` is the number of messages so far and only increases.

    Stores restored from the same entries may share `documents`, which their search indexes fill (search.py).
    """

    def __init__(self, documents: dict[Any, Any] | None = None) -> None:
        self.sequence = 0
        self.documents = {} if documents is None else documents
        self._items: dict[str, Item] = {}
        self._live: dict[str, dict[str, Item]] = {}  # current entries: kind -> id -> entry
        self._changes: list[Item] = []
        self._successors: dict[str, str] = {}  # id of an entry -> id of its next version
        self._addition_count = 0

    def add(
        self,
        kind: str,
        text: str,
        *,
        sources: Iterable[str],
        role: str | None = None,
        vector: Vector | None = None,
        meta: Mapping[str, Any] | None = None,
        previous: str | None = None,
    ) -> Item:
        """Add an entry at the current sequence number and return it.

        `meta` must be JSON data; it is stored after a JSON round trip.
        """
        item = Item(
            f"{kind}-{self._addition_count}",
            kind,
            text,
            tuple(sources),
            self.sequence,
            None,
            role,
            vector,
            self._addition_count,
            json.loads(json.dumps(meta)) if meta else {},
            previous,
        )
        self._addition_count += 1
        self._add_live(item)
        return item

    def revise(
        self,
        item: Item,
        *,
        text: str | None = None,
        sources: Iterable[str] | None = None,
        vector: Vector | None = None,
        meta: Mapping[str, Any] | None = None,
        kind: str | None = None,
    ) -> Item:
        """Retire a current entry, add its next version with the given changes, and return this version.

        With a new text and no `vector`, the next version has no vector. Raises KeyError if `item` is retired.
        """
        self.retire(item.entry_id)
        return self.add(
            kind or item.kind,
            item.text if text is None else text,
            sources=item.sources if sources is None else sources,
            role=item.role,
            vector=item.vector if vector is None and text in (None, item.text) else vector,
            meta=item.meta if meta is None else meta,
            previous=item.entry_id,
        )

    def retire(self, entry_id: str) -> None:
        """Retire an entry at the current sequence number. Raises KeyError if it is already retired."""
        item = self._items[entry_id]
        del self._live[item.kind][entry_id]
        retired_item = replace(item, until=self.sequence)
        self._items[entry_id] = retired_item
        self._changes.append(retired_item)

    def advance(self, messages: int) -> None:
        """Increase `sequence` by a number of messages. The runner calls this method before a write."""
        self.sequence += messages

    def live(self, *kinds: str) -> list[Item]:
        """Return the current (not retired) entries, oldest first; if `kinds` are given, only those of these kinds."""
        if len(kinds) == 1:
            return list(self._live.get(kinds[0], {}).values())
        entries = [
            item
            for kind, items in self._live.items()
            if not kinds or kind in kinds
            for item in items.values()
        ]
        return sorted(entries, key=lambda item: item.order)

    def newest(self, kind: str) -> Item | None:
        """Return the most recently added current entry of a kind, or None, in constant time."""
        return next(reversed(self._live.get(kind, {}).values()), None)

    def get(self, entry_id: str) -> Item | None:
        """Return the current entry with an id; None if it is unknown or retired."""
        item = self._items.get(entry_id)
        return item if item is not None and item.until is None else None

    def latest(self, entry_id: str) -> Item | None:
        """Return the newest version of an entry, or None if that version is retired.

        An entry that was never revised is its own newest version.
        """
        while entry_id in self._successors:
            entry_id = self._successors[entry_id]
        return self.get(entry_id)

    @property
    def version(self) -> int:
        """The number of additions and retirements so far. Equal versions of one store mean equal contents."""
        return len(self._changes)

    def changes(self, version: int = 0) -> list[Item]:
        """Return the additions (`until` is None) and retirements since a version number, in order."""
        return self._changes[version:]

    def __iter__(self) -> Iterator[Item]:
        """Return an iterator over all entries ever added, in order."""
        return iter(self._items.values())

    def __reversed__(self) -> Iterator[Item]:
        """Return an iterator over all entries ever added, the newest first."""
        return reversed(self._items.values())

    def __len__(self) -> int:
        return sum(map(len, self._live.values()))

    def fork(self) -> "EntryStore":
        """Return an independent copy of the store."""
        return EntryStore.restored(list(self), self.sequence)

    @classmethod
    def restored(
        cls, items: Sequence[Item], sequence: int, documents: dict[Any, Any] | None = None
    ) -> "EntryStore":
        """Return a store with the state at `sequence`: without later entries and without later retirements."""
        store = cls(documents)
        store.sequence = sequence
        for item in sorted(items, key=lambda item: item.order):
            if item.since > sequence:
                continue
            if item.until is None or item.until > sequence:
                store._add_live(item if item.until is None else replace(item, until=None))
            else:
                store._index(item)
        store._addition_count = 1 + max((item.order for item in items if item.since <= sequence), default=-1)
        return store

    def _index(self, item: Item) -> None:
        self._items[item.entry_id] = item
        if item.previous is not None:
            self._successors[item.previous] = item.entry_id

    def _add_live(self, item: Item) -> None:
        self._index(item)
        self._live.setdefault(item.kind, {})[item.entry_id] = item
        self._changes.append(item)
