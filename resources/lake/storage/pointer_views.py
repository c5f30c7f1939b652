"""Views of a lake's pointers: the newest ones, listed ones that are some seconds old, and those of one moment."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from memflow.errors import BadInput, DamagedFile, StoreFailed
from resources.files.local_files import partition_of
from resources.lake.storage.client import ListedObject, ObjectStore
from resources.lake.storage.keys import errors_named_by, pointer_folder, pointer_key, stem_of_pointer
from resources.lake.storage.pointers import Pointer, TextCache

LISTED_S = 5.0
"""Seconds for which a list of pointers is used by decisions over many partitions."""
THREADS = 16
"""Concurrent requests."""
SNAPSHOT_ATTEMPTS = 10

T = TypeVar("T")
S = TypeVar("S")


class PointerView(Protocol):
    """A way to find pointers by table and name of the partition's files."""

    def get(self, table: str, stem: str) -> Pointer | None:
        """Return a pointer; None if it is missing. Raises BadInput if it is damaged."""
        ...

    def stems(self, table: str) -> list[str]:
        """Return the names of the files of a table's partitions."""
        ...


@dataclass
class NewestPointers:
    """The pointers at the time of each call: one request for each."""

    store: ObjectStore
    texts: TextCache | None
    writes: Counter[str]
    """The number of this process's swaps by table."""

    def get(self, table: str, stem: str) -> Pointer | None:
        """Return the newest pointer of a partition."""
        return self.tagged(table, stem)[0]

    def tagged(self, table: str, stem: str) -> tuple[Pointer | None, str | None]:
        """Return the newest pointer of a partition and its tag, both None if it is missing."""
        key = pointer_key(table, stem)
        with errors_named_by(table, stem, "read"):
            found = self.store.get(key)
        if found is None:
            return None, None
        pointer = self.parse(table, stem, found.content)
        if self.texts is not None:
            self.texts.store(key, found.tag, found.content.decode())
        return pointer, found.tag

    def tag(self, table: str, stem: str) -> str | None:
        """Return the tag of a pointer, which may be damaged."""
        with errors_named_by(table, stem, "read"):
            found = self.store.get(pointer_key(table, stem))
        return None if found is None else found.tag

    def parse(self, table: str, stem: str, text: bytes) -> Pointer:
        """Return the pointer in a text. Raises BadInput with the partition if it is damaged."""
        try:
            return Pointer.parse(text)
        except BadInput as later:
            raise BadInput(f"{self._pointer_name(table, stem)} {later}") from None
        except (ValueError, KeyError, TypeError) as wrong:
            raise DamagedFile(
                f"{self._pointer_name(table, stem)} is damaged ({wrong}). Run `memflow doctor`, which names the "
                "command that rebuilds it from the answers in the ledger."
            ) from None

    def _pointer_name(self, table: str, stem: str) -> str:
        address = f"{self.store.address}/{pointer_key(table, stem)}"
        return f"the pointer {address} of {table} of {partition_of(stem)}"

    def listed(self, table: str) -> dict[str, ListedObject]:
        """Return the listed pointers of a table, by the name of the partition's files."""
        try:
            found = self.store.list(f"{pointer_folder(table)}/")
        except StoreFailed as failed:
            raise StoreFailed(f"the partitions of {table} cannot be listed: {failed}") from None
        return {stem: each for each in found if (stem := stem_of_pointer(each.key)) is not None}

    def of_version(self, table: str, stem: str, listed: ListedObject) -> Pointer | None:
        """Return the pointer in a list: from the cache, or the newest one if it is not cached."""
        text = None if self.texts is None else self.texts.find(listed.key, listed.tag)
        return self.get(table, stem) if text is None else self.parse(table, stem, text.encode())

    def stems(self, table: str) -> list[str]:
        """Return the names of the files of a table's partitions."""
        return list(self.listed(table))


class ListedPointers:
    """Pointers from one list per table, which is repeated after some seconds and after a write of this process."""

    def __init__(self, newest: NewestPointers, clock: Callable[[], float] = time.monotonic) -> None:
        self._newest = newest
        self._clock = clock
        self._tables: dict[str, tuple[float, int, dict[str, Pointer | Exception]]] = {}

    def get(self, table: str, stem: str) -> Pointer | None:
        """Return a pointer of the listed table."""
        found = self._table(table).get(stem)
        if isinstance(found, Exception):
            raise found
        return found

    def stems(self, table: str) -> list[str]:
        """Return the names of the files of the listed table's partitions."""
        return list(self._table(table))

    def _table(self, table: str) -> dict[str, Pointer | Exception]:
        known = self._tables.get(table)
        writes = self._newest.writes[table]
        now = self._clock()
        if known is None or known[0] + LISTED_S < now or known[1] != writes:
            known = (now, writes, read_listed(self._newest, table, self._newest.listed(table)))
            self._tables[table] = known
        return known[2]


@dataclass
class FixedPointers:
    """The pointers of some tables at one moment."""

    tables: dict[str, dict[str, Pointer | Exception]]

    def get(self, table: str, stem: str) -> Pointer | None:
        """Return a pointer of that moment."""
        found = self.tables[table].get(stem)
        if isinstance(found, Exception):
            raise found
        return found

    def stems(self, table: str) -> list[str]:
        """Return the names of the files of the partitions of that moment."""
        return list(self.tables[table])


class PinnedPointers:
    """Pointers that are each read once, for one reading of a partition."""

    def __init__(self, view: PointerView) -> None:
        self._view = view
        self._found: dict[tuple[str, str], Pointer | None] = {}

    def get(self, table: str, stem: str) -> Pointer | None:
        """Return the pointer that the first call found."""
        if (table, stem) not in self._found:
            self._found[table, stem] = self._view.get(table, stem)
        return self._found[table, stem]

    def stems(self, table: str) -> list[str]:
        """Return the names of the files of a table's partitions."""
        return self._view.stems(table)


def fixed_pointers(newest: NewestPointers, tables: Sequence[str]) -> FixedPointers:
    """Return the pointers of tables as they were at one moment.

    The tables are listed, the pointers read, and the tables listed again. Since each swap changes a tag, equal lists
    mean that nothing changed between them. After some attempts beside busy writers, return the last one.
    """
    listed = in_threads(newest.listed, tables)
    for _ in range(SNAPSHOT_ATTEMPTS):
        found = {
            table: read_listed(newest, table, listed_table)
            for table, listed_table in zip(tables, listed, strict=True)
        }
        again = in_threads(newest.listed, tables)
        if again == listed:
            break
        listed = again
    return FixedPointers(found)


def read_listed(
    newest: NewestPointers, table: str, listed: dict[str, ListedObject]
) -> dict[str, Pointer | Exception]:
    """Return the pointers in a list; for one that cannot be read, its error."""

    def read(stem: str) -> Pointer | Exception | None:
        try:
            return newest.of_version(table, stem, listed[stem])
        except (BadInput, StoreFailed) as failed:
            return failed

    found = zip(listed, in_threads(read, listed), strict=True)
    return {stem: pointer for stem, pointer in found if pointer is not None}


def in_threads(call: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """Return the results of concurrent calls, in the order of the items."""
    every = list(items)
    if len(every) < 2:
        return [call(item) for item in every]
    with ThreadPoolExecutor(min(THREADS, len(every))) as threads:
        return list(threads.map(call, every))
