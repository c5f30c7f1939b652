"""The lake: one Parquet file per table and partition, replaced atomically.

The rows are defined in memflow.records. Queries over tables are in resources/publishing/warehouse.py, column types in
resources/lake/columns.py. lake_storage/ stores the files, in a folder or in an object store. The version that a write
replaces is kept until `memflow doctor --clean` removes its rows.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.records import APPEND_ONLY, TABLES, columns
from resources.files.file_cache import FileState, RowCache
from resources.files.local_files import replace_file, stem_of
from resources.lake.columns import from_array, has_vectors, schema, unknown_table
from resources.lake.facts import Facts, table_columns
from resources.lake.file_hash import WrongHash
from resources.lake.kept_versions import Version
from resources.lake.past_partitions import PastPartitions, versions_of
from resources.lake.row_groups import RowGroupWriter, read_rows, row_group_size
from resources.lake.storage.local import LocalStorage
from resources.lake.storage.opening import open_storage
from resources.lake.storage.storage import Changed, LakeStorage, Partition, Replacement, VersionStorage
from resources.lake.verification import VERIFIED, FileKey, read_facts, verify_metadata, verify_rows

ACCUMULATED = (*sorted(APPEND_ONLY), "score.drift")
"""The tables with rows of earlier publications, which no other rows can rebuild: a copy of each file is kept."""


class Lake:
    """Tables as Parquet files below a folder or an address such as s3://bucket/path."""

    def __init__(
        self,
        root: str | Path | LakeStorage,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.storage = open_storage(root) if isinstance(root, str | Path) else root
        self.kept: VersionStorage = self.storage.versions
        self._rows = RowCache()
        self._clock = clock
        self._past: PastPartitions | None = None
        self._is_snapshot = False
        self.left_out: dict[str, list[str]] = {}
        """Of a snapshot: by table, the partitions that it lacks because their files are damaged."""

    @property
    def root(self) -> str:
        """The lake's folder or address."""
        return self.storage.root

    @property
    def local(self) -> bool:
        """Whether other programs can read the current files at `path`."""
        return self.storage.local

    def listing_view(self) -> "Lake":
        """Return a view for decisions over many partitions. In an object store it may be some seconds old."""
        return self._on(self.storage.listing_view())

    def _on(self, storage: LakeStorage) -> "Lake":
        if storage is self.storage:
            return self
        view = copy(self)  # with the same cache of rows
        view.storage, view.kept = storage, storage.versions
        return view

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
        return self._write(table, partition, rows, fingerprint, meta)

    def update(
        self,
        table: str,
        partition: str,
        change: Callable[[list[Any]], Iterable[Any]],
        *,
        fingerprint: str,
        meta: Mapping[str, str] | None = None,
    ) -> Facts:
        """Replace a partition by `change(rows)` of its rows: none if it is missing or has another version's columns.

        No other update gets lost: locally a lock excludes it, and in an object store `change` is called again if the
        partition was replaced meanwhile. Raises the errors of `read` and `write`.
        """
        with self.storage.update_lock(table):
            while True:
                lake = self._on(self.storage.pinned_view())
                state = lake.state(table, partition)
                is_there = state is not None and not lake.is_former(table, partition)
                rows = lake.read(table, partition) if is_there else []
                with suppress(Changed):
                    return self._write(table, partition, change(rows), fingerprint, meta, (state,))

    def _write(
        self,
        table: str,
        partition: str,
        rows: Iterable[Any],
        fingerprint: str,
        meta: Mapping[str, str] | None,
        expects: tuple[FileState | None] | None = None,
    ) -> Facts:
        if self._past is not None:
            raise BadInput(f"the lake as of {self._past.moment} cannot be changed. Write to the lake itself.")
        path = self.path(table, partition)
        former = self._replaceable(table, partition)
        only: list[Any] | None = None

        def write(file: IO[bytes]) -> Facts:
            nonlocal only
            with RowGroupWriter(table, file) as writer:
                writer.write(rows)
                facts = Facts(
                    writer.digest,
                    fingerprint,
                    writer.rows,
                    dict(meta or {}),
                    table_columns(table),
                    writer.quarantined,
                    writer.content,
                )
                facts = facts.at(self._clock()).after(former)
                only = writer.only
                writer.describe(facts.footer())
            return facts

        new = Replacement(
            write,
            lambda: self._replaceable(table, partition),
            table not in APPEND_ONLY,
            expects,
            lambda: self.damage(table, partition) is not None,
            table in ACCUMULATED,
        )
        facts, state = self.storage.replace(table, partition, new)
        self._rows.put(path, None if has_vectors(table) or only is None else state, only or ())
        return facts

    def _replaceable(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition that a write replaces; None if there is none, or if it cannot be read."""
        try:
            return self.facts(table, partition)
        except DamagedFile:
            with suppress(WrongHash, KeyError, BadInput, OSError), self._open(table, partition) as file:
                return verify_metadata(table, file)  # only the rows are damaged
            return None
        except BadInput:
            return None

    def versions(self, table: str, partition: str) -> list[Version]:
        """Return the versions of a partition, newest first; the first is the current one."""
        current = self if self._past is None else self._past.current
        return versions_of(current, self.kept, table, partition)

    def as_of(self, moment: datetime) -> "Lake":
        """Return a read-only view of the lake as it was at a moment with a time zone.

        Reading rows that `memflow doctor --clean` removed raises MissingData. Files without a time count as having
        always existed.
        """
        storage = self.storage.listing_view()
        view = Lake(storage, self._clock)
        view._past = PastPartitions(Lake(storage), self.kept, moment)
        return view

    def removed_partitions(self, table: str) -> list[str]:
        """Return the partitions of a past moment whose rows were removed; none for the lake itself."""
        return [] if self._past is None else self._past.removed(table)

    def read(self, table: str, partition: str, *, vectors: bool = True) -> list[Any]:
        """Return the rows of a partition in stored order. Without `vectors`, the vector column has its default value.

        Raises MissingData if the partition was never materialized, BadInput if the file cannot be read or has other
        columns.
        """
        return list(self.stream(table, partition, vectors=vectors))

    def stream(
        self, table: str, partition: str, *, vectors: bool = True, episodes: Collection[str] | None = None
    ) -> Iterator[Any]:
        """Yield the rows of a partition, one row group at a time; a file with a single row group is cached.

        With `episodes`, yield only the rows of these episodes. Raises the errors of `read`.
        """
        lake = self._on(self.storage.pinned_view())
        path, state = lake.path(table, partition), lake.state(table, partition)
        if vectors and has_vectors(table):
            state = None
        kept = self._rows.get(path, state) if state else None
        if kept is not None:
            yield from kept if episodes is None else (row for row in kept if row.episode_id in episodes)
            return
        with lake._reading(table, partition, vectors) as (parquet, names):
            if episodes is not None or state is None or parquet.num_row_groups > 1:
                yield from read_rows(table, parquet, names, episodes)
                return
            rows = list(read_rows(table, parquet, names))
        if state == lake.state(table, partition):
            self._rows.put(path, state, rows)
        yield from rows

    def columns(self, table: str, partition: str, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of some columns, one tuple per row, one row group at a time. Raises the errors of `read`."""
        for batch in self.batches(table, partition, names):
            yield from zip(*(from_array(batch.column(name)) for name in names), strict=True)

    def batches(
        self, table: str, partition: str, names: Sequence[str] | None = None, *, encoded: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition, or their columns `names`, as Arrow batches. Raises the errors of `read`.

        With `encoded`, texts are dictionary arrays: each different text of a batch is decoded once.
        """
        with self._reading(table, partition, vectors=True, encoded=encoded) as (parquet, _):
            yield from parquet.iter_batches(row_group_size(table), columns=names, use_threads=False)

    def rows_at(self, table: str, partition: str, places: Collection[int]) -> list[Any]:
        """Return the rows with these numbers, in stored order; other row groups are not read."""
        row, wanted, first = TABLES[table], sorted(places), 0
        found = []
        with self._reading(table, partition, vectors=True, encoded=True) as (parquet, _):
            for number in range(parquet.num_row_groups):
                end = first + parquet.metadata.row_group(number).num_rows
                within = [place - first for place in wanted if first <= place < end]
                if within:
                    group = parquet.read_row_group(number, use_threads=False)
                    found += [
                        row(**values) for place in within for values in group.slice(place, 1).to_pylist()
                    ]
                first = end
        return found

    def arrow(self, table: str, partition: str, *, vectors: bool = True) -> pa.Table:
        """Return a partition as an Arrow table, with or without vectors. Raises the errors of `read`."""
        with self._reading(table, partition, vectors) as (parquet, names):
            return parquet.read(names, use_threads=False)

    def read_all(self, table: str, partitions: Iterable[str]) -> list[Any]:
        """Return the rows of several partitions, concatenated in the given order."""
        return [row for partition in partitions for row in self.read(table, partition)]

    def facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition; None if it was never materialized."""
        if self._past is not None:
            return self._past.facts(table, partition)
        self.path(table, partition)  # for the errors of unknown names
        return self.storage.facts(table, partition, lambda: self._stored_facts(table, partition))

    def state(self, table: str, partition: str) -> FileState | None:
        """Return a value that differs for every version of a partition; None if it is missing or of the past."""
        self.path(table, partition)
        return None if self._past is not None else self.storage.state(table, partition)

    def _stored_facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata in a file, which is verified: a local file whole, of an object its footer."""
        key = self._key(table, partition)
        try:
            with self._open(table, partition) as file:
                return self._verify(table, partition, file, key, whole=self.local)
        except MissingData:
            return None

    def _key(self, table: str, partition: str) -> FileKey | None:
        """Return what identifies a verified file: its state, for an object in a store with its address."""
        state = self.state(table, partition)
        return state if self.local or state is None else (self.path(table, partition), state)

    def _verify(
        self, table: str, partition: str, file: pa.NativeFile, key: FileKey | None, whole: bool = True
    ) -> Facts:
        """Compare an open file with its hashes, unless this was done in this state. Return its metadata.

        Raises DamagedFile, and BadInput if memflow did not write the file.
        """
        reason = VERIFIED.reason(key)
        try:
            if reason is None:
                facts = verify_rows(table, file) if whole else verify_metadata(table, file)
                VERIFIED.put(key if whole else None, "")
                return facts
            if not reason:
                return read_facts(table, file)[1]
        except WrongHash as wrong:
            reason = str(wrong)
            VERIFIED.put(key, reason)
            if isinstance(self.storage, LocalStorage) and self._past is None:
                self.storage.forget_facts(table, partition)
        except KeyError:
            raise BadInput(
                f"{self.path(table, partition)} was not written by memflow. Move it away, then rerun "
                f"{rebuild_command(table, partition)}."
            ) from None
        except (pa.ArrowException, OSError, ValueError) as wrong:
            reason = f"it cannot be read as Parquet: {wrong}"
        raise self._damaged(table, partition, reason)

    def damage(self, table: str, partition: str) -> str | None:
        """Return why the file of a partition cannot be used, as far as is known; None if it is intact or missing."""
        try:
            self.facts(table, partition)
        except MissingData:
            return None
        except BadInput as wrong:
            return str(wrong)
        return None

    def intact_facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition; None if it is missing or damaged."""
        try:
            return self.facts(table, partition)
        except BadInput:
            return None

    def verify(self, table: str, partition: str) -> bool:
        """Compare the file of a partition with its hashes, unless this was done. Return whether it is intact."""
        try:
            with self._reading(table, partition, vectors=False):
                return True
        except DamagedFile:
            return False
        except BadInput:
            return True  # missing, or of another version

    def restore_copy(self, table: str, partition: str) -> bool:
        """Replace a damaged or deleted file by its copy, if there is an intact one. Return whether it was replaced."""
        if not isinstance(self.storage, LocalStorage):
            return False
        is_there = self.state(table, partition) is not None
        if is_there and self.damage(table, partition) is None:
            return False
        path = self.path(table, partition)
        try:
            with pa.OSFile(str(self.storage.copy_path(path))) as file:
                verify_rows(table, file)
        except (OSError, WrongHash, KeyError):
            return False
        if is_there:
            self.storage.set_aside(path)
        with self.storage.copy_path(path).open("rb") as source:
            replace_file(Path(path), lambda file: shutil.copyfileobj(source, file))
        return True

    def deleted_partitions(self, table: str) -> list[str]:
        """Return the partitions of a table that have a copy and no file."""
        if not isinstance(self.storage, LocalStorage) or self._past is not None:
            return []
        return sorted({*self.storage.copied_partitions(table)} - {*self.partitions(table)})

    def check(self, table: str, partition: str) -> Facts:
        """Read the whole file of a partition again, not a cached copy, compare its hashes, and return its metadata.

        Raises DamagedFile, MissingData, and BadInput if memflow did not write the file.
        """
        key = self._key(table, partition)
        VERIFIED.forget(key)
        with self._open(table, partition, stored=True) as file:
            return self._verify(table, partition, file, key)

    def partitions(self, table: str) -> list[str]:
        """Return the partitions of a table that exist in the lake, sorted."""
        if self._past is not None:
            return list(self._past.of(table))
        self.folder(table)
        return sorted(self.storage.partitions(table))

    def is_former(self, table: str, partition: str) -> bool:
        """Return whether the partition has the columns of another memflow version; False if it cannot be read."""
        try:
            facts = self.facts(table, partition)
        except BadInput:
            return False
        return facts is not None and not facts.of_current(table)

    def current_partitions(self, table: str) -> list[str]:
        """Return the partitions of a table, sorted, without damaged ones and those with another version's columns."""
        found = self.partitions(table)
        if self._is_snapshot:
            return found
        return [
            name
            for name in found
            if (facts := self.intact_facts(table, name)) is not None and facts.of_current(table)
        ]

    @contextmanager
    def snapshot(
        self, tables: Sequence[str] = (*TABLES,), only: Collection[str] | None = None
    ) -> Iterator["Lake"]:
        """Yield an unchanging copy of these tables' current partitions, or of the partitions in `only`, as local files.

        DuckDB opens a file several times, and a writer may replace the file in between. Every file is verified;
        `left_out` names the damaged ones. On disks without hard links, yield the lake itself. The snapshot of a past
        moment has no `removed_partitions`.
        """
        with self.storage.snapshot_folder() as root:
            if root is None:
                yield self
                return
            lake = self._on(self.storage.snapshot_view(tables))
            files: dict[Partition, Path] = {}
            left_out: dict[str, list[str]] = {}
            for table in tables:
                folder = root / table.replace(".", "/")
                folder.mkdir(parents=True)
                for partition in lake.partitions(table):
                    if (only is not None and partition not in only) or lake.is_former(table, partition):
                        continue
                    if lake.damage(table, partition) is None:
                        files[table, partition] = folder / f"{stem_of(partition)}.parquet"
                    else:
                        left_out.setdefault(table, []).append(partition)
            lake._copy(files)
            for (table, partition), at in files.items():
                if not lake._is_intact(table, partition, at):
                    at.unlink(missing_ok=True)
                    left_out.setdefault(table, []).append(partition)
            still = Lake(root)
            still._is_snapshot = True
            still.left_out = left_out
            yield still

    def _is_intact(self, table: str, partition: str, at: Path) -> bool:
        """Return whether a copy of a partition's file in a snapshot has the bytes that memflow wrote."""
        try:
            state = FileState.of(at.stat())
        except FileNotFoundError:  # removed rows of a past moment, or a damaged object
            return self._past is not None
        if VERIFIED.reason(state) == "":
            return True
        try:
            with pa.OSFile(str(at)) as file:
                self._verify(table, partition, file, state)
        except BadInput:
            return False
        return True

    def _copy(self, files: Mapping[Partition, Path]) -> None:
        """Place the files of partitions at these paths; none for rows of a past moment that were removed."""
        if self._past is None:
            self.storage.copy(files)
            return
        for (table, partition), at in files.items():
            facts = self._past.facts(table, partition)
            if facts is not None:
                self.storage.copy_version(table, partition, facts, at)

    def folder(self, table: str) -> str:
        """Return the folder of a table's files."""
        if table not in TABLES:
            raise unknown_table(table)
        return self.storage.folder(table)

    def path(self, table: str, partition: str) -> str:
        """Return the path of a partition's file; `domain/full` is stored as `domain,full.parquet`."""
        if not partition:
            raise BadInput(
                f"the partition name for the table {table} is empty. Pass `domain` or `domain/assistant`."
            )
        self.folder(table)
        facts = None if self._past is None else self._past.facts(table, partition)
        if facts is not None:
            return self.storage.version_path(table, partition, facts)
        return self.storage.path(table, partition)

    @contextmanager
    def _reading(
        self, table: str, partition: str, vectors: bool, *, encoded: bool = False
    ) -> Iterator[tuple[pq.ParquetFile, list[str]]]:
        """Open a partition. Yield the file and the names of its columns, with or without vectors.

        With `encoded`, columns of texts are read as dictionary arrays.
        """
        lake = self._on(self.storage.pinned_view())
        key = lake._key(table, partition)
        try:
            with lake._open(table, partition) as file:
                if VERIFIED.reason(key) != "":
                    lake._verify(table, partition, file, key)
                file.seek(0)
                parquet = pq.ParquetFile(file)
                there = parquet.schema_arrow.remove_metadata()
                if there != schema(table):
                    raise _other_columns(table, partition, self, there)
                if encoded:
                    texts = [each.name for each in there if pa.types.is_string(each.type)]
                    parquet = pq.ParquetFile(file, metadata=parquet.metadata, read_dictionary=texts)
                yield (
                    parquet,
                    [each.name for each in columns(table) if vectors or each.type != list[float]],
                )
        except (pa.ArrowException, OSError) as wrong:
            raise self._damaged(table, partition, f"it cannot be read as Parquet: {wrong}") from wrong

    def _open(self, table: str, partition: str, *, stored: bool = False) -> pa.NativeFile:
        if self._past is not None:
            return self._open_past(self._past, table, partition)
        try:
            return (self.storage.open_stored if stored else self.storage.open)(table, partition)
        except FileNotFoundError:
            raise MissingData(
                f"{table} of {partition} is missing from the lake ({self.root}). Materialize the asset "
                f"{_asset_key(table)} for this partition, or run {rebuild_command(table, partition)}."
            ) from None

    def _open_past(self, past: PastPartitions, table: str, partition: str) -> pa.NativeFile:
        facts = past.facts(table, partition)
        if facts is not None:
            with suppress(FileNotFoundError):
                return self.storage.open_version(table, partition, facts)
        reason = "did not exist yet" if facts is None else "was removed by `memflow doctor --clean`"
        raise MissingData(
            f"{table} of {partition} as of {past.moment:%Y-%m-%d %H:%M:%S} UTC {reason}. Choose a later moment."
        )

    def _damaged(self, table: str, partition: str, reason: str) -> DamagedFile:
        """Return the error for a damaged file: which file, why, and the command that repairs it."""
        return DamagedFile(
            f"{self.path(table, partition)} is damaged: {reason}. Run {rebuild_command(table, partition)}, which "
            "rebuilds it: answers come from the ledger, changed requests are asked again."
        )


def _asset_key(table: str) -> str:
    return table.replace(".", "/")


def rebuild_commands(partitions: Iterable[str]) -> list[str]:
    """Return one command per domain that rebuilds these partitions (`domain` or `domain/assistant`)."""
    options: dict[str, list[str]] = {}
    for partition in partitions:
        domain, _, assistant = partition.partition("/")
        chosen = options.setdefault(domain, [f"--domain {domain}"])
        if assistant:
            chosen.append(f"--{'assistant' if '@' in assistant else 'memory'} {assistant}")
    return [f"memflow run {' '.join(chosen)}" for chosen in options.values()]


def rebuild_command(table: str, partition: str) -> str:
    """Return the command that rebuilds a partition; answers to unchanged requests come from the ledger."""
    if table in ("raw.records", "score.comparisons", "score.history", "score.leaderboard", "score.drift"):
        return "`memflow run`"
    return f"`{rebuild_commands([partition])[0]}`"


def _other_columns(table: str, partition: str, lake: Lake, found: pa.Schema) -> BadInput:
    wanted = schema(table)
    missing = [name for name in wanted.names if name not in found.names]
    unknown = [name for name in found.names if name not in wanted.names]
    differences = [
        f"it lacks {', '.join(missing)}" if missing else "",
        f"it has {', '.join(unknown)}" if unknown else "",
    ]
    return BadInput(
        f"{lake.path(table, partition)} was written by another version of memflow: "
        f"{' and '.join(filter(None, differences)) or 'its columns have other types'}. Rebuild it with "
        f"{rebuild_command(table, partition)}, or move the lake {lake.root} away and rerun everything. Answers "
        "come from the ledger; requests whose prompt, model or parameters changed since are asked again."
    )
