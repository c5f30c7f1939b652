"""The copy of a lake into another one: from a folder, an object store, or the former layout of an object store.

A partition that the target already has, with rows as new as those of the source, is left as it is, so an interrupted
copy goes on when it is repeated. A damaged file is reported, and the other files are copied.
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
    """A partition of the source and the number of its versions that were copied, 0 if it was up to date.

    `damages` states which of its versions were not copied, because their files are damaged.
    """

    table: str
    partition: str
    versions: int
    damages: tuple[str, ...] = ()


def copy_lake(source: str, root: str) -> Iterator[CopiedPartition]:
    """Copy every partition of a lake to the lake at `root`, with the kept earlier versions. Yield each partition.

    A partition whose current version is damaged is not copied, so that no replaced rows become current. The former
    layout of an object store is copied without replaced versions. Raises BadInput for a source without partitions.
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
        copied, damages = 0, list[str]()
        try:
            current = target.facts(table, partition)
            newest = EARLIEST if current is None else current.since or EARLIEST
            for version in versions:
                if isinstance(version, DamagedFile):
                    damages.append(str(version))
                elif current is None or (version[0].since or EARLIEST) > newest:
                    _write(target, table, partition, *version)
                    copied += 1
        except BadInput as wrong:  # a damaged file, or one that memflow did not write
            damages.append(str(wrong))
        yield CopiedPartition(table, partition, copied, tuple(damages))
    if is_empty:
        raise BadInput(f"the lake {source} contains no tables. Check the folder or address.")


Versions = Iterator[tuple[Facts, bytes] | DamagedFile]
"""The metadata and the file of each version, or why it is damaged."""


def _partitions(source: Lake) -> Iterator[tuple[str, str, Versions]]:
    for table in TABLES:
        for partition in source.partitions(table):
            yield table, partition, _versions(source, table, partition)


def _versions(source: Lake, table: str, partition: str) -> Versions:
    """Yield the versions of a partition whose rows are there, oldest first. Raises DamagedFile for the current one."""
    versions = source.versions(table, partition)
    current = []
    with suppress(FileNotFoundError):  # replaced or removed meanwhile
        current = [_read(source, table, partition, version.facts) for version in versions[:1]]
    for version in reversed(versions[1:]):
        with suppress(FileNotFoundError):
            try:
                yield _read(source, table, partition, version.facts)
            except DamagedFile as wrong:
                yield wrong
    yield from current


def _read(source: Lake, table: str, partition: str, facts: Facts) -> tuple[Facts, bytes]:
    """Return a version. Raises DamagedFile, and FileNotFoundError if it was removed."""
    try:
        with source.storage.open_version(table, partition, facts) as file:
            verify_rows(table, file)
            file.seek(0)
            return facts, file.read()
    except FileNotFoundError:
        raise
    except WrongHash as wrong:
        problem = f"is damaged: {wrong}"
    except OSError as wrong:  # such as an error of the disk
        problem = f"cannot be read: {wrong}"
    raise DamagedFile(
        f"a version of {table} of {partition} in {source.root} {problem}. Run `memflow doctor` with that lake, which "
        "names the command that rebuilds it, then repeat the copy."
    )


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
                stem = key.rpartition("/")[2].removesuffix(".parquet")
                yield table, partition_of(stem), _former_version(f"{source}/{key}", table, stored.content)


def _former_version(address: str, table: str, content: bytes) -> Versions:
    yield _facts_of(address, table, content), content


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
