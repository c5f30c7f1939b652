"""When entries were last recalled, and how often: for memories that rank or forget by it.

A recall is one entry of kind `access` that names the entries recalled, so that a thousand recalls of a long
memory are a thousand short entries and no copy of it. A memory that uses this adds ACCESS to its `bookkeeping`.
"""

from collections import Counter
from collections.abc import Sequence

from memflow.memories.entries import EntryStore, Item

ACCESS = "access"


class AccessLog:
    """The recalls that a store holds. It follows the store, as an index does."""

    def __init__(self, store: EntryStore) -> None:
        self.store = store
        self._version = 0
        self._last: dict[str, int] = {}
        self._times: Counter[str] = Counter()

    def note(self, items: Sequence[Item], at: int) -> None:
        """Write that they were recalled `at` a logical time, of whatever unit the memory counts in."""
        if items:
            self.store.add(
                ACCESS, "", sources=(), meta={"at": at, "entries": [one.entry_id for one in items]}
            )

    def last(self, item: Item) -> int | None:
        """When it was last recalled; None, if it never was."""
        self._follow()
        return self._last.get(item.entry_id)

    def times(self, item: Item) -> int:
        """How often it was recalled."""
        self._follow()
        return self._times[item.entry_id]

    def _follow(self) -> None:
        if self._version == self.store.version:
            return
        for change in self.store.changes(self._version):
            if change.kind == ACCESS and change.until is None:
                self._last.update(dict.fromkeys(change.meta["entries"], change.meta["at"]))
                self._times.update(change.meta["entries"])
        self._version = self.store.version
