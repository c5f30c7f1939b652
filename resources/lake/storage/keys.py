"""The keys of a lake in an object store, and errors that name the table and the partition of a key.

pointers/STAGE/TABLE/PARTITION.json                          the current version of a partition
objects/STAGE/TABLE/PARTITION/CONTENT-HASH-TOKEN.parquet     rows, never changed
records/STAGE/TABLE/PARTITION/TIME-CONTENT.json              the metadata of a replaced version
lake.json                                                    the version of this layout
"""

from collections.abc import Iterator
from contextlib import contextmanager

from memflow.errors import StoreFailed
from resources.files.local_files import partition_of

POINTERS, OBJECTS, RECORDS = "pointers", "objects", "records"
MARKER = "lake.json"
PROBES = "probes"
"""The folder of the objects with which conditional requests are tried."""


def pointer_folder(table: str) -> str:
    """Return the key below which the pointers of a table are."""
    return f"{POINTERS}/{table.replace('.', '/')}"


def pointer_key(table: str, stem: str) -> str:
    """Return the key of the pointer of a partition, given by the name of its files."""
    return f"{pointer_folder(table)}/{stem}.json"


def stem_of_pointer(key: str) -> str | None:
    """Return the name of the files of the partition with this pointer; None for another object."""
    name = key.rpartition("/")[2]
    return name.removesuffix(".json") if name.endswith(".json") else None


def object_folder(table: str, stem: str = "") -> str:
    """Return the key below which the objects of a table or a partition are."""
    return f"{OBJECTS}/{table.replace('.', '/')}" + (f"/{stem}" if stem else "")


def record_folder(table: str, stem: str = "") -> str:
    """Return the key below which the records of a table or a partition are."""
    return f"{RECORDS}/{table.replace('.', '/')}" + (f"/{stem}" if stem else "")


@contextmanager
def errors_named_by(table: str, stem: str, verb: str) -> Iterator[None]:
    """Name the table and the partition in the error of a failed request."""
    try:
        yield
    except StoreFailed as failed:
        raise StoreFailed(f"{table} of {partition_of(stem)} cannot be {verb}: {failed}") from None
