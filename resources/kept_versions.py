"""Kept versions of the lake's partitions: the rows and the metadata that a write replaced.

Each partition has the folder `<lake>/.versions/<stage>/<table>/<partition>`, with two kinds of files. The record
`<written>-<content>.json` has the metadata of one version. `<content>.parquet` has its rows, as a hard link where the
disk has them. Versions with equal rows share one file, and rows that are also the current ones need none. A record is
complete before the partition is replaced, so a killed process leaves the old state or the new one.

gc.py chooses which rows are removed; their records stay.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pyarrow import fs

from resources.facts import Facts
from resources.local_files import lock_file, replace_file

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
    """The kept versions of the partitions of a lake."""

    def __init__(self, root: str, filesystem: fs.FileSystem) -> None:
        self.root = f"{root}/{VERSIONS}"
        self.filesystem = filesystem
        self.local = isinstance(filesystem, fs.LocalFileSystem)

    def folder(self, table: str, partition: str = "") -> str:
        """Return the folder of a table's kept versions, or of those of one partition (a file name without ending)."""
        return f"{self.root}/{table.replace('.', '/')}" + (f"/{partition}" if partition else "")

    def content_path(self, table: str, partition: str, content: str) -> str:
        """Return the path of the file that keeps rows with this hash."""
        return f"{self.folder(table, partition)}/{content}.parquet"

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Exclude other processes that replace partitions of a table or remove its kept rows. Readers never wait.

        An object store has no locks, so this does nothing there.
        """
        with lock_file(Path(self.folder(table)) / LOCK) if self.local else nullcontext():
            yield

    def keep(self, table: str, partition: str, path: str, facts: Facts, *, with_rows: bool) -> None:
        """Store the version in the file `path`, which is about to be replaced; its rows only `with_rows`."""
        if with_rows:
            self._keep_rows(path, self.content_path(table, partition, content_of(facts)))
        record = f"{self.folder(table, partition)}/{RecordName.of(facts)}.json"
        content = json.dumps(asdict(facts), ensure_ascii=False).encode()
        if self.local:
            replace_file(Path(record), lambda file: file.write(content))
            return
        self.filesystem.create_dir(self.folder(table, partition), recursive=True)
        with self.filesystem.open_output_stream(record) as file:
            file.write(content)

    def _keep_rows(self, path: str, kept: str) -> None:
        if not self.local:
            if self.filesystem.get_file_info(kept).type == fs.FileType.NotFound:
                self.filesystem.create_dir(kept.rpartition("/")[0], recursive=True)
                self.filesystem.copy_file(path, kept)
            return
        Path(kept).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, kept)
        except FileExistsError:
            return
        except OSError:  # a disk without hard links
            with Path(path).open("rb") as source:
                replace_file(Path(kept), lambda file: shutil.copyfileobj(source, file))

    def list(self, table: str) -> dict[str, KeptPartition]:
        """Return the kept versions of every partition of a table, by file name without ending."""
        selector = fs.FileSelector(self.folder(table), allow_not_found=True, recursive=True)
        return _by_partition(self.filesystem.get_file_info(selector))

    def of(self, table: str, partition: str) -> KeptPartition:
        """Return the kept versions of one partition (a file name without ending)."""
        selector = fs.FileSelector(self.folder(table, partition), allow_not_found=True)
        return _by_partition(self.filesystem.get_file_info(selector)).get(partition, KeptPartition())

    def exists(self, path: str) -> bool:
        """Return whether a file of kept rows exists."""
        return self.filesystem.get_file_info(path).is_file

    def read(self, table: str, partition: str, record: RecordName) -> Facts:
        """Return the metadata of a kept version."""
        with self.filesystem.open_input_file(f"{self.folder(table, partition)}/{record}.json") as file:
            return Facts(**json.loads(file.read()))


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
