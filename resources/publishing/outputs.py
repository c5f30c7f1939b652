"""The output that is a copy of the lake: memflow.duckdb. If somebody deleted or changed it, it is written again.

A search index of entries is built again when it is searched (resources/indexes/search.py).
"""

from resources.lake.lake import Lake
from resources.publishing.record import is_intact
from resources.settings.settings import Settings


def restore_outputs(settings: Settings, lake: Lake) -> list[str]:
    """Write memflow.duckdb again if it is missing or changed. Return what was written."""
    if is_intact(settings.warehouse_path):
        return []
    from resources.publishing.warehouse import Warehouse  # noqa: PLC0415  (only where something is rebuilt)

    return [str(Warehouse(lake, settings.warehouse_path).publish())]
