"""A catalog of the partitions of several tables: their metadata and versions at one moment.

The metadata of local files comes from the lake's cache, which is valid while a file's state does not change, so that no
file is opened again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memflow.fingerprint import digest
from memflow.records import MEASURED, columns
from resources.lake import RUN, Facts, Lake


@dataclass(frozen=True)
class CatalogEntry:
    """The metadata of a partition, and its version, which changes with its content.

    A content hash excludes what a run measures. For a table with such columns, each writing of the file is a version.
    """

    facts: Facts
    version: str


class PartitionCatalog:
    """The partitions of some tables of a lake, as of the construction of the catalog."""

    def __init__(self, lake: Lake, tables: Sequence[str]) -> None:
        self._entries = {table: dict(_entries(lake, table)) for table in tables}

    def of(self, table: str) -> Mapping[str, CatalogEntry]:
        """Return the entries of a table by partition, sorted by partition."""
        return self._entries[table]

    def get(self, table: str, partition: str) -> CatalogEntry | None:
        """Return the entry of a partition; None if it is missing."""
        return self._entries[table].get(partition)

    def version(self, table: str, partition: str) -> str:
        """Return the version of a partition; empty if it is missing."""
        entry = self.get(table, partition)
        return "" if entry is None else entry.version


def _entries(lake: Lake, table: str) -> Iterator[tuple[str, CatalogEntry]]:
    is_measured = any(column.name in MEASURED for column in columns(table))
    for partition in lake.partitions(table):
        state = lake.state(table, partition)
        facts = lake.facts(table, partition)
        if facts is not None:
            meta = {name: value for name, value in facts.meta.items() if name != RUN or is_measured}
            version = digest(facts.digest, meta, state if is_measured else None)
            yield partition, CatalogEntry(facts, version)
