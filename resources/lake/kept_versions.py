"""Kept versions of the partitions of a lake in a folder: the rows and the metadata that a write replaced.

Each partition has the folder `<lake>/.versions/<stage>/<table>/<partition>`, with two kinds of files. The record
`<written>-<content>.json` has the metadata of one version. `<content>.parquet` has its rows, as a hard link where the
disk has them. Versions with equal rows share one file, and rows that are also the current ones need none. A record is
complete before the partition is replaced, so a killed process leaves the old state or the new one.

gc.py chooses which rows are removed; their records stay.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pyarrow import fs

from memflow.errors import DamagedFile
from resources.files.checked_json import with_check, without_check
from resources.files.local_files import lock_file, replace_file
from resources.lake.facts import Facts

VERSIONS = ".versions"
"""The folder of kept versions, below the lake's root."""
LOCK = ".lock"
UNKNOWN = "unknown"
"""The time in the name of a record whose file has none, because a former version of memflow wrote it."""
TIME = "%Y%m%dT%H%M%S.%fZ"
EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Version:
    """The metadata of a partition that was current from `since` to before `until` (UTC).

    `since` is None for a file of a former version of memflow, `until` is None for the current version.
    """

    since: datetime | None
    until: datetime | None
    facts: Facts

    def was_current(self, moment: datetime) -> bool:
        """Return whether this was the current version at a moment."""
        return (self.since or EARLIEST) <= moment and (self.until is None or moment < self.until)


@dataclass(frozen=True)
class RecordName:
    """The name of a version's record: when the version was written, and the hash of its rows."""

    since: datetime | None
    content: str

    @classmethod
    def of(cls, facts: Facts) -> "RecordName":
        """Return the name of the record of a version."""
        return cls(facts.since, content_of(facts))

    @classmethod
    def parse(cls, name: str) -> "RecordName":
        """Return the parts of a file name without its ending."""
        time, _, content = name.partition("-")
        return cls(None if time == UNKNOWN else datetime.strptime(time, TIME).replace(tzinfo=UTC), content)

    @property
    def sort_key(self) -> datetime:
        """The time of the write; versions of an unknown time come first."""
        return self.since or EARLIEST

    def __str__(self) -> str:
        return f"{self.since.strftime(TIME) if self.since else UNKNOWN}-{self.content}"


@dataclass(frozen=True)
class KeptPartition:
    """The records of one partition, oldest first, and the size in bytes of each kept file by content hash."""

    records: Sequence[RecordName] = ()
    files: Mapping[str, int] = field(default_factory=dict)


def content_of(facts: Facts) -> str:
    """Return the hash under which a version's rows are kept. Files of former memflow versions have only a digest."""
    return facts.content or facts.digest


class KeptVersions:
    """The kept versions of the partitions of a lake in a folder."""

    def __init__(self, root: str) -> None:
        self.root = f"{root}/{VERSIONS}"
        self._files = fs.LocalFileSystem()

    def folder(self, table: str, stem: str = "") -> str:
        """Return the folder of a table's kept versions, or of those of one partition."""
        return f"{self.root}/{table.replace('.', '/')}" + (f"/{stem}" if stem else "")

    def content_path(self, table: str, stem: str, content: str) -> str:
        """Return the path of the file that keeps rows with this hash."""
        return f"{self.folder(table, stem)}/{content}.parquet"

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Exclude other processes that replace partitions of a table or remove its kept rows. Readers never wait."""
        with lock_file(Path(self.folder(table)) / LOCK):
            yield

    def keep(self, table: str, stem: str, path: str, facts: Facts, *, with_rows: bool) -> None:
        """Store the version in the file `path`, which is about to be replaced; its rows only `with_rows`."""
        if with_rows:
            _keep_rows(path, self.content_path(table, stem, content_of(facts)))
        record = self.record_path(table, stem, RecordName.of(facts))
        content = json.dumps(with_check(asdict(facts)), ensure_ascii=False).encode()
        replace_file(Path(record), lambda file: file.write(content))

    def of_table(self, table: str) -> dict[str, KeptPartition]:
        """Return the kept versions of every partition of a table, by file name without ending."""
        selector = fs.FileSelector(self.folder(table), allow_not_found=True, recursive=True)
        return _by_partition(self._files.get_file_info(selector))

    def of(self, table: str, stem: str) -> KeptPartition:
        """Return the kept versions of one partition (a file name without ending)."""
        selector = fs.FileSelector(self.folder(table, stem), allow_not_found=True)
        return _by_partition(self._files.get_file_info(selector)).get(stem, KeptPartition())

    def read(self, table: str, stem: str, record: RecordName) -> Facts:
        """Return the metadata of a kept version. Raises DamagedFile if its record changed since it was written."""
        path = self.record_path(table, stem, record)
        try:
            facts = Facts(**without_check(json.loads(Path(path).read_bytes())))
            if RecordName.of(facts) == record:
                return facts
        except (ValueError, TypeError, AttributeError):
            pass
        raise DamagedFile(
            f"the record of a replaced version {path} is damaged: it changed since it was written. Delete it; "
            "`--as-of` then forgets this version."
        )

    def record_path(self, table: str, stem: str, record: RecordName) -> str:
        """Return the path of the record of a version."""
        return f"{self.folder(table, stem)}/{record}.json"

    def remove(self, table: str, stem: str, content: str, in_use: Callable[[], set[str]]) -> bool:
        """Remove the rows with a content hash, unless `in_use` contains it. Return whether they were removed."""
        with self.locked(table):  # a writer may have made the rows the newest earlier ones meanwhile
            path = Path(self.content_path(table, stem, content))
            if content in in_use() or not path.is_file():
                return False
            path.unlink()
            return True


def _keep_rows(path: str, kept: str) -> None:
    Path(kept).parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, kept)
    except FileExistsError:
        return
    except OSError:  # a disk without hard links
        with Path(path).open("rb") as source:
            replace_file(Path(kept), lambda file: shutil.copyfileobj(source, file))


def _by_partition(found: "list[fs.FileInfo]") -> dict[str, KeptPartition]:
    records: dict[str, list[RecordName]] = {}
    files: dict[str, dict[str, int]] = {}
    for info in found:
        if info.is_file and not info.base_name.startswith("."):
            partition = info.path.rpartition("/")[0].rpartition("/")[2]
            stem = info.base_name.rpartition(".")[0]
            if info.extension == "json":
                records.setdefault(partition, []).append(RecordName.parse(stem))
            elif info.extension == "parquet":
                files.setdefault(partition, {})[stem] = info.size
    return {
        name: KeptPartition(
            tuple(sorted(records.get(name, ()), key=lambda record: record.sort_key)), files.get(name, {})
        )
        for name in sorted(records.keys() | files.keys())
    }
