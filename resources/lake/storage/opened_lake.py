"""The first look at a lake in an object store: its layout, and whether the store has conditional requests."""

import json
from secrets import token_hex
from threading import Lock

from memflow.errors import BadInput, BadSettings
from memflow.records import TABLES
from resources.lake.storage.client import ObjectStore
from resources.lake.storage.keys import MARKER, PROBES

LAYOUT = 1
"""The version of the keys of keys.py."""
MARKER_TEXT = json.dumps({"layout": LAYOUT}).encode()


class OpenedLake:
    """The checks of a lake's address, each made once in a process."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._lock = Lock()
        self._exists: bool | None = None
        self._may_write = False

    def check_layout(self) -> None:
        """Raise BadInput if the address has a lake of another layout."""
        with self._lock:
            if self._exists is None:
                self._exists = self._find()

    def prepare_writes(self) -> None:
        """Raise BadSettings if the store ignores the conditions of requests. Mark the lake on the first write."""
        self.check_layout()
        with self._lock:
            if self._may_write:
                return
            probe_conditions(self._store)
            if not self._exists:
                self._store.create(MARKER, MARKER_TEXT)
                self._exists = True
            self._may_write = True

    def accept_former_layout(self) -> None:
        """Allow this process to copy files of the former layout at the same address."""
        with self._lock:
            self._exists = True

    def mark(self) -> None:
        """Mark the lake as complete in this layout. Files of the former layout beside it are ignored from now on."""
        self._store.create(MARKER, MARKER_TEXT)

    def _find(self) -> bool:
        marker = self._store.get(MARKER)
        if marker is None:
            self._reject_former()
            return False
        try:
            layout = json.loads(marker.content)["layout"]
        except (ValueError, KeyError, TypeError):
            raise BadInput(
                f"{self._store.address}/{MARKER} is damaged. Delete it; the next write creates it again."
            ) from None
        if layout != LAYOUT:
            raise BadInput(
                f"the lake {self._store.address} has the layout {layout} of a later version of memflow. Update memflow."
            )
        return True

    def _reject_former(self) -> None:
        """Raise BadInput for a lake of a former version, with one plain file per table and partition."""
        for table in TABLES:
            folder = f"{table.replace('.', '/')}/"
            if any(each.key.endswith(".parquet") for each in self._store.list(folder)):
                raise BadInput(
                    f"the lake {self._store.address} has the layout of a former version of memflow, with one plain "
                    f"file per partition. Run `memflow copy-lake {self._store.address}` with the same `lake` in "
                    "memflow.toml: it adds the files to the new layout and leaves them where they are."
                )


def probe_conditions(store: ObjectStore) -> None:
    """Raise BadSettings if a store does not support the conditional requests on which a lake depends."""
    key = f"{PROBES}/{token_hex(8)}"
    tag = store.create(key, b"1")
    try:
        second = None if store.create(key, b"2") is None else "creates an object that exists (If-None-Match)"
        if second is None and tag and store.swap(key, b"3", '"0123456789abcdef0123456789abcdef"') is not None:
            second = "replaces an object of another version (If-Match)"
        if second is None and (not tag or store.swap(key, b"4", tag) is None):
            second = "does not replace an object of a known version (If-Match)"
    finally:
        store.delete(key)
    if second is not None:
        raise BadSettings(
            f"the store of {store.address} {second}, so writers would overwrite each other. Use a folder, or a "
            "store with conditional writes, such as Amazon S3, Google Cloud Storage, Azure Blob Storage or "
            "a current MinIO."
        )
