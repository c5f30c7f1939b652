"""The storage of a lake, chosen by the form of its root: a folder, or an address such as s3://bucket/path."""

import os
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

from memflow.errors import BadSettings
from memflow.resources.lake.storage.client import check_address
from memflow.resources.lake.storage.local import LocalStorage

if TYPE_CHECKING:
    from memflow.resources.lake.storage.object_store import ObjectStorage

LakeStorage: TypeAlias = "LocalStorage | ObjectStorage"
"""The files of a lake, by key."""

VARIABLES = ("AWS_", "GOOGLE_", "AZURE_", "MEMFLOW_CACHE", "XDG_CACHE_HOME", "HOME")
"""The first letters of the environment variables that configure object stores and their cache."""
_opened: dict[tuple[object, ...], LakeStorage] = {}
"""The object stores of this process, so that each is checked once."""
_lock = Lock()


def open_storage(root: str | Path) -> LakeStorage:
    """Return the storage of the lake at `root`. Raises BadSettings for an invalid address."""
    address = str(root)
    if address.startswith("file://"):
        return LocalStorage(unquote(address.removeprefix("file://")))
    if "://" not in address:
        return LocalStorage(address)
    variables = tuple(sorted(each for each in os.environ.items() if each[0].startswith(VARIABLES)))
    with _lock:
        key = (os.getpid(), address, variables)
        if key not in _opened:
            _opened[key] = _open_object_storage(address.rstrip("/"))
        return _opened[key]


def _open_object_storage(address: str) -> LakeStorage:
    check_address(address)
    try:
        from memflow.resources.lake.storage.obstore_client import open_client  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise BadSettings(
            f"the lake {address} is in an object store, and the package obstore is not installed. Install "
            "memflow-bench[s3], or set `lake` in memflow.toml to a folder."
        ) from None
    from memflow.resources.lake.storage.object_cache import ObjectCache, cache_folder  # noqa: PLC0415
    from memflow.resources.lake.storage.object_store import ObjectStorage  # noqa: PLC0415

    client = open_client(address)
    if address.startswith("memory:"):  # its tags are numbers, which other processes give to other content
        return ObjectStorage(client, ObjectCache(Path(mkdtemp(prefix="memflow-lake-"))))
    return ObjectStorage(client, ObjectCache(cache_folder(address)))
