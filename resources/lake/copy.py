"""The copy of a lake into another one: from a folder, an object store, or the former layout of an object store.

A partition that the target already has, with rows as new as those of the source, is left as it is, so an interrupted
copy goes on when it is repeated.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from memflow.errors import BadInput, DamagedFile
from memflow.records import TABLES
from resources.files.local_files import partition_of
from resources.lake.facts import Facts
from resources.lake.file_hash import WrongHash
from resources.lake.kept_versions import EARLIEST
from resources.lake.lake import ACCUMULATED, Lake
from resources.lake.storage.client import ListedObject, check_address
from resources.lake.storage.storage import Replacement
from resources.lake.verification import verify_rows


@dataclass(frozen=True)
class CopiedPartition:
    """A partition of the source and the number of its versions that were copied, 0 if it was up to date."""

    table: str
    partition: str
    versions: int


def copy_lake(source: str, root: str) -> Iterator[CopiedPartition]:
    """Copy every partition of a lake to the lake at `root`, with the kept earlier versions. Yield each partition.

    The former layout of an object store is copied without replaced versions. Raises BadInput for a source without
    partitions, or with a file that memflow did not write.
    """
    target = Lake(root)
    with nullcontext() if target.local else _accepting(target):
        yield from _copy(source, target)


def _accepting(target: Lake) -> AbstractContextManager[None]:
    from resources.lake.storage.object_store import ObjectStorage  # noqa: PLC0415  (an optional extra)

    assert isinstance(target.storage, ObjectStorage)
    return target.storage.former_layout_accepted()


def _copy(source: str, target: Lake) -> Iterator[CopiedPartition]:
    is_empty = True
    found = _former_partitions(source) if _is_former(source) else _partitions(Lake(source))
    for table, partition, versions in found:
        is_empty = False
        current = target.facts(table, partition)
        newest = EARLIEST if current is None else current.since or EARLIEST
        copied = 0
        for facts, content in versions:
            if current is None or (facts.since or EARLIEST) > newest:
                _write(target, table, partition, facts, content)
                copied += 1
        yield CopiedPartition(table, partition, copied)
    if is_empty:
        raise BadInput(f"the lake {source} contains no tables. Check the folder or address.")


Versions = Iterator[tuple[Facts, bytes]]


def _partitions(source: Lake) -> Iterator[tuple[str, str, Versions]]:
    for table in TABLES:
        for partition in source.partitions(table):
            yield table, partition, _versions(source, table, partition)


def _versions(source: Lake, table: str, partition: str) -> Versions:
    """Yield the versions of a partition whose rows are there, oldest first. Raises DamagedFile."""
    for version in reversed(source.versions(table, partition)):
        with (
            suppress(FileNotFoundError),
            source.storage.open_version(table, partition, version.facts) as file,
        ):
            try:
                verify_rows(table, file)
            except WrongHash as wrong:
                raise DamagedFile(
                    f"a version of {table} of {partition} in {source.root} is damaged: {wrong}. Run `memflow repair` "
                    "with that lake, then repeat the copy."
                ) from None
            file.seek(0)
            yield version.facts, file.read()


def _is_former(source: str) -> bool:
    """Return whether an address has files of the former layout: one plain file per table and partition."""
    if "://" not in source or source.startswith("file://"):
        return False
    check_address(source)
    from resources.lake.storage.obstore_client import open_client  # noqa: PLC0415  (an optional extra)

    client = open_client(source.rstrip("/"))
    return any(_former_files(client.list(_folder(table))) for table in TABLES)


def _former_partitions(source: str) -> Iterator[tuple[str, str, Versions]]:
    from resources.lake.storage.obstore_client import open_client  # noqa: PLC0415  (an optional extra)

    client = open_client(source.rstrip("/"))
    for table in TABLES:
        for key in _former_files(client.list(_folder(table))):
            stored = client.get(key)
            if stored is not None:
                facts = _facts_of(f"{source}/{key}", table, stored.content)
                stem = key.rpartition("/")[2].removesuffix(".parquet")
                yield table, partition_of(stem), iter([(facts, stored.content)])


def _folder(table: str) -> str:
    return f"{table.replace('.', '/')}/"


def _former_files(listed: Sequence[ListedObject]) -> list[str]:
    keys = [each.key for each in listed]
    return [key for key in keys if key.endswith(".parquet") and not key.rpartition("/")[2].startswith(".")]


def _facts_of(address: str, table: str, content: bytes) -> Facts:
    try:
        parquet = pq.ParquetFile(pa.BufferReader(content))
        return Facts.of_footer(parquet.metadata.metadata or {}, parquet.schema_arrow, table)
    except (pa.ArrowInvalid, OSError, KeyError) as wrong:
        raise BadInput(
            f"{address} is no file of memflow's lake ({wrong}). Delete it, then repeat the copy."
        ) from None


def _write(target: Lake, table: str, partition: str, facts: Facts, content: bytes) -> None:
    def write(file: IO[bytes]) -> Facts:
        file.write(content)
        return facts

    new = Replacement(write, lambda: target.facts(table, partition), is_copied=table in ACCUMULATED)
    target.storage.replace(table, partition, new)
