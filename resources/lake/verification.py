"""The verification of the lake's files: whether a file has the bytes that memflow wrote.

A file is verified when it is first read in each of its states (file_cache.py), so that repeated reads cost nothing.
file_hash.py defines the hashes. repair/ replaces damaged files.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from memflow.records import columns
from memflow.scoring.catalog import EFFICIENCY_NAMES
from resources.files.file_cache import FileState
from resources.lake.columns import schema
from resources.lake.facts import Facts
from resources.lake.file_hash import WrongHash, check_footer, content_hash, read_footer
from resources.lake.row_digest import RowDigest
from resources.lake.row_groups import read_rows

MOST_STATES = 200_000
"""Files whose verification a process remembers; each takes about 200 bytes."""


FileKey = FileState | tuple[str, FileState]
"""What identifies the content of a file: its state, with its address if it is in an object store."""


class VerifiedFiles:
    """The files that were read and verified, and the reason of each that is damaged."""

    def __init__(self, most: int = MOST_STATES) -> None:
        self.most = most
        self._reasons: OrderedDict[FileKey, str] = OrderedDict()
        self._lock = threading.Lock()

    def reason(self, key: FileKey | None) -> str | None:
        """Return why a file is damaged, "" if it was found intact, None if it was not verified."""
        return None if key is None else self._reasons.get(key)

    def forget(self, key: FileKey | None) -> None:
        """Forget the result of a verification, so that the file is read again."""
        if key is not None:
            with self._lock:
                self._reasons.pop(key, None)

    def clear(self) -> None:
        """Forget all results."""
        with self._lock:
            self._reasons.clear()

    def put(self, key: FileKey | None, reason: str) -> None:
        """Remember the result of a verification."""
        if key is not None:
            with self._lock:
                self._reasons[key] = reason
                while len(self._reasons) > self.most:
                    self._reasons.popitem(last=False)


VERIFIED = VerifiedFiles()
"""The files that this process has verified."""


def verify_rows(table: str, file: pa.NativeFile) -> Facts:
    """Read a whole file, compare its hashes, and return its metadata.

    Raises WrongHash if a byte changed, KeyError if memflow did not write the file. A file of a former version without
    hashes is compared with the hash of its rows, if it has the current columns.
    """
    footer = read_footer(file)
    has_hash = check_footer(footer)
    try:
        found, facts = read_facts(table, file)
        if facts.content:
            if content_hash(file, file.size() - len(footer), facts.columns) != facts.content:
                raise WrongHash("its rows changed since it was written")
        elif not has_hash and facts.of_current(table):
            _compare_digest(table, found, facts)
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as wrong:
        raise WrongHash(_first_line(wrong)) from wrong
    return facts


def verify_metadata(table: str, file: pa.NativeFile) -> Facts:
    """Read the footer of a file, compare its hash, and return the metadata. Raises the errors of `verify_rows`."""
    check_footer(read_footer(file))
    try:
        return read_facts(table, file)[1]
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as wrong:
        raise WrongHash(_first_line(wrong)) from wrong


def read_facts(table: str, file: pa.NativeFile) -> tuple[pq.ParquetFile, Facts]:
    """Open a Parquet file. Return it with its metadata. Raises KeyError if memflow did not write the file."""
    file.seek(0)
    parquet = pq.ParquetFile(file)
    stored: Mapping[bytes, bytes] = parquet.metadata.metadata or {}
    return parquet, Facts.of_footer(stored, parquet.schema_arrow, table)


def _compare_digest(table: str, parquet: pq.ParquetFile, facts: Facts) -> None:
    """Compare the hash of the rows. Raises WrongHash."""
    if parquet.schema_arrow.remove_metadata() != schema(table):
        return
    names = [column.name for column in columns(table)]
    hashed = RowDigest(table)
    number = 0
    for group in _groups(table, parquet, names):
        number += len(group)
        hashed.update([row for row in group if getattr(row, "metric", None) not in EFFICIENCY_NAMES])
    if number != facts.rows or hashed.hexdigest() != facts.digest:
        raise WrongHash("its rows changed since it was written")


def _groups(table: str, parquet: pq.ParquetFile, names: list[str]) -> Any:
    group: list[Any] = []
    for row in read_rows(table, parquet, names):
        group.append(row)
        if len(group) == 1024:
            yield group
            group = []
    yield group


def _first_line(wrong: Exception) -> str:
    text = str(wrong).strip() or type(wrong).__name__
    return f"it cannot be read as Parquet: {text.splitlines()[0].rstrip('.')}"
