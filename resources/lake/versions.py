"""The replaced versions of partitions. past.py has the lake as it was at a moment.

A write keeps the file that it replaces as .versions/STAGE/TABLE/PARTITION/TIME-CONTENT.parquet before the new one takes
its place, so a killed process leaves the old state or the new one. A small file (`.removed`) with the metadata alone is
kept if the new rows are equal, and remains of rows that garbage_collection.py removed.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise

from memflow.errors import DamagedFile
from memflow.resources.files.checked_json import with_check, without_check
from memflow.resources.files.local_files import partition_of, stem_of
from memflow.resources.lake.facts import VERSIONS, Facts
from memflow.resources.lake.partition_files import PartitionFiles
from memflow.resources.lake.storage import LakeFolder

TIME = "%Y%m%dT%H%M%S.%fZ"
ROWS, REMOVED = ".parquet", ".removed"
"""The endings of kept rows, and of the metadata of removed ones."""


@dataclass(frozen=True)
class Version:
    """The metadata of a partition that was current from `since` to before `until` (UTC), None for the current one."""

    since: datetime
    until: datetime | None
    facts: Facts

    def was_current(self, moment: datetime) -> bool:
        """Return whether this was the current version at a moment."""
        return self.since <= moment and (self.until is None or moment < self.until)


@dataclass(frozen=True)
class KeptFile:
    """The file of a replaced version: its key and size, and when the version was written."""

    key: str
    bytes: int
    since: datetime

    @property
    def name(self) -> str:
        """The key without its ending, equal for the rows and for the metadata of removed rows."""
        return self.key.rpartition(".")[0]

    @property
    def is_removed(self) -> bool:
        """Whether the file has the metadata alone."""
        return self.key.endswith(REMOVED)

    def has_content(self, facts: Facts) -> bool:
        """Return whether the file has the rows of a version."""
        return self.key.endswith(f"-{facts.content}{ROWS}")


def version_key(table: str, partition: str, facts: Facts) -> str:
    """Return the key at which a version is kept."""
    folder = f"{VERSIONS}/{table.replace('.', '/')}/{stem_of(partition)}"
    return f"{folder}/{facts.since.strftime(TIME)}-{facts.content}{ROWS}"


def kept_files(storage: LakeFolder, table: str, partition: str = "") -> dict[str, list[KeptFile]]:
    """Return the replaced versions of the partitions of a table, or of one of them, oldest first.

    A file may be that of the current version, if a process was killed before it replaced the partition.
    """
    folder = f"{VERSIONS}/{table.replace('.', '/')}" + (f"/{stem_of(partition)}" if partition else "")
    found: dict[str, dict[str, KeptFile]] = {}
    for key, size in sorted(storage.files(folder).items(), reverse=True):
        *_, stem, name = key.split("/")
        if name.endswith((ROWS, REMOVED)):
            since = datetime.strptime(name.partition("-")[0], TIME).replace(tzinfo=UTC)
            file = KeptFile(key, size, since)
            # In reverse order, the rows come last, so they win if both files are there.
            found.setdefault(partition_of(stem), {})[file.name] = file
    return {name: sorted(files.values(), key=lambda file: file.since) for name, files in found.items()}


def kept_facts(lake: PartitionFiles, table: str, file: KeptFile) -> Facts:
    """Return the metadata of a replaced version. Raises DamagedFile, or FileNotFoundError if it was removed now."""
    if not file.is_removed:
        return lake.facts_of(table, file.key)
    opened, _ = lake.storage.open(file.key)
    with opened:
        content = opened.read()
    try:
        return Facts(**without_check(json.loads(content)))
    except (ValueError, TypeError):
        raise DamagedFile(
            f"the record of a removed version {lake.storage.root}/{file.key} is damaged. Delete it; the version is "
            "then unknown."
        ) from None


def keep_metadata(storage: LakeFolder, key: str, facts: Facts) -> None:
    """Store the metadata of a version without its rows; `key` is that of its rows."""
    record = json.dumps(with_check(asdict(facts)), ensure_ascii=False)
    storage.create(f"{key.removesuffix(ROWS)}{REMOVED}", record.encode())


def remove_rows(lake: PartitionFiles, table: str, file: KeptFile) -> None:
    """Replace the rows of a kept version by its metadata."""
    keep_metadata(lake.storage, file.key, lake.facts_of(table, file.key))
    lake.storage.delete(file.key)


def versions_of(lake: PartitionFiles, table: str, partition: str) -> list[Version]:
    """Return the versions of a partition, newest first. The first is the current one."""
    files, now = kept_files(lake.storage, table, partition).get(partition, []), lake.facts(table, partition)
    current = "" if now is None else version_key(table, partition, now)
    facts = [kept_facts(lake, table, file) for file in files if file.key != current]
    facts += [now] if now else []
    ends = [after.since for _, after in pairwise(facts)]
    versions = [Version(each.since, until, each) for each, until in zip(facts, [*ends, None], strict=False)]
    return versions[::-1]
