"""Lakes for tests: in a folder, and in memory behind the same requests as a real store, with a clock that advances."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from obstore.store import MemoryStore

from memflow.resources.lake.lake import Lake
from memflow.resources.lake.storage.object_cache import ObjectCache
from memflow.resources.lake.storage.object_store import ObjectStorage
from memflow.resources.lake.storage.obstore_client import ObstoreClient


def memory_lake(cache: Path, *clock: Any) -> Lake:
    """Return a lake in memory, with a clock if given."""
    return Lake(
        ObjectStorage(ObstoreClient("memory://bucket/lake", MemoryStore()), ObjectCache(cache)), *clock
    )


START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that advances by one hour with each write."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(hours=1)
        return self.now


def hour(number: float) -> datetime:
    """Return the moment half an hour after the write with this number."""
    return START + timedelta(hours=number + 0.5)


def timed_lake(kind: str, folder: Path) -> Lake:
    """Return an empty lake of a kind, `local` or `store`, whose clock advances by one hour with each write."""
    return Lake(folder / "lake", Clock()) if kind == "local" else memory_lake(folder / "cache", Clock())
