"""A catalog of the partitions of several tables: their metadata and versions at one moment."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memflow.fingerprint import digest
from memflow.records import MEASURED, columns
from memflow.repeats import suffix
from memflow.resources.lake.facts import RUN, Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings


@dataclass(frozen=True)
class CatalogEntry:
    """The metadata of a partition, and a version that changes with its content.

    The content hash excludes measured columns, such as seconds; with such columns, each rewrite is a new version.
    """

    facts: Facts
    version: str


class PartitionCatalog:
    """The partitions of some tables of a lake, as of the time when the catalog was created, without damaged ones.

    Of the partitions of assistants, it contains the first evaluations, or with `repeat`, such as `answers2`, the
    repeats of that name; with None all.
    """

    def __init__(self, lake: Lake, tables: Sequence[str], repeat: str | None = "") -> None:
        self._entries = {table: dict(_entries(lake, table, repeat)) for table in tables}

    def of(self, table: str) -> Mapping[str, CatalogEntry]:
        """Return the catalog entries of a table by partition, sorted by partition."""
        return self._entries[table]

    def get(self, table: str, partition: str) -> CatalogEntry | None:
        """Return the catalog entry of a partition; None if the partition is missing."""
        return self._entries[table].get(partition)

    def version(self, table: str, partition: str) -> str:
        """Return the version of a partition; "" if the partition is missing."""
        entry = self.get(table, partition)
        return "" if entry is None else entry.version


def scored_domains(settings: Settings, stored: Collection[str]) -> list[str]:
    """Return the names in `stored` that are domains: first in the order of the settings, then those that other runs
    selected, sorted.

    So a run of one domain removes no other domain from the leaderboard.
    """
    others = sorted(name for name in stored if name not in settings.domains and settings.has_domain(name))
    return [*(name for name in settings.domains if name in stored), *others]


def _entries(lake: Lake, table: str, repeat: str | None) -> Iterator[tuple[str, CatalogEntry]]:
    is_measured = any(column.name in MEASURED for column in columns(table))
    for partition in lake.partitions(table):
        if "/" in partition and repeat not in (None, suffix(partition)):
            continue
        state = lake.state(table, partition)
        facts = lake.intact_facts(table, partition)
        if facts is not None:
            meta = {name: value for name, value in facts.meta.items() if name != RUN or is_measured}
            version = digest(facts.digest, meta, state if is_measured else None)
            yield partition, CatalogEntry(facts, version)
