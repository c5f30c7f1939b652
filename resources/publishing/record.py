"""The record of the published DuckDB file: whether the file is as it was written.

database.py writes the file and its record. This module needs no DuckDB, so that looking costs little.
"""

import hashlib
import json
from pathlib import Path

from resources.files.checked_json import with_check, without_check
from resources.files.file_cache import FileState
from resources.files.local_files import replace_file

RECORD = ".cache/published-2.json"
"""The record of the file's state and hash, in the file's folder."""


def write_record(path: Path, hashed: str) -> None:
    """Store the state of a published file, and its hash."""
    content = json.dumps(with_check({"file": FileState.of(path.stat()), "hash": hashed}))
    replace_file(path.parent / RECORD, lambda file: file.write(content.encode()))


def read_record(path: Path) -> tuple[FileState, str] | None:
    """Return the stored state and hash of a published file; None if there is no record, or if it is damaged."""
    try:
        record = without_check(json.loads((path.parent / RECORD).read_bytes()))
        return FileState(*record["file"]), record["hash"]
    except (OSError, ValueError, TypeError, KeyError):
        return None


def hash_of(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def is_intact(path: Path, *, whole: bool = False) -> bool:
    """Return whether a published file is there as it was written, judging by its state; with `whole`, by its hash.

    A file in another state, such as a copy, is compared by its hash. A record that is missing proves nothing.
    """
    try:
        state = FileState.of(path.stat())
    except OSError:
        return False
    record = read_record(path)
    if record is None:
        return not whole
    return (record[0] == state and not whole) or hash_of(path) == record[1]
