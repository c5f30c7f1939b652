"""The verification of the lake's files: whether a file has the bytes that memflow wrote, and columns of this version.

A file is verified when it is first read in each of its states (file_cache.py), so that repeated reads cost nothing.
file_hash.py defines the hashes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import pyarrow as pa
import pyarrow.parquet as pq

from resources.files.file_cache import FileState
from resources.lake.columns import column_changes
from resources.lake.facts import Facts
from resources.lake.file_hash import OtherColumns, WrongHash, check_footer, content_hash, read_footer

MOST_STATES = 200_000
"""Files whose verification a process remembers; each takes about 200 bytes."""


FileKey = FileState | tuple[str, FileState]
"""What identifies the content of a file: its state, with its address if it is in an object store."""


class VerifiedFiles:
    """The files that were read and verified, and the reason of each that cannot be used."""

    def __init__(self) -> None:
        self._reasons: dict[FileKey, str] = {}
        self._lock = Lock()

    def reason(self, key: FileKey | None) -> str | None:
        """Return why a file cannot be used, "" if it was found intact, None if it was not verified."""
        return None if key is None else self._reasons.get(key)

    def forget(self, key: FileKey | None) -> None:
        """Forget the result of a verification, so that the file is read again."""
        if key is not None:
            self._reasons.pop(key, None)

    def clear(self) -> None:
        """Forget all results."""
        self._reasons.clear()

    def put(self, key: FileKey | None, reason: str) -> None:
        """Remember the result of a verification."""
        if key is not None:
            with self._lock:
                if len(self._reasons) >= MOST_STATES:
                    self._reasons.clear()
                self._reasons[key] = reason


VERIFIED = VerifiedFiles()
"""The files that this process has verified."""


def verify_rows(table: str, file: pa.NativeFile) -> Facts:
    """Read a whole file, compare its hashes, and return its metadata.

    Raises WrongHash if a byte changed, if memflow did not write the file, or if its columns cannot be read as those of
    the table (`column_changes`).
    """
    with _read_errors():
        footer = read_footer(file)
        facts = _facts(table, file, footer)
        if content_hash(file, file.size() - len(footer)) != facts.content:
            raise WrongHash("its rows changed since it was written")
    return facts


def verify_metadata(table: str, file: pa.NativeFile) -> Facts:
    """Read the footer of a file, compare its hash, and return the metadata. Raises the errors of `verify_rows`."""
    with _read_errors():
        return _facts(table, file, read_footer(file))


def _facts(table: str, file: pa.NativeFile, footer: bytes) -> Facts:
    check_footer(footer)
    metadata = pq.read_metadata(pa.BufferReader(footer))
    facts = Facts.of_footer(metadata.metadata or {})
    if changes := column_changes(table, metadata.schema.to_arrow_schema()):
        raise OtherColumns(changes)
    return facts


@contextmanager
def _read_errors() -> Iterator[None]:
    """Raise WrongHash for the errors of a file that is no Parquet."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as wrong:
        text = str(wrong).strip() or type(wrong).__name__
        raise WrongHash(f"it cannot be read as Parquet: {text.splitlines()[0].rstrip('.')}") from wrong
