"""Reading and writing of Parquet rows, one row group at a time, so that memory does not grow with the number of rows.

lake.py handles paths, atomic replacement and caches; columns.py handles Arrow types and validation.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from io import BufferedRandom
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from memflow.records import MEASURED, TABLES, columns
from memflow.resources.lake.columns import from_array, has_vectors, schema, to_arrays, validate, with_columns
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.file_hash import HASH_KEY, PLACEHOLDER, footer_with_hash
from memflow.scoring.catalog import EFFICIENCY_NAMES

GROUP_ROWS, VECTOR_GROUP_ROWS = 8192, 1024
"""Rows of a row group, without and with a vector."""
ROWS_AT_ONCE = 1024
"""Rows that are converted and hashed at once during a write. The columns of a row group take less memory."""


def row_group_size(table: str) -> int:
    """Return the number of rows in each Parquet row group of a table."""
    return VECTOR_GROUP_ROWS if has_vectors(table) else GROUP_ROWS


class RowGroupWriter:
    """A context manager that writes the rows of a table to one Parquet file, which is open for reading too.

    After `write`, `digest` is the hash of the rows without measured columns, as Arrow messages of ROWS_AT_ONCE rows,
    `content` a hash of the whole content, `rows` the number of rows, and `quarantined` the number of rows with a
    reason.
    """

    def __init__(self, table: str, file: BufferedRandom) -> None:
        self.table = table
        self.rows = 0
        self.quarantined = 0
        self.digest = ""
        self.content = ""
        self._digest = hashlib.sha256()
        self._file = file
        self._parquet = pq.ParquetWriter(file, schema(table), compression="zstd")

    def __enter__(self) -> "RowGroupWriter":
        return self

    def __exit__(self, *raised: object) -> None:
        self._parquet.close()

    def write(self, rows: Iterable[Any]) -> None:
        """Write rows, and compute their content hash. Raises BadInput with column and row of an invalid value."""
        remaining = iter(rows)
        size = row_group_size(self.table)
        while batches := list(self._batches(islice(remaining, size))):
            group = pa.Table.from_batches(
                batches
            ).combine_chunks()  # the same file whatever the size of the batches
            del batches
            self._parquet.write_table(group)
        self.digest = self._digest.hexdigest()[:32]
        self._file.seek(0)
        self.content = hashlib.file_digest(self._file, "sha256").hexdigest()[:32]  # of all before the footer

    def _batches(self, rows: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one row group as Arrow batches, and add them to their content hash."""
        while batch := validate(self.table, list(islice(rows, ROWS_AT_ONCE)), self.rows):
            whole = _record_batch(self.table, batch, self.rows)
            # Measurements of a run are no part of the digest: neither columns nor rows.
            kept = [row for row in batch if getattr(row, "metric", None) not in EFFICIENCY_NAMES]
            compared = whole if len(kept) == len(batch) else _record_batch(self.table, kept)
            self._digest.update(compared.select(_compared_columns(self.table)).serialize())
            self.rows += len(batch)
            self.quarantined += sum(getattr(row, "reason", None) is not None for row in batch)
            yield whole

    def facts(self, fingerprint: str, meta: Mapping[str, str], written: str) -> Facts:
        """Return the metadata of the written rows."""
        return Facts(self.digest, fingerprint, self.rows, meta, self.quarantined, self.content, written)

    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write the footer of the Parquet file, with key-value metadata and its own hash (file_hash.py)."""
        start = self._file.tell()
        self._parquet.add_key_value_metadata({**metadata, HASH_KEY: PLACEHOLDER})
        self._parquet.close()
        self._file.seek(start)
        footer = self._file.read()
        self._file.seek(start)
        self._file.write(footer_with_hash(footer))


def _record_batch(table: str, rows: list[Any], first: int = 0) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(to_arrays(table, rows, first), schema=schema(table))


@cache
def _compared_columns(table: str) -> list[str]:
    return [column.name for column in columns(table) if column.name not in MEASURED]


def read_batches(
    table: str, parquet: pq.ParquetFile, names: Sequence[str], groups: list[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the columns `names` of a Parquet file, or of some of its row groups; columns that it lacks are null."""
    # Most files are small: with threads, they take almost twice as much CPU time.
    for batch in parquet.iter_batches(row_group_size(table), groups, names, use_threads=False):
        yield with_columns(table, batch, names)


def read_rows(
    table: str, parquet: pq.ParquetFile, names: Sequence[str], episodes: Collection[str] | None = None
) -> Iterator[Any]:
    """Yield the rows of a Parquet file with the columns `names`; other columns have their default value.

    With `episodes`, yield only the rows of these episodes, and read no row group without one of them.
    """
    row, groups = TABLES[table], None
    if episodes is not None:
        groups = [at for at in range(parquet.num_row_groups) if _has_any(parquet, at, episodes)]
    for batch in read_batches(table, parquet, names, groups):
        chosen = batch if episodes is None else batch.filter(_is_of(batch, episodes))
        for values in zip(*map(from_array, chosen.columns), strict=True):
            yield row(**dict(zip(names, values, strict=True)))


def _has_any(parquet: pq.ParquetFile, group: int, episodes: Collection[str]) -> bool:
    """Return whether a row group has a row of one of the episodes; only the column `episode_id` is read."""
    ids = parquet.read_row_group(group, columns=["episode_id"], use_threads=False)
    return any(_is_of(batch, episodes).true_count for batch in ids.to_batches())


def _is_of(batch: pa.RecordBatch, episodes: Collection[str]) -> pa.BooleanArray:
    """Return, for each row of a batch, whether it belongs to one of the episodes."""
    import pyarrow.compute as pc  # noqa: PLC0415  (0.05 s, which the command line saves)

    return pc.is_in(batch.column("episode_id"), pa.array(episodes, pa.string()))
