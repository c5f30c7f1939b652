"""The replaced versions of a lake in an object store: records with their metadata, and the objects with their rows.

`memflow doctor --clean` removes an object if nothing refers to it and nobody may be about to. Both follow from its age:
writers refer to a new object within half the grace period or create another one, keys are never used twice, and the
pointer is swapped only if it did not change. So an old object that is not current can never become current again.
"""

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from secrets import token_hex

from resources.lake.facts import Facts
from resources.lake.kept_versions import KeptPartition, RecordName, content_of
from resources.lake.storage.client import ListedObject, ObjectStore
from resources.lake.storage.keys import PROBES, errors_named_by, object_folder, record_folder
from resources.lake.storage.pointer_views import LISTED_S, NewestPointers, read_listed
from resources.lake.storage.pointers import ObjectName, Pointer

GRACE_S = 3600.0
"""Age in seconds before which an object is not removed, and for which the rows of a replaced version stay."""


class ObjectVersions:
    """The replaced versions of the partitions of a lake in an object store."""

    def __init__(self, store: ObjectStore, newest: NewestPointers, grace_s: float) -> None:
        self._store = store
        self._newest = newest
        self._grace = timedelta(seconds=grace_s)

    def keep(self, table: str, stem: str, current: Pointer) -> None:
        """Create the record of a version that is about to be replaced. Its rows stay where they are."""
        with errors_named_by(table, stem, "written"):
            self._store.create(_record_key(table, stem, RecordName.of(current.facts)), current.text())

    def of_table(self, table: str) -> dict[str, KeptPartition]:
        """Return the kept versions of every partition of a table."""
        objects = self._store.list(f"{object_folder(table)}/")
        records = self._store.list(f"{record_folder(table)}/")
        pointers = read_listed(self._newest, table, self._newest.listed(table)) if objects else {}
        current = {stem: each.object.key for stem, each in pointers.items() if isinstance(each, Pointer)}
        return _by_partition(records, objects, current)

    def of(self, table: str, stem: str) -> KeptPartition:
        """Return the kept versions of one partition, without the sizes of files."""
        with errors_named_by(table, stem, "read"):
            records = self._store.list(f"{record_folder(table, stem)}/")
        return _by_partition(records, [], {}).get(stem, KeptPartition())

    def read(self, table: str, stem: str, record: RecordName) -> Facts:
        """Return the metadata of a kept version."""
        return self._read(table, stem, record).facts

    def names(self, table: str, stem: str, facts: Facts) -> Iterator[ObjectName]:
        """Yield the objects that may have the rows of a version: the current one, and those with these rows."""
        content = content_of(facts)
        pointer = self._newest.get(table, stem)
        if pointer is not None and content_of(pointer.facts) == content:
            yield pointer.object
        for each in self._objects(table, stem, content):
            yield ObjectName(each.key, each.bytes)

    def remove(self, table: str, stem: str, content: str, in_use: Callable[[], set[str]]) -> bool:
        """Remove the objects with a content hash, unless `in_use` contains it or they are younger than the grace."""
        with errors_named_by(table, stem, "removed"):
            records = [
                each
                for each in self._store.list(f"{record_folder(table, stem)}/")
                if RecordName.parse(_name(each)).content == content
            ]
            found = self._objects(table, stem, content)
            oldest = self._now() - self._grace
            if any(each.modified > oldest for each in records) or content in in_use():
                return False
            pointer = self._newest.get(table, stem)
            chosen = [
                each.key
                for each in found
                if each.modified <= oldest and (pointer is None or each.key != pointer.object.key)
            ]
            for key in chosen:
                self._store.delete(key)
            return bool(chosen)

    def _objects(self, table: str, stem: str, content: str) -> list[ListedObject]:
        found = self._store.list(f"{object_folder(table, stem)}/")
        return [each for each in found if ObjectName(each.key, each.bytes).content == content]

    def _read(self, table: str, stem: str, record: RecordName) -> Pointer:
        key, texts = _record_key(table, stem, record), self._newest.texts
        text = None if texts is None else texts.find(key, "record")
        if text is None:
            with errors_named_by(table, stem, "read"):
                found = self._store.get(key)
            text = "" if found is None else found.content.decode(errors="replace")
            pointer = self._newest.parse(table, stem, text.encode())
            if texts is not None:
                texts.store(key, "record", text)
            return pointer
        return self._newest.parse(table, stem, text.encode())

    def _now(self) -> datetime:
        """Return the time of the store's clock, by which it dates objects."""
        key = f"{PROBES}/{token_hex(8)}"
        self._store.create(key, b"")
        try:
            return next(each.modified for each in self._store.list(f"{PROBES}/") if each.key == key)
        finally:
            self._store.delete(key)


class ListedVersions(ObjectVersions):
    """The replaced versions, with one list of records per table that is used as long as a list of pointers."""

    def __init__(self, versions: ObjectVersions) -> None:
        super().__init__(versions._store, versions._newest, versions._grace.total_seconds())
        self._tables: dict[str, tuple[float, int, dict[str, KeptPartition]]] = {}

    def of(self, table: str, stem: str) -> KeptPartition:
        """Return the kept versions of one partition, without the sizes of files."""
        known, writes, now = self._tables.get(table), self._newest.writes[table], time.monotonic()
        if known is None or known[0] + LISTED_S < now or known[1] != writes:
            records = self._store.list(f"{record_folder(table)}/")
            known = (now, writes, _by_partition(records, [], {}))
            self._tables[table] = known
        return known[2].get(stem, KeptPartition())


def _record_key(table: str, stem: str, record: RecordName) -> str:
    return f"{record_folder(table, stem)}/{record}.json"


def _name(listed: ListedObject) -> str:
    return listed.key.rpartition("/")[2].rpartition(".")[0]


def _stem(listed: ListedObject) -> str:
    return listed.key.rpartition("/")[0].rpartition("/")[2]


def _by_partition(
    records: list[ListedObject], objects: list[ListedObject], current: dict[str, str]
) -> dict[str, KeptPartition]:
    names: dict[str, list[RecordName]] = {}
    files: dict[str, dict[str, int]] = {}
    for record in records:
        names.setdefault(_stem(record), []).append(RecordName.parse(_name(record)))
    for each in objects:
        if current.get(_stem(each)) != each.key:
            of = files.setdefault(_stem(each), {})
            content = ObjectName(each.key, each.bytes).content
            of[content] = of.get(content, 0) + each.bytes
    return {
        stem: KeptPartition(
            tuple(sorted(names.get(stem, ()), key=lambda record: record.sort_key)), files.get(stem, {})
        )
        for stem in sorted(names.keys() | files.keys())
    }
