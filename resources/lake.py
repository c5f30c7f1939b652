"""The lake: one Parquet file per table and partition, replaced whole and never seen half written.

Rows go in and rows come out; their types are memflow.records. What asks questions over many tables is
resources/warehouse.py; what a partition is made from, and when, the caller knows.

On a local disk a file is written beside its place, synced and renamed over it. On an object store it is one
object, which appears when it is complete. Nothing else differs between the two.
"""

import math
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from memflow.errors import BadInput, MissingData
from memflow.fingerprint import digest_rows
from memflow.records import KEYS, MEASURED, TABLES, Column, columns
from memflow.scoring.catalog import EFFICIENCY_NAMES
from resources.file_cache import FileCache, FileState
from resources.row_cache import RowCache

ARROW: dict[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    list[str]: pa.list_(pa.string()),
    list[float]: pa.list_(pa.float64()),
}
"""The Parquet type of every plain type that a column may have."""

SNAPSHOTS = ".snapshots"
CACHE = ".cache/facts-1"
"""The cache of facts below the lake's root, with the version of its content."""
ATTEMPTS = 20
STALE_S = 24 * 3600.0
"""Age in seconds from which a snapshot belongs to nobody any more."""


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _numbers(values: list[Any]) -> bool:
    # A vector is of floats alone as a rule, and there are many of them: without a call for each number.
    return all(map(math.isfinite, values)) if {*map(type, values)} == {float} else all(map(_number, values))


FITS: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: isinstance(value, str),
    int: lambda value: isinstance(value, int) and not isinstance(value, bool),
    float: _number,
    bool: lambda value: isinstance(value, bool),
    list[str]: lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    list[float]: lambda value: isinstance(value, list) and _numbers(value),
}
"""Whether a value is of a plain type. Nothing is converted but a whole number in a column of numbers."""


RUN = "run"
"""Under this name a partition keeps the run in which it was made, which is no part of any input fingerprint."""


@dataclass(frozen=True)
class Facts:
    """What is known of a partition without its rows: `fingerprint` is that of the inputs it was built from."""

    digest: str
    fingerprint: str
    rows: int
    meta: Mapping[str, str] = field(default_factory=dict)

    @property
    def run(self) -> str | None:
        """The run in which it was made; None for what an older memflow made."""
        return self.meta.get(RUN)


class Lake:
    """Tables as Parquet files below a folder, or below an address such as s3://bucket/path."""

    def __init__(self, root: str | Path, filesystem: fs.FileSystem | None = None) -> None:
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

    def write(
        self,
        table: str,
        partition: str,
        rows: Sequence[Any],
        *,
        fingerprint: str,
        meta: Mapping[str, str] | None = None,
    ) -> Facts:
        """Replace a partition by `rows`, which may be none. Raises BadInput naming the column and the row."""
        rows = _of_type(table, rows)
        # Measurements of a run are no part of the content hash: neither columns nor rows.
        outcome = [row for row in rows if getattr(row, "metric", None) not in EFFICIENCY_NAMES]
        facts = Facts(digest_rows(outcome, ignore=MEASURED), fingerprint, len(rows), dict(meta or {}))
        described = {
            "memflow.digest": facts.digest,
            "memflow.input_fingerprint": fingerprint,
            "memflow.rows": str(facts.rows),
            **{f"memflow.meta.{name}": value for name, value in facts.meta.items()},
        }
        arrays = [_array(table, column, rows) for column in columns(table)]
        buffer = pa.BufferOutputStream()
        pq.write_table(
            pa.Table.from_arrays(arrays, schema=schema(table).with_metadata(described)),
            buffer,
            compression="zstd",
        )
        path = self.path(table, partition)
        state = self._put(path, buffer.getvalue())
        self._rows.put(path, None if _has_vectors(table) else state, rows)
        return facts

    def read(self, table: str, partition: str, *, vectors: bool = True) -> list[Any]:
        """The rows of a partition, in the order written. Without `vectors`, which are most of a table that has any,
        their column is left empty: few readers look at them.

        Raises MissingData where it was never materialized, BadInput where the file is not the lake's.
        """
        path, state = self.path(table, partition), self._state(table, partition)
        if vectors and _has_vectors(table):
            state = None
        kept = self._rows.get(path, state) if state else None
        if kept is not None:
            return kept
        held = self.arrow(table, partition, vectors=vectors)
        row = TABLES[table]
        values = zip(*(column.to_pylist() for column in held.columns), strict=True)
        rows = [row(**dict(zip(held.column_names, each, strict=True))) for each in values]
        if state is not None and state == self._state(table, partition):
            self._rows.put(path, state, rows)
        return rows

    def arrow(self, table: str, partition: str, *, vectors: bool = True) -> pa.Table:
        """A partition as it lies, column by column, all or those without vectors. Raises as `read` does."""
        try:
            with self._open(table, partition) as file:
                parquet = self._parquet(table, partition, file)
                there = parquet.schema_arrow.remove_metadata()
                wanted = [each.name for each in columns(table) if vectors or each.type != list[float]]
                held = parquet.read(wanted if there == schema(table) else [])
        except pa.ArrowException as wrong:
            raise self._unreadable(table, partition, wrong) from wrong
        if there != schema(table):
            raise BadInput(
                f"{self.path(table, partition)} holds {', '.join(there.names)} where {table} has "
                f"{', '.join(schema(table).names)}: another version of memflow wrote it; "
                f"materialize {_asset(table)} again"
            )
        return held

    def read_all(self, table: str, partitions: Iterable[str]) -> list[Any]:
        """The rows of several partitions, one after the other in the order given."""
        return [row for partition in partitions for row in self.read(table, partition)]

    def facts(self, table: str, partition: str) -> Facts | None:
        """Return what is known of a partition without its rows; None where it was never materialized.

        On a local disk, the footer of a file is read only when the file has changed.
        """
        if self._cache is None:
            return self._stored_facts(table, partition)
        path, state = self.path(table, partition), self._state(table, partition)
        if state is None:
            return None
        cached = self._cache.get(path, state)
        if cached is not None:
            return Facts(*cached)
        facts = self._stored_facts(table, partition)
        if facts is not None and self._state(table, partition) == state:
            self._cache.put(path, state, [facts.digest, facts.fingerprint, facts.rows, dict(facts.meta)])
        return facts

    def _state(self, table: str, partition: str) -> FileState | None:
        """The state of a partition's file; None where it is not there, and on an object store."""
        if not self.local:
            return None
        try:
            found = os.stat(self.path(table, partition))  # noqa: PTH116  (a Path takes longer than the call itself)
        except FileNotFoundError:
            return None
        return FileState.of(found)

    def _stored_facts(self, table: str, partition: str) -> Facts | None:
        """The facts in the file's footer."""
        try:
            with self._open(table, partition) as file:
                stored = self._parquet(table, partition, file).metadata.metadata or {}
        except MissingData:
            return None
        said = {name.decode(): value.decode() for name, value in stored.items()}
        if "memflow.digest" not in said:
            raise BadInput(
                f"{self.path(table, partition)} was not written by the lake; "
                f"move it away and materialize {_asset(table)}"
            )
        prefix = "memflow.meta."
        meta = {name.removeprefix(prefix): value for name, value in said.items() if name.startswith(prefix)}
        fingerprint = said.get("memflow.input_fingerprint", "")  # a former version wrote another key: stale
        return Facts(said["memflow.digest"], fingerprint, int(said["memflow.rows"]), meta)

    def partitions(self, table: str) -> list[str]:
        """The partitions of a table that are there, sorted."""
        listed = self.filesystem.get_file_info(fs.FileSelector(self.folder(table), allow_not_found=True))
        return sorted(
            unquote(info.base_name.removesuffix(".parquet").replace(",", "%2F"))
            for info in listed
            if info.is_file and info.extension == "parquet"
        )

    @contextmanager
    def snapshot(self, tables: Sequence[str] = (*TABLES,)) -> Iterator["Lake"]:
        """These tables as they are now, held still: a lake of hard links, to files that no writer touches again.

        For whoever opens a file more than once, as DuckDB does: the second time it could be another. An object
        store, and a disk that cannot link, give the lake itself.
        """
        root = Path(self.root) / SNAPSHOTS / secrets.token_hex(8)
        if not self.local or not _linkable(root):
            yield self
            return
        try:
            for table in tables:
                held = root / table.replace(".", "/")
                held.mkdir(parents=True)
                for partition in self.partitions(table):
                    path = Path(self.path(table, partition))
                    _link(path, held / path.name)
            yield Lake(root)
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def folder(self, table: str) -> str:
        """Where a table's files lie."""
        if table not in TABLES:
            raise BadInput(f"there is no table {table!r}; there are {', '.join(TABLES)}")
        return f"{self.root}/{table.replace('.', '/')}"

    def path(self, table: str, partition: str) -> str:
        """Where a partition's file lies: `DOMAIN/full` is `DOMAIN,full.parquet`."""
        if not partition:
            raise BadInput(f"a partition of {table} needs a name")
        return f"{self.folder(table)}/{_file_name(partition)}"

    def _open(self, table: str, partition: str) -> pa.NativeFile:
        try:
            return self.filesystem.open_input_file(self.path(table, partition))
        except FileNotFoundError:
            raise MissingData(
                f"{table} of {partition} is not in the lake ({self.root}): "
                f"materialize the asset {_asset(table)} for that partition first"
            ) from None

    def _parquet(self, table: str, partition: str, file: pa.NativeFile) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(file)
        except (pa.ArrowInvalid, OSError) as wrong:
            raise self._unreadable(table, partition, wrong) from wrong

    def _unreadable(self, table: str, partition: str, wrong: Exception) -> BadInput:
        return BadInput(
            f"{self.path(table, partition)} cannot be read as Parquet ({wrong}); "
            f"move it away and materialize {_asset(table)}"
        )

    def _put(self, path: str, content: pa.Buffer) -> FileState | None:
        """Write a file, and return its state where it is on a disk: here a disk and an object store differ."""
        if self.local:
            return _replace(Path(path), content)
        self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with self.filesystem.open_output_stream(path) as object_:
            object_.write(content)
        return None


@lru_cache(maxsize=100_000)
def _file_name(partition: str) -> str:
    return f"{quote(partition, safe='@').replace('%2F', ',')}.parquet"


def schema(table: str) -> pa.Schema:
    """The Parquet schema of a table."""
    return pa.schema(
        [pa.field(column.name, ARROW[column.type], column.nullable) for column in columns(table)]
    )


def _has_vectors(table: str) -> bool:
    return any(column.type == list[float] for column in columns(table))


def _of_type(table: str, rows: Sequence[Any]) -> list[Any]:
    """`rows`, every value seen to be of its column's type; whole numbers among floats become floats."""
    if table not in TABLES:
        raise BadInput(f"there is no table {table!r}; there are {', '.join(TABLES)}")
    row_type = TABLES[table]
    for number, row in enumerate(rows):
        if type(row) is not row_type:
            raise BadInput(f"row {number} of {table} is a {type(row).__name__}, not a {row_type.__name__}")
    fixed = list(rows)
    for column in columns(table):
        fits = FITS[column.type]
        for number, row in enumerate(fixed):
            value = getattr(row, column.name)
            if value is None and column.nullable:
                continue
            if not fits(value):
                raise _misfit(table, column, number, row, value)
            if column.type is float and isinstance(value, int):
                fixed[number] = replace(row, **{column.name: float(value)})
    return fixed


def _array(table: str, column: Column, rows: Sequence[Any]) -> pa.Array:
    values = [getattr(row, column.name) for row in rows]
    try:
        return pa.array(values, ARROW[column.type])
    except (pa.ArrowInvalid, UnicodeEncodeError, OverflowError):
        for number, (row, value) in enumerate(zip(rows, values, strict=True)):
            try:
                pa.array([value], ARROW[column.type])
            except (pa.ArrowInvalid, UnicodeEncodeError, OverflowError) as wrong:
                raise _misfit(table, column, number, row, value) from wrong
        raise


def _misfit(table: str, column: Column, number: int, row: Any, value: Any) -> BadInput:
    key = ", ".join(f"{name}={getattr(row, name)!r}" for name in KEYS[table])
    wanted = str(column.type) if column.type in (list[str], list[float]) else column.type.__name__
    shown = ascii(value)
    shown = shown if len(shown) <= 80 else f"{shown[:79]}…"
    return BadInput(
        f"{table}.{column.name} of row {number} ({key}) is {shown}, which cannot be kept as "
        f"{wanted}{' or null' if column.nullable else ''}"
    )


def _link(path: Path, at: Path) -> None:
    """A hard link to `path`. Where the file is replaced between its being found and linked, the new one is."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return at.hardlink_to(path)
        except FileNotFoundError:
            if attempt == ATTEMPTS:
                raise


def _linkable(root: Path) -> bool:
    """Whether a snapshot can be made at `root`; those that a killed process left behind are cleared away."""
    try:
        root.mkdir(parents=True)
        (root / "one").touch()
        (root / "two").hardlink_to(root / "one")
    except OSError:
        shutil.rmtree(root, ignore_errors=True)
        return False
    for other in root.parent.iterdir():
        with suppress(FileNotFoundError):
            if time.time() - other.stat().st_mtime > STALE_S:
                shutil.rmtree(other, ignore_errors=True)
    return True


def _replace(path: Path, content: pa.Buffer) -> FileState | None:
    """Write beside `path`, sync, and rename over it: a reader has the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.writing")
    try:
        with written.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            state = FileState.of(os.fstat(file.fileno()))
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return state


def _asset(table: str) -> str:
    return table.replace(".", "/")
