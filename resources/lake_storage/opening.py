"""The storage of a lake, chosen by the form of its root: a folder, or an address such as s3://bucket/path."""

from pathlib import Path
from urllib.parse import unquote

from memflow.errors import BadSettings
from resources.lake_storage.local import LocalStorage
from resources.lake_storage.storage import LakeStorage


def open_storage(root: str | Path) -> LakeStorage:
    """Return the storage of the lake at `root`. Raises BadSettings for an address of an unknown kind."""
    address = str(root)
    if "://" not in address:
        return LocalStorage(address)
    if address.startswith("file://"):
        return LocalStorage(unquote(address.removeprefix("file://")))
    raise BadSettings(f"the lake's address {address} is of an unknown kind.")
