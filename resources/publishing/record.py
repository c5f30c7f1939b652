"""The record of the published DuckDB file: what it contains, and whether it is as it was written.

published_database.py writes the file and its record. This module needs no DuckDB, so that looking costs little.
"""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from memflow.fingerprint import digest
from resources.files.file_cache import FileState

RECORD = ".cache/published-1.json"
"""The record of what the file contains, in the file's folder."""


@dataclass(frozen=True)
class PublishedRecord:
    """A record of the published file: its state on disk, its partitions' versions, and the layout of its tables."""

    file: Sequence[int] = ()
    built_bytes: int = 0
    partitions: dict[str, dict[str, str]] = field(default_factory=dict)
    layout: str = ""
    hash: str = ""
    """The hash of the file; empty in a record of a former version."""
    check: str = ""
    """The hash of the other values of the record; empty in a record of a former version."""

    @classmethod
    def read(cls, path: Path) -> "PublishedRecord":
        """Return the record of a published file; an empty record if none is stored, or if it is damaged."""
        try:
            record = cls(**json.loads((path.parent / RECORD).read_text(encoding="utf-8")))
            return record if record.check in ("", record.own_hash()) else cls()
        except (OSError, ValueError, TypeError):
            return cls()

    def own_hash(self) -> str:
        """Return the hash of the values of the record."""
        return digest([*self.file], self.built_bytes, self.partitions, self.layout, self.hash)

    def write(self, path: Path) -> None:
        """Store the record of a published file, and replace the previous record."""
        record = path.parent / RECORD
        record.parent.mkdir(exist_ok=True)
        written = record.with_name(f".{record.name}.{secrets.token_hex(8)}.writing")
        written.write_text(json.dumps(asdict(replace(self, check=self.own_hash()))), encoding="utf-8")
        written.replace(record)


def hash_of(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def is_intact(path: Path, *, whole: bool = False) -> bool:
    """Return whether a published file is there as it was written, judging by its state; with `whole`, by its hash.

    A file in another state, such as a copy, is compared by its hash. A record that is missing proves nothing.
    """
    record = PublishedRecord.read(path)
    try:
        state = FileState.of(path.stat())
    except OSError:
        return False
    if state is None:
        return False
    if not record.file:
        return not whole
    if [*state] == [*record.file] and not (whole and record.hash):
        return True
    return bool(record.hash) and state.size == record.file[1] and hash_of(path) == record.hash
