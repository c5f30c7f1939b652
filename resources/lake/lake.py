"""The lake: one Parquet file per table and partition, replaced atomically.

The rows are defined in memflow.records. Queries over tables are in resources/publishing/warehouse.py, column types in
columns.py. partition_files.py finds and verifies the files, which storage.py stores. versions.py describes replaced
versions, past.py the lake of an earlier moment, and snapshots.py has copies for DuckDB.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BufferedRandom
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.records import ACCUMULATED, APPEND_ONLY, columns
from memflow.resources.lake.columns import from_array, schema
from memflow.resources.lake.damage import damaged_file
from memflow.resources.lake.facts import Facts, time_text
from memflow.resources.lake.partition_files import PartitionFiles
from memflow.resources.lake.row_groups import RowGroupWriter, read_batches, read_rows
from memflow.resources.lake.verification import VERIFIED
from memflow.resources.lake.versions import (
    KeptFile,
    Version,
    keep_metadata,
    kept_facts,
    kept_files,
    version_key,
    versions_of,
)


class Lake(PartitionFiles):
    """Tables as Parquet files below a folder."""

    def __init__(self, root: str | Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        super().__init__(root)
        self._clock = clock
        self.left_out: dict[str, dict[str, str]] = {}
        """Of a snapshot: by table, the partitions that it lacks, and why their files cannot be used."""

    def write(
        self,
        table: str,
        partition: str,
        rows: Iterable[Any],
        *,
        fingerprint: str,
        meta: Mapping[str, str] | None = None,
    ) -> Facts:
        """Replace a partition by `rows`, which may be empty. Rows are written in groups while they are iterated.

        The replaced version is kept. Raises BadInput with column and row of an invalid value and for a view of a past
        moment, and the errors of `rows`; then the old file remains.
        """
        key = self._key(table, partition)
        with self.storage.new_file(key) as file, RowGroupWriter(table, file) as writer:
            writer.write(rows)
            with self.storage.lock(table):
                former = self._replaceable(table, key)
                facts = writer.facts(fingerprint, dict(meta or {}), time_text(self._clock())).after(former)
                if former != facts:
                    writer.finish(facts.footer())
                    self._replace(table, partition, file, facts, former)
        return facts

    def update(
        self,
        table: str,
        partition: str,
        change: Callable[[list[Any]], Iterable[Any]],
        *,
        fingerprint: str,
        meta: Mapping[str, str] | None = None,
    ) -> Facts:
        """Replace a partition by `change(rows)` of its rows (`accumulated`). A lock excludes other updates.

        Raises the errors of `read` and `write`.
        """
        with self.storage.lock(f"{table}.update"):
            rows = change(self.accumulated(table, partition))
            return self.write(table, partition, rows, fingerprint=fingerprint, meta=meta)

    def accumulated(self, table: str, partition: str) -> list[Any]:
        """Return the rows of a table that each publication extends, and that nothing else can rebuild; [] if missing.

        If the file is damaged or was deleted, return those of the newest intact version. Raises DamagedFile if there
        is none.
        """
        try:
            return self.read(table, partition)
        except (DamagedFile, MissingData) as wrong:
            for file in reversed(kept_files(self.storage, table, partition).get(partition, [])):
                with suppress(DamagedFile, FileNotFoundError), self._opened(table, file.key) as opened:
                    names = [column.name for column in columns(table)]
                    return list(read_rows(table, pq.ParquetFile(opened), names))
            if isinstance(wrong, DamagedFile):
                raise DamagedFile(
                    f"{str(wrong).partition(' Run `')[0]} No version before it can be read. Move the file away, then "
                    "run `memflow run`: the table begins again, without earlier rows."
                ) from wrong
            return []

    def _replaceable(self, table: str, key: str) -> Facts | None:
        """Return the metadata of a file that a write replaces and keeps; None if there is none, or if it is damaged."""
        try:
            return self.facts_of(table, key)
        except (BadInput, FileNotFoundError):
            return None

    def _replace(
        self, table: str, partition: str, file: BufferedRandom, facts: Facts, former: Facts | None
    ) -> None:
        """Keep the current version and replace it."""
        key = self._key(table, partition)
        if former is not None:
            kept = version_key(table, partition, former)
            if former.content == facts.content and table not in APPEND_ONLY:
                keep_metadata(self.storage, kept, former)
            else:
                self.storage.keep(key, kept)
        self.storage.commit(file, key)
        if table in ACCUMULATED:
            self.storage.keep(key, version_key(table, partition, facts))
        if table in APPEND_ONLY:  # the version before is enough
            for earlier in kept_files(self.storage, table, partition).get(partition, [])[:-2]:
                self.storage.delete(earlier.key)

    def versions(self, table: str, partition: str) -> list[Version]:
        """Return the versions of a partition, newest first; the first is the current one."""
        return versions_of(self, table, partition)

    def removed_partitions(self, table: str) -> list[str]:
        """Return the partitions of a past moment whose rows were removed; none for the lake itself."""
        return []

    def read(self, table: str, partition: str, *, vectors: bool = True) -> list[Any]:
        """Return the rows of a partition in stored order. Without `vectors`, the vector column has its default value.

        Raises MissingData if the partition was never materialized, BadInput if the file cannot be read or has other
        columns.
        """
        return list(self.stream(table, partition, vectors=vectors))

    def stream(
        self, table: str, partition: str, *, vectors: bool = True, episodes: Collection[str] | None = None
    ) -> Iterator[Any]:
        """Yield the rows of a partition, one row group at a time.

        With `episodes`, yield only the rows of these episodes. Raises the errors of `read`.
        """
        with self._reading(table, partition, vectors) as (parquet, names):
            yield from read_rows(table, parquet, names, episodes)

    def columns(self, table: str, partition: str, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of some columns, one tuple per row, one row group at a time. Raises the errors of `read`."""
        for batch in self.batches(table, partition, names):
            yield from zip(*(from_array(batch.column(name)) for name in names), strict=True)

    def batches(
        self, table: str, partition: str, names: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition, or their columns `names`, as Arrow batches. Raises the errors of `read`."""
        with self._reading(table, partition, vectors=True) as (parquet, every):
            yield from read_batches(table, parquet, names or every)

    def arrow(self, table: str, partition: str, *, vectors: bool = True) -> pa.Table:
        """Return a partition as an Arrow table, with or without vectors. Raises the errors of `read`."""
        with self._reading(table, partition, vectors) as (parquet, names):
            fields = [schema(table).field(name) for name in names]
            return pa.Table.from_batches(read_batches(table, parquet, names), pa.schema(fields))

    def read_all(self, table: str, partitions: Iterable[str]) -> list[Any]:
        """Return the rows of several partitions, concatenated in the given order."""
        return [row for partition in partitions for row in self.read(table, partition)]

    def verify(self, table: str, partition: str) -> bool:
        """Compare the file of a partition with its hashes, unless this was done. Return whether it is intact."""
        try:
            with self._reading(table, partition, vectors=False):
                return True
        except DamagedFile:
            return False
        except MissingData:
            return True

    def check(self, table: str, partition: str) -> Facts:
        """Read the whole file of a partition again, compare its hashes, and return its metadata.

        Raises DamagedFile and MissingData.
        """
        VERIFIED.pop(self.state(table, partition), None)
        with self._reading(table, partition, vectors=False):
            facts = self.facts(table, partition)
        assert facts is not None  # it was read
        return facts

    def check_version(self, table: str, file: KeptFile) -> None:
        """Read a replaced version whole, and compare its hashes. Raises DamagedFile."""
        with suppress(FileNotFoundError):
            if file.is_removed:
                kept_facts(self, table, file)
            else:
                with self._opened(table, file.key):
                    return

    @contextmanager
    def _reading(
        self, table: str, partition: str, vectors: bool
    ) -> Iterator[tuple[pq.ParquetFile, list[str]]]:
        """Open a partition. Yield the file, and the names of its columns, with or without vectors."""
        with self._open(table, partition) as file:
            names = [column.name for column in columns(table) if vectors or column.type != list[float]]
            try:
                yield pq.ParquetFile(file), names
            except (pa.ArrowException, OSError) as wrong:
                reason = f"is damaged: it cannot be read as Parquet: {wrong}"
                raise damaged_file(self.root, table, self._key(table, partition), reason) from wrong
