"""Which notes are linked: a link is written once, in the newer note, and leads both ways."""

from collections import defaultdict

from memflow.memories.a_mem.note import NOTE
from memflow.memories.entries import EntryStore, Item


class Boxes:
    """The links between the live notes of a store, followed like an index: by the notes' numbers."""

    def __init__(self, store: EntryStore) -> None:
        self.store = store
        self._version = 0
        self._notes: dict[int, Item] = {}
        self._linked_by: dict[int, list[int]] = defaultdict(list)

    def around(self, item: Item) -> list[Item]:
        """The live notes that a note was linked with, in the order given, then those later linked with it."""
        self._follow()
        linked = [found for link in item.meta["links"] if (found := self.store.latest(link)) is not None]
        # Sorted: a restored store meets notes in the order of their last versions.
        later = sorted(self._linked_by.get(item.meta["number"], ()))
        return [*linked, *(self._notes[number] for number in later)]

    def _follow(self) -> None:
        for item in self.store.changes(self._version):
            if item.kind != NOTE or item.until is not None:
                continue
            number = item.meta["number"]
            # A note keeps the links it was written with: they count once, whatever its version.
            for link in () if number in self._notes else item.meta["links"]:
                if (target := self.store.latest(link)) is not None:
                    self._linked_by[target.meta["number"]].append(number)
            self._notes[number] = item
        self._version = self.store.version
