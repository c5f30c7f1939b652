"""The outputs that are copies of the lake: memflow.duckdb and the search indexes. Missing ones are rebuilt.

A run writes them with the tables. Here they come back if somebody deleted them, without requests.
"""

from collections.abc import Iterable
from functools import partial

from resources.indexes.file_hashes import IndexHashes, index_name
from resources.lake.lake import Lake
from resources.settings.settings import Settings

INDEXES = "memory.indexes"
INDEX_FOLDER = "lance"
"""The folder of the search indexes, below the home folder."""


def restore_outputs(
    settings: Settings, lake: Lake, partitions: Iterable[str], *, is_published: bool
) -> list[str]:
    """Rebuild the search indexes of partitions that lack them, and memflow.duckdb if the leaderboard is published.

    Return what was rebuilt. Nothing is imported unless something has to be rebuilt.
    """
    names = [name for name in partitions if needs_index(settings, lake, name)]
    for name in names:
        rebuild_index(settings, lake, name)
    restored = [f"search index of {name}" for name in names]
    if is_published and not settings.warehouse_path.is_file():
        from resources.publishing.database import publish_database  # noqa: PLC0415  (only where it is rebuilt)

        publish_database(lake, settings.warehouse_path)
        restored.append(str(settings.warehouse_path))
    return restored


def needs_index(settings: Settings, lake: Lake, partition: str) -> bool:
    """Return whether the search index of a partition with entries is missing, or was built from other entries."""
    facts = lake.intact_facts(INDEXES, partition)
    if facts is None:
        return False
    domain, _, assistant = partition.partition("/")
    return not indexes(settings).is_current(index_name(domain, assistant), facts.content)


def indexes(settings: Settings) -> IndexHashes:
    """Return the hashes of the search indexes."""
    return IndexHashes(str(settings.home / INDEX_FOLDER))


def rebuild_index(settings: Settings, lake: Lake, partition: str) -> None:
    """Rebuild the search index of a partition from its entries in the lake."""
    from resources.indexes.lance import LanceIndex  # noqa: PLC0415  (only where something is rebuilt)

    facts = lake.facts(INDEXES, partition)
    domain, _, assistant = partition.partition("/")
    index = LanceIndex(settings.home / INDEX_FOLDER)
    index.rebuild(
        domain, assistant, partial(lake.batches, INDEXES, partition), facts.content if facts else ""
    )
