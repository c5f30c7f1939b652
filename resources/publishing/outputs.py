"""The output that is a copy of the lake: memflow.duckdb. If somebody deleted it, it is written again.

A search index of entries is built again when it is searched (resources/indexes/search.py).
"""

from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings


def restore_outputs(settings: Settings, lake: Lake) -> list[str]:
    """Write memflow.duckdb again if it is missing. Return what was written."""
    if settings.warehouse_path.is_file():
        return []
    from memflow.resources.publishing.database import publish_database  # noqa: PLC0415  (only where it is rebuilt)

    publish_database(lake, settings.warehouse_path)
    return [str(settings.warehouse_path)]
