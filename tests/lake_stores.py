"""Lakes in object stores for tests: in memory, behind the same requests as a real store."""

from pathlib import Path
from typing import Any

from obstore.store import MemoryStore

from resources.lake.lake import Lake
from resources.lake.storage.object_cache import ObjectCache
from resources.lake.storage.object_store import ObjectStorage
from resources.lake.storage.obstore_client import ObstoreClient


def memory_storage(cache: Path, store: Any = None, *, grace_s: float = 0.0) -> ObjectStorage:
    """Return a storage in memory: that of `store`, a client, if given."""
    client = store or ObstoreClient("memory://bucket/lake", MemoryStore())
    return ObjectStorage(client, ObjectCache(cache), keeps_texts=False, grace_s=grace_s)


def memory_lake(cache: Path, *given: Any, store: Any = None, grace_s: float = 0.0) -> Lake:
    """Return a lake in memory, with a clock if given."""
    return Lake(memory_storage(cache, store, grace_s=grace_s), *given)
