"""Lakes in object stores for tests: in memory, behind the same requests as a real store."""

from pathlib import Path
from typing import Any

from obstore.store import MemoryStore

from resources.lake.lake import Lake
from resources.lake.storage.object_cache import ObjectCache
from resources.lake.storage.object_store import ObjectStorage
from resources.lake.storage.obstore_client import ObstoreClient


def memory_lake(cache: Path, *clock: Any) -> Lake:
    """Return a lake in memory, with a clock if given."""
    return Lake(
        ObjectStorage(ObstoreClient("memory://bucket/lake", MemoryStore()), ObjectCache(cache)), *clock
    )
