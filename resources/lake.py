"""The lake: one Parquet file per table and partition, replaced atomically.

The rows are defined in memflow.records. Queries over tables are in resources/warehouse.py, column types in
resources/columns.py. A local file is written under a temporary name, synced and renamed; an object in a store appears
when it is complete. The version that a write replaces is kept (kept_versions.py) until `memflow gc` removes its rows.
"""

import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.records import APPEND_ONLY, TABLES, columns
from resources.columns import from_array, has_vectors, schema, unknown_table
from resources.facts import Facts, table_columns
from resources.file_cache import FileCache, FileState, RowCache
from resources.file_hash import WrongHash
from resources.kept_versions import TIME, KeptVersions, Version, content_of
from resources.lake_verification import VerifiedFiles, read_facts, verify_metadata, verify_rows
from resources.local_files import can_link, link_file, partition_of, replace_file, stem_of
from resources.past_partitions import PastPartitions, versions_of
from resources.row_groups import RowGroupWriter, read_rows, row_group_size

SNAPSHOTS = ".snapshots"
DAMAGED = ".damaged"
"""The folder of damaged files, below the lake's root: a file that is rebuilt is kept there."""
CACHE = ".cache/facts-5"
"""The cache of facts of verified files, below the lake's root; the number is the version of its content."""
REASON = "damaged"
"""The key of the reason in the cache of facts, for a damaged file."""
VERIFIED = VerifiedFiles()
"""The files that this process has verified."""


class Lake:
    """Tables as Parquet files below a folder or an address such as s3://bucket/path."""

    def __init__(
        self,
        root: str | Path,
        filesystem: fs.FileSystem | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        address = str(root)
        if filesystem is None and "://" in address:
            filesystem, address = fs.FileSystem.from_uri(address)
        elif filesystem is None:
            filesystem, address = fs.LocalFileSystem(), str(Path(address).expanduser().absolute())
        self.filesystem = filesystem
        self.root = address.rstrip("/")
        self.local = isinstance(filesystem, fs.LocalFileSystem)
        self._cache = FileCache(f"{self.root}/{CACHE}", self.root) if self.local else None
        self._rows = RowCache()
        self._clock = clock
        self.kept = KeptVersions(self.root, filesystem)
        self._past: PastPartitions | None = None
        self._is_snapshot = False
        self.left_out: dict[str, list[str]] = {}
        """Of a snapshot: by table, the partitions that it lacks because their files are damaged."""

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
        if self._past is not None:
            raise BadInput(f"the lake as of {self._past.moment} cannot be changed. Write to the lake itself.")
        path = self.path(table, partition)
        former = self._replaceable(table, partition)
        facts = Facts("", fingerprint, 0, dict(meta or {}), table_columns(table))
        only: list[Any] | None = None

        def write(file: IO[bytes]) -> None:
            nonlocal facts, only
            with RowGroupWriter(table, file) as writer:
                writer.write(rows)
                facts = replace(
                    facts,
                    digest=writer.digest,
                    content=writer.content,
                    rows=writer.rows,
                    quarantined=writer.quarantined,
                )
                facts = facts.at(self._time_of(facts, former))
                only = writer.only
                writer.describe(facts.footer())

        state = self._write_file(path, write, lambda: self._keeping(table, partition, facts))
        self._rows.put(path, None if has_vectors(table) or only is None else state, only or ())
        return facts

    def _replaceable(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition that a write replaces; None if there is none, or if it cannot be read."""
        try:
            return self.facts(table, partition)
        except DamagedFile:
            with suppress(WrongHash, KeyError, BadInput, OSError), self._open(table, partition) as file:
                return verify_metadata(table, file)  # only its rows are damaged
            return None
        except BadInput:
            return None

    def _time_of(self, facts: Facts, former: Facts | None) -> datetime:
        """Return the time of a write: that of the former version if nothing differs, else a later one."""
        now = self._clock()
        if former is None or former.since is None:
            return now
        return former.since if former == facts else max(now, former.since + timedelta.resolution)

    @contextmanager
    def _keeping(self, table: str, partition: str, facts: Facts) -> Iterator[None]:
        """Keep the current version of a partition while its file is replaced by one with these facts."""
        with self.kept.locked(table):
            former = self._replaceable(table, partition)
            path = self.path(table, partition)
            is_damaged = self.damage(table, partition) is not None
            if is_damaged:
                self.set_aside(path)
            if former is not None and former != facts and table not in APPEND_ONLY:
                differs = content_of(former) != content_of(facts) and not is_damaged
                self.kept.keep(table, stem_of(partition), path, former, with_rows=differs)
            yield

    def set_aside(self, path: str) -> Path | None:
        """Keep a damaged file below `.damaged`, under a name with the time; None if the lake is in an object store."""
        if not self.local:
            return None
        time = self._clock().astimezone(UTC).strftime(TIME)
        kept = Path(self.root, DAMAGED, f"{path.removeprefix(f'{self.root}/')}.{time}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            try:
                kept.hardlink_to(path)
            except FileExistsError:
                raise
            except OSError:  # a disk without hard links
                shutil.copyfile(path, kept)
        return kept

    def versions(self, table: str, partition: str) -> list[Version]:
        """Return the versions of a partition, newest first; the first is the current one."""
        current = self if self._past is None else self._past.current
        return versions_of(current, self.kept, table, partition)

    def as_of(self, moment: datetime) -> "Lake":
        """Return a read-only view of the lake as it was at a moment with a time zone.

        Reading rows that `memflow gc` removed raises MissingData. Files without a time, which a former version of
        memflow wrote, count as having always existed.
        """
        view = Lake(self.root, self.filesystem, self._clock)
        view._past = PastPartitions(Lake(self.root, self.filesystem), self.kept, moment)
        return view

    def removed_partitions(self, table: str) -> list[str]:
        """Return the partitions of a past moment whose rows `memflow gc` has removed; none for the lake itself."""
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
        path, state = self.path(table, partition), self.state(table, partition)
        if vectors and has_vectors(table):
            state = None
        kept = self._rows.get(path, state) if state else None
        if kept is not None:
            yield from kept if episodes is None else (row for row in kept if row.episode_id in episodes)
            return
        with self._reading(table, partition, vectors) as (parquet, names):
            if episodes is not None or state is None or parquet.num_row_groups > 1:
                yield from read_rows(table, parquet, names, episodes)
                return
            rows = list(read_rows(table, parquet, names))
        if state == self.state(table, partition):
            self._rows.put(path, state, rows)
        yield from rows

    def columns(self, table: str, partition: str, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of some columns, one tuple per row, one row group at a time. Raises the errors of `read`."""
        for batch in self.batches(table, partition, names):
            yield from zip(*(from_array(batch.column(name)) for name in names), strict=True)

    def batches(
        self, table: str, partition: str, names: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition, or their columns `names`, as Arrow batches. Raises the errors of `read`."""
        with self._reading(table, partition, vectors=True) as (parquet, _):
            yield from parquet.iter_batches(row_group_size(table), columns=names, use_threads=False)

    def arrow(self, table: str, partition: str, *, vectors: bool = True) -> pa.Table:
        """Return a partition as an Arrow table, with or without vectors. Raises the errors of `read`."""
        with self._reading(table, partition, vectors) as (parquet, names):
            return parquet.read(names, use_threads=False)

    def read_all(self, table: str, partitions: Iterable[str]) -> list[Any]:
        """Return the rows of several partitions, concatenated in the given order."""
        return [row for partition in partitions for row in self.read(table, partition)]

    def facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition (cached for local files); None if it was never materialized."""
        if self._past is not None:
            return self._past.facts(table, partition)
        if self._cache is None:
            return self._stored_facts(table, partition)
        path, state = self.path(table, partition), self.state(table, partition)
        if state is None:
            return None
        cached = self._cache.get(path, state)
        if reason := VERIFIED.reason(state) or (cached.get(REASON) if isinstance(cached, dict) else None):
            raise self._damaged(table, partition, reason)
        if cached is not None:
            return Facts(*cached)
        facts = self._stored_facts(table, partition)
        if facts is not None and self.state(table, partition) == state:
            self._cache.put(path, state, list(asdict(facts).values()))
        return facts

    def state(self, table: str, partition: str) -> FileState | None:
        """Return the state of a partition's file; None if it is missing or in an object store."""
        if not self.local:
            return None
        try:
            found = os.stat(self.path(table, partition))  # noqa: PTH116  (a Path takes longer than the call itself)
        except FileNotFoundError:
            return None
        return FileState.of(found)

    def _stored_facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata in a file, which is verified: a local file whole, of an object its footer."""
        state = self.state(table, partition)
        try:
            with self._open(table, partition) as file:
                return self._verify(table, partition, file, state, whole=self.local)
        except MissingData:
            return None

    def _verify(
        self, table: str, partition: str, file: pa.NativeFile, state: FileState | None, whole: bool = True
    ) -> Facts:
        """Compare an open file with its hashes, unless this was done in this state. Return its metadata.

        Raises DamagedFile, and BadInput if memflow did not write the file. An object in a store has no state.
        """
        reason = VERIFIED.reason(state)
        try:
            if reason is None:
                facts = verify_rows(table, file) if whole else verify_metadata(table, file)
                VERIFIED.put(state if whole else None, "")
                return facts
            if not reason:
                return read_facts(table, file)[1]
        except WrongHash as wrong:
            reason = str(wrong)
            VERIFIED.put(state, reason)
            if self._cache is not None and self._past is None and not self._is_snapshot:
                self._cache.put(self.path(table, partition), state, {REASON: reason})
        except KeyError:
            raise BadInput(
                f"{self.path(table, partition)} was not written by memflow. Move it away, then rerun "
                f"{_rebuild_command(table, partition)}."
            ) from None
        except (pa.ArrowException, OSError, ValueError) as wrong:
            reason = f"it cannot be read as Parquet: {wrong}"
        raise self._damaged(table, partition, reason)

    def damage(self, table: str, partition: str) -> str | None:
        """Return why the file of a partition is damaged, as far as is known; None if it is intact or missing."""
        try:
            self.facts(table, partition)
        except MissingData:
            return None
        except BadInput as wrong:
            return str(wrong)
        return None

    def intact_facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition; None if it is missing or damaged."""
        return self.facts(table, partition) if self.damage(table, partition) is None else None

    def damaged_partitions(self, table: str) -> list[str]:
        """Return the partitions of a table whose files are damaged, as far as is known, sorted."""
        return [name for name in self.partitions(table) if self.damage(table, name) is not None]

    def check(self, table: str, partition: str) -> None:
        """Read the whole file of a partition again, and compare its hashes.

        Raises DamagedFile, MissingData, and BadInput if memflow did not write the file.
        """
        state = self.state(table, partition)
        VERIFIED.forget(state)
        with self._open(table, partition) as file:
            facts = self._verify(table, partition, file, state)
        if self._cache is not None and self._past is None:
            self._cache.put(self.path(table, partition), state, list(asdict(facts).values()))

    def partitions(self, table: str) -> list[str]:
        """Return the partitions of a table that exist in the lake, sorted."""
        if self._past is not None:
            return list(self._past.of(table))
        listed = self.filesystem.get_file_info(fs.FileSelector(self.folder(table), allow_not_found=True))
        return sorted(
            partition_of(info.base_name.removesuffix(".parquet"))
            for info in listed
            if info.is_file and info.extension == "parquet"
        )

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
        """Yield an unchanging copy of these tables' current partitions, or of the partitions in `only`, as hard links.

        DuckDB opens a file several times, and a writer may replace the file in between. Every file is verified;
        `left_out` has the damaged ones. For object stores and for disks without hard links, yield the lake itself. The
        snapshot of a past moment has no `removed_partitions`.
        """
        root = Path(self.root) / SNAPSHOTS / secrets.token_hex(8)
        if not self.local or not can_link(root):
            yield self
            return
        copy = Lake(root)
        copy._is_snapshot = True
        try:
            for table in tables:
                held = root / table.replace(".", "/")
                held.mkdir(parents=True)
                for partition in self.partitions(table):
                    if (only is not None and partition not in only) or self.is_former(table, partition):
                        continue
                    at = held / f"{stem_of(partition)}.parquet"
                    try:
                        self._check_link(table, partition, at)
                    except BadInput:
                        at.unlink(missing_ok=True)
                        copy.left_out.setdefault(table, []).append(partition)
            yield copy
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def _check_link(self, table: str, partition: str, at: Path) -> None:
        """Create a hard link to a partition's file, and verify the file. Raises DamagedFile."""
        if (damage := self.damage(table, partition)) is not None:
            raise DamagedFile(damage)
        self._link(table, partition, at)
        with suppress(FileNotFoundError):
            state = FileState.of(at.stat())
            if VERIFIED.reason(state) != "":
                with self.filesystem.open_input_file(str(at)) as file:
                    self._verify(table, partition, file, state)

    def _link(self, table: str, partition: str, at: Path) -> None:
        """Create a hard link to the file with a partition's rows; to none if they were removed."""
        if self._past is None:
            link_file(Path(self.path(table, partition)), at)
            return
        facts = self._past.facts(table, partition)
        for path in self._past.paths(table, partition):
            with suppress(FileNotFoundError):
                at.hardlink_to(path)
                with self.filesystem.open_input_file(str(at)) as file:
                    if facts is not None and _has_content(file, facts):
                        return
                at.unlink()

    def folder(self, table: str) -> str:
        """Return the folder of a table's files."""
        if table not in TABLES:
            raise unknown_table(table)
        return f"{self.root}/{table.replace('.', '/')}"

    def path(self, table: str, partition: str) -> str:
        """Return the path of a partition's file; `domain/full` is stored as `domain,full.parquet`."""
        if not partition:
            raise BadInput(
                f"the partition name for the table {table} is empty. Pass `domain` or `domain/assistant`."
            )
        if self._past is not None and self._past.facts(table, partition) is not None:
            return self._past.path(table, partition)
        return f"{self.folder(table)}/{stem_of(partition)}.parquet"

    @contextmanager
    def _reading(
        self, table: str, partition: str, vectors: bool
    ) -> Iterator[tuple[pq.ParquetFile, list[str]]]:
        """Open a partition. Yield the file and the names of its columns, with or without vectors."""
        state = self.state(table, partition)
        try:
            with self._open(table, partition) as file:
                if VERIFIED.reason(state) != "":
                    self._verify(table, partition, file, state)
                file.seek(0)
                parquet = pq.ParquetFile(file)
                there = parquet.schema_arrow.remove_metadata()
                if there != schema(table):
                    raise _other_columns(table, partition, self, there)
                yield (
                    parquet,
                    [each.name for each in columns(table) if vectors or each.type != list[float]],
                )
        except (pa.ArrowException, OSError) as wrong:
            raise self._damaged(table, partition, f"it cannot be read as Parquet: {wrong}") from wrong

    def _open(self, table: str, partition: str) -> pa.NativeFile:
        if self._past is not None:
            return self._open_past(self._past, table, partition)
        try:
            return self.filesystem.open_input_file(self.path(table, partition))
        except FileNotFoundError:
            raise MissingData(
                f"{table} of {partition} is missing from the lake ({self.root}). Materialize the asset "
                f"{_asset_key(table)} for this partition, or run {_rebuild_command(table, partition)}."
            ) from None

    def _open_past(self, past: PastPartitions, table: str, partition: str) -> pa.NativeFile:
        facts = past.facts(table, partition)
        for path in past.paths(table, partition):
            with suppress(FileNotFoundError):
                file = self.filesystem.open_input_file(path)
                if facts is not None and _has_content(file, facts):
                    return file
                file.close()
        reason = "did not exist yet" if facts is None else "was removed by `memflow gc`"
        raise MissingData(
            f"{table} of {partition} as of {past.moment:%Y-%m-%d %H:%M:%S} UTC {reason}. Choose a later moment."
        )

    def _damaged(self, table: str, partition: str, reason: str) -> DamagedFile:
        """Return the error for a damaged file: which file, why, and the command that repairs it."""
        return DamagedFile(
            f"{self.path(table, partition)} is damaged: {reason}. Run `memflow repair`, which rebuilds it without "
            "requests where the ledger has the answers."
        )

    def _write_file(
        self,
        path: str,
        write: Callable[[IO[bytes]], None],
        replacing: Callable[[], AbstractContextManager[None]],
    ) -> FileState | None:
        """Write a file, and replace the old one inside the context. Return the state of a local file, else None."""
        if self.local:
            return replace_file(Path(path), write, replacing)
        self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with TemporaryFile() as complete:  # an object appears also where its writer failed
            write(complete)
            complete.seek(0)
            with replacing(), self.filesystem.open_output_stream(path) as object_:
                shutil.copyfileobj(complete, object_)
        return None


def _has_content(file: pa.NativeFile, facts: Facts) -> bool:
    """Return whether a Parquet file has the rows of a version. A file that cannot be read counts: its reader verifies
    it."""
    try:
        stored = pq.read_metadata(file).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        return True
    key = b"memflow.content" if facts.content else b"memflow.digest"
    return stored.get(key, b"").decode() == content_of(facts)


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


def _rebuild_command(table: str, partition: str) -> str:
    """Return the command that rebuilds a partition from cached completions, without new requests."""
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
        f"{_rebuild_command(table, partition)}, or move the lake {lake.root} away and rerun everything: answered "
        "requests come from the ledger, so no model is asked again."
    )
