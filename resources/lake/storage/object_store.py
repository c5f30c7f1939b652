"""A lake in an object store: immutable objects, and a pointer per partition that is swapped conditionally.

A writer creates a new object, then a record of the version that it replaces, then swaps the pointer if it is still the
one that was read. So a reader sees one version or the other, and of two hosts that write a partition the later swap is
current and the earlier one is in the history. object_versions.py keeps and removes replaced versions.
"""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from copy import copy
from pathlib import Path
from random import uniform
from secrets import token_hex
from tempfile import TemporaryFile

import pyarrow as pa

from memflow.errors import DamagedFile, StoreBusy
from resources.files.file_cache import FileState
from resources.files.local_files import partition_of, stem_of
from resources.lake.facts import Facts
from resources.lake.kept_versions import content_of
from resources.lake.storage.client import ObjectStore
from resources.lake.storage.keys import errors_named_by, object_folder, pointer_folder, pointer_key
from resources.lake.storage.object_cache import ObjectCache
from resources.lake.storage.object_versions import GRACE_S, ListedVersions, ObjectVersions
from resources.lake.storage.opened_lake import OpenedLake
from resources.lake.storage.pointer_views import (
    FixedPointers,
    ListedPointers,
    NewestPointers,
    PinnedPointers,
    PointerView,
    fixed_pointers,
    in_threads,
)
from resources.lake.storage.pointers import ObjectName, Pointer, TextCache
from resources.lake.storage.storage import Changed, Partition, Replacement

SWAPS = 100
"""Attempts to swap a pointer that other writers swap at the same time."""
READS = 5
"""Attempts to read a partition whose object was removed after its pointer was read."""
_WRITES: dict[str, Counter[str]] = {}
"""The number of swaps of this process, by address and table."""


class ObjectStorage:
    """The files of a lake in an object store."""

    local = False

    def __init__(
        self,
        store: ObjectStore,
        cache: ObjectCache,
        *,
        keeps_texts: bool = True,
        grace_s: float = GRACE_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.root = store.address
        self.cache = cache
        self.grace_s = grace_s
        self._clock = clock
        texts = TextCache(cache.folder / "texts-1") if keeps_texts else None
        self._lake = OpenedLake(store)
        self.newest = NewestPointers(store, texts, _WRITES.setdefault(self.root, Counter()))
        self.versions = ObjectVersions(store, self.newest, grace_s)
        self._view: PointerView = self.newest
        self._damaged: dict[str, str] = {}
        """Why objects that this process tried to read cannot be used, by key."""

    @contextmanager
    def former_layout_accepted(self) -> Iterator[None]:
        """Allow a copy of files of the former layout at the same address. Then mark the lake as complete."""
        self._lake.accept_former_layout()
        yield
        self._lake.mark()

    def folder(self, table: str) -> str:
        """Return the address of the pointers of a table."""
        return f"{self.root}/{pointer_folder(table)}"

    def path(self, table: str, partition: str) -> str:
        """Return the address of the pointer of a partition."""
        return f"{self.root}/{pointer_key(table, stem_of(partition))}"

    def partitions(self, table: str) -> list[str]:
        """Return the partitions of a table: one request for each thousand."""
        self._lake.check_layout()
        return [partition_of(stem) for stem in self._view.stems(table)]

    def state(self, table: str, partition: str) -> FileState | None:
        """Return a value that differs for every version of a partition; None if it is missing."""
        pointer = self._pointer(table, partition)
        return None if pointer is None else pointer.state

    def facts(self, table: str, partition: str, of_file: Callable[[], Facts | None]) -> Facts | None:
        """Return the metadata of a partition, which is in its pointer; None if it is missing."""
        pointer = self._pointer(table, partition)
        if pointer is not None and pointer.object.key in self._damaged:
            raise DamagedFile(self._damaged[pointer.object.key])
        return None if pointer is None else pointer.facts

    def open(self, table: str, partition: str) -> pa.NativeFile:
        """Open the current object of a partition. Raises FileNotFoundError if the partition is missing."""
        return _opened(self._fetch_current(table, partition))

    def open_stored(self, table: str, partition: str) -> pa.NativeFile:
        """Fetch the current object of a partition from the store, whatever is cached, and open it."""
        return _opened(self._fetch_current(table, partition, from_cache=False))

    def replace(self, table: str, partition: str, new: Replacement) -> tuple[Facts, FileState | None]:
        """Create the object of a new version, and swap the pointer of the partition to it."""
        with errors_named_by(table, stem_of(partition), "written"):
            self._lake.prepare_writes()
        with TemporaryFile() as complete:
            facts = new.write(complete)
            complete.seek(0)
            file = complete.read()
        stem = stem_of(partition)
        created: ObjectName | None = None
        created_at = 0.0
        for attempt in range(SWAPS):
            current, tag = self._current(table, stem, new)
            former = None if current is None else current.facts
            timed = facts.after(former)
            if (
                current is not None
                and current.object.key not in self._damaged
                and content_of(current.facts) == content_of(facts)
                and self._exists(current)
            ):
                name = current.object  # it is in use until the swap, which fails if it is not
                if former == facts:
                    return current.facts, current.state
            else:
                # `memflow doctor --clean` removes what nothing refers to after the grace period.
                if created is None or self._clock() - created_at > self.grace_s / 2:
                    created_at = self._clock()
                    created = self._create(table, stem, content_of(facts), file)
                name = created
            if current is not None and former is not None and former != facts and new.keeps_former:
                self.versions.keep(table, stem, current)
            pointer = Pointer(name, timed, token_hex(8))
            if self._swap(table, stem, pointer, tag):
                # A process that was suspended for so long may have swapped to an object that was removed.
                if (
                    name is not created
                    or self._clock() - created_at <= self.grace_s / 2
                    or self._exists(pointer)
                ):
                    return timed, pointer.state
                continue
            time.sleep(uniform(0, min(0.01 * 2**attempt, 1.0)))
        raise StoreBusy(
            f"{table} of {partition} was replaced by other writers {SWAPS} times in a row. Rerun when fewer runs write "
            "it."
        )

    def update_lock(self, table: str) -> AbstractContextManager[None]:
        """Do nothing: a swap fails if another process has changed the partition."""
        return nullcontext()

    def listing_view(self) -> "ObjectStorage":
        """Return a view with one list per table, which is used for some seconds."""
        if self._view is not self.newest:
            return self
        view = self._with(ListedPointers(self.newest))
        view.versions = ListedVersions(self.versions)
        return view

    def pinned_view(self) -> "ObjectStorage":
        """Return a view that reads each pointer once."""
        return self._with(PinnedPointers(self._view))

    def snapshot_view(self, tables: Sequence[str]) -> "ObjectStorage":
        """Return a view in which these tables are as they were at one moment."""
        self._lake.check_layout()
        return (
            self if isinstance(self._view, FixedPointers) else self._with(fixed_pointers(self.newest, tables))
        )

    def open_version(self, table: str, partition: str, facts: Facts) -> pa.NativeFile:
        """Open the rows of a version, current or kept. Raises FileNotFoundError if they were removed."""
        return _opened(self._fetch_version(table, partition, facts))

    def version_path(self, table: str, partition: str, facts: Facts) -> str:
        """Return the address below which the rows of a version are."""
        return f"{self.root}/{object_folder(table, stem_of(partition))}/{content_of(facts)}"

    def snapshot_folder(self) -> AbstractContextManager[Path | None]:
        """Create an empty folder in the cache."""
        return self.cache.snapshot_folder()

    def copy(self, files: Mapping[Partition, Path]) -> None:
        """Fetch the objects of partitions concurrently, and place them at these paths, except damaged ones."""

        def place(item: tuple[Partition, Path]) -> None:
            (table, partition), at = item
            with suppress(DamagedFile):
                _place(self._fetch_current(table, partition), at)

        in_threads(place, files.items())

    def copy_version(self, table: str, partition: str, facts: Facts, at: Path) -> None:
        """Place the rows of a version at a path; do nothing if they were removed."""
        try:
            _place(self._fetch_version(table, partition, facts), at)
        except FileNotFoundError:
            return

    def _with(self, view: PointerView) -> "ObjectStorage":
        other = copy(self)
        other._view = view
        return other

    def _pointer(self, table: str, partition: str) -> Pointer | None:
        stem = stem_of(partition)
        with errors_named_by(table, stem, "read"):
            self._lake.check_layout()
        return self._view.get(table, stem)

    def _current(self, table: str, stem: str, new: Replacement) -> tuple[Pointer | None, str | None]:
        """Return the pointer that a write replaces, and its tag; a damaged pointer has only a tag."""
        try:
            pointer, tag = self.newest.tagged(table, stem)
        except DamagedFile:
            pointer, tag = None, self.newest.tag(table, stem)
        if new.expects is not None and new.expects != (None if pointer is None else pointer.state,):
            raise Changed(f"{table} of {partition_of(stem)}")
        return pointer, tag

    def _exists(self, pointer: Pointer) -> bool:
        folder = pointer.object.key.rpartition("/")[0]
        return any(
            each.key == pointer.object.key and each.bytes == pointer.object.size
            for each in self.store.list(f"{folder}/")
        )

    def _create(self, table: str, stem: str, content: str, file: bytes) -> ObjectName:
        name = ObjectName.create(object_folder(table, stem), content, file)
        with errors_named_by(table, stem, "written"):
            self.store.create(name.key, file)  # an existing one is that of an attempt whose answer was lost
        self.cache.store(name, file)
        return name

    def _swap(self, table: str, stem: str, pointer: Pointer, tag: str | None) -> bool:
        """Swap the pointer that has this tag. Return whether the new one is in the store."""
        key, text = pointer_key(table, stem), pointer.text()
        with errors_named_by(table, stem, "written"):
            done = self.store.create(key, text) if tag is None else self.store.swap(key, text, tag)
            if done is None:
                # The answer to an attempt that succeeded may have been lost.
                found = self.store.get(key)
                done = found.tag if found is not None and found.content == text else None
        if done is None:
            return False
        if self.newest.texts is not None:
            self.newest.texts.store(key, done, text.decode())
        self.newest.writes[table] += 1
        return True

    def _fetch_current(self, table: str, partition: str, *, from_cache: bool = True) -> Path | bytes:
        """Return the file of the current object, or its content where the cache cannot store it."""
        stem, pointer = stem_of(partition), None
        view = self
        for attempt in range(READS):
            pointer = view._pointer(table, partition)
            if pointer is None:
                raise FileNotFoundError(self.path(table, partition))
            found = self._fetch(table, stem, pointer.object, from_cache=from_cache)
            if found is not None:
                return found
            if isinstance(self._view, FixedPointers):
                break
            view = self._with(self.newest)  # the pointer may have been swapped and the object removed
            time.sleep(0.02 * attempt)
        raise self._damage(
            table, stem, None if pointer is None else pointer.object, "is missing from the store"
        )

    def _fetch_version(self, table: str, partition: str, facts: Facts) -> Path | bytes:
        stem = stem_of(partition)
        with errors_named_by(table, stem, "read"):
            for name in self.versions.names(table, stem, facts):
                found = self._fetch(table, stem, name)
                if found is not None:
                    return found
        raise FileNotFoundError(self.version_path(table, partition, facts))

    def _fetch(
        self, table: str, stem: str, name: ObjectName, *, from_cache: bool = True
    ) -> Path | bytes | None:
        """Return an object from the cache or the store; None if it is missing. Raises DamagedFile."""
        if name.key in self._damaged:
            raise DamagedFile(self._damaged[name.key])  # also if the cache has an intact copy
        cached = self.cache.find(name) if from_cache else None
        if cached is not None:
            return cached
        for _ in range(2):  # a transfer may be damaged too
            with errors_named_by(table, stem, "read"):
                found = self.store.get(name.key)
            if found is None:
                return None
            if name.describes(found.content):
                return self.cache.store(name, found.content) or found.content
        raise self._damage(table, stem, name, "is damaged: its content differs from the hash in its name")

    def _damage(self, table: str, stem: str, name: ObjectName | None, reason: str) -> DamagedFile:
        """Return the error for an object, and remember it, so that the partition is not up to date."""
        key = "" if name is None else name.key
        found = (
            f"the object {self.root}/{key} of {table} of {partition_of(stem)} {reason}. Run `memflow doctor`, which "
            "names the command that rebuilds it from the answers in the ledger."
        )
        self._damaged[key] = found
        return DamagedFile(found)


def _opened(found: Path | bytes) -> pa.NativeFile:
    return pa.OSFile(str(found)) if isinstance(found, Path) else pa.BufferReader(found)


def _place(found: Path | bytes, at: Path) -> None:
    if isinstance(found, bytes):
        at.write_bytes(found)
        return
    try:
        at.hardlink_to(found)
    except OSError:  # another disk, or evicted meanwhile
        shutil.copyfile(found, at)
