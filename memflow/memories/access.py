"""Access times and access counts of entries, for memories that rank or forget entries by these values.

Each recall adds an entry of kind `access` with the ids of the recalled entries. Add ACCESS to `bookkeeping_kinds`.
"""

from collections import Counter
from collections.abc import Sequence

from memflow.memories.entries import EntryStore, Item

ACCESS = "access"


class AccessLog:
    """The accesses of entries that a store records, updated from the changes of the store like an index."""

    def __init__(self, store: EntryStore) -> None:
        self.store = store
        self._version = 0
        self._last: dict[str, int] = {}
        self._times: Counter[str] = Counter()

    def note(self, items: Sequence[Item], at: int) -> None:
        """Record an access of `items` at the logical time `at`, in the memory's own unit."""
        if items:
            self.store.add(
                ACCESS, "", sources=(), meta={"at": at, "entries": [item.entry_id for item in items]}
            )

    def last(self, item: Item) -> int | None:
        """Return the time of an entry's last access; None if it was never accessed."""
        self._process_changes()
        return self._last.get(item.entry_id)

    def times(self, item: Item) -> int:
        """Return how often an entry was accessed."""
        self._process_changes()
        return self._times[item.entry_id]

    def _process_changes(self) -> None:
        """Count the accesses that the store recorded since the last call."""
        if self._version == self.store.version:
            return
        for change in self.store.changes(self._version):
            if change.kind == ACCESS and change.until is None:
                self._last.update(dict.fromkeys(change.meta["entries"], change.meta["at"]))
                self._times.update(change.meta["entries"])
        self._version = self.store.version
