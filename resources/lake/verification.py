"""The verification of the lake's files: whether a file has the bytes that memflow wrote, and columns of this version.

A file is verified when it is first read in each of its states (resources/files/file_cache.py), so that repeated reads
cost nothing. file_hash.py defines the hashes.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from memflow.resources.files.file_cache import FileState
from memflow.resources.lake.columns import column_changes
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.file_hash import OtherColumns, WrongHash, check_footer, content_hash, read_footer

VERIFIED: dict[FileState | None, str] = {}
"""The files that this process has verified, and why each of them cannot be used, "" for an intact one.

A file without a state (None) is missing, and never among them.
"""


def verify_rows(table: str, file: pa.NativeFile) -> Facts:
    """Read a whole file, compare its hashes, and return its metadata.

    Raises WrongHash if a byte changed, if memflow did not write the file, or if its columns cannot be read as those of
    the table (`column_changes`).
    """
    with _convert_read_errors():
        footer = read_footer(file)
        facts = _facts(table, file, footer)
        if content_hash(file, file.size() - len(footer)) != facts.content:
            raise WrongHash("its rows changed since it was written")
    return facts


def damage_of(table: str, file: pa.NativeFile, state: FileState | None) -> str:
    """Return why an open file cannot be used; "" if it is intact. Each state is read once in a process."""
    reason = VERIFIED.get(state)
    if reason is None:
        try:
            verify_rows(table, file)
            reason = ""
        except WrongHash as wrong:
            reason = str(wrong)
        VERIFIED[state] = reason
    return reason


def verify_metadata(table: str, file: pa.NativeFile) -> Facts:
    """Read the footer of a file, compare its hash, and return the metadata. Raises the errors of `verify_rows`."""
    with _convert_read_errors():
        return _facts(table, file, read_footer(file))


def _facts(table: str, file: pa.NativeFile, footer: bytes) -> Facts:
    check_footer(footer)
    metadata = pq.read_metadata(pa.BufferReader(footer))
    facts = Facts.of_footer(metadata.metadata or {})
    if changes := column_changes(table, metadata.schema.to_arrow_schema()):
        raise OtherColumns(changes)
    return facts


@contextmanager
def _convert_read_errors() -> Iterator[None]:
    """Convert the errors of reading an invalid Parquet file to WrongHash."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        text = str(error).strip() or type(error).__name__
        raise WrongHash(f"it cannot be read as Parquet: {text.splitlines()[0].rstrip('.')}") from error
