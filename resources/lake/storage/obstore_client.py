"""The object stores of the package obstore: Amazon S3, Google Cloud Storage, Azure Blob Storage, and memory for tests.

This module is imported for a lake in an object store alone, because the package is an optional extra.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock
from typing import Any

import obstore
from obstore.store import MemoryStore, from_url

from memflow.errors import StoreFailed
from resources.lake.storage.client import ListedObject, StoredObject, check_address, sentence

RETRIES: dict[str, Any] = {
    "max_retries": 5,
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=10),
        "base": 2,
    },
    "retry_timeout": timedelta(minutes=2),
}
"""Retries of 5xx responses, lost connections and timeouts, with exponential backoff and jitter."""
TIMEOUTS = {"connect_timeout": "10s", "read_timeout": "60s", "timeout": "10m"}
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT")


class ObstoreClient:
    """An object store that is accessed by the package obstore. `requests` counts the calls by method."""

    def __init__(self, address: str, store: Any) -> None:
        self.address = address
        self.requests: Counter[str] = Counter()
        self._store = store
        self._lock = Lock()

    def get(self, key: str) -> StoredObject | None:
        """Return an object; None if it is missing."""
        with self._request("get"):
            try:
                found = obstore.get(self._store, key)
                return StoredObject(bytes(found.bytes()), found.meta["e_tag"] or "")
            except (FileNotFoundError, obstore.exceptions.NotFoundError) as missing:
                if "NoSuchBucket" in str(missing):
                    raise
                return None

    def create(self, key: str, content: bytes) -> str | None:
        """Create an object. Return its tag; None if the key exists."""
        with self._request("create"):
            try:
                # A multipart upload ignores the condition.
                put = obstore.put(self._store, key, content, mode="create", use_multipart=False)
            except obstore.exceptions.AlreadyExistsError:
                return None
        return put["e_tag"] or ""

    def swap(self, key: str, content: bytes, tag: str) -> str | None:
        """Replace the version of an object with this tag. Return the new tag; None if the object has another tag."""
        with self._request("swap"):
            try:
                put = obstore.put(self._store, key, content, mode={"e_tag": tag}, use_multipart=False)
            except (
                FileNotFoundError,
                obstore.exceptions.PreconditionError,
                obstore.exceptions.NotFoundError,
            ) as changed:
                if "NoSuchBucket" in str(changed):
                    raise
                return None
        return put["e_tag"] or ""

    def list(self, prefix: str) -> list[ListedObject]:
        """Return the objects below a prefix, which ends with a slash. The store returns 1,000 at a time."""
        with self._request("list"):
            found = [each for page in obstore.list(self._store, prefix) for each in page]
        with self._lock:
            self.requests["list"] += (len(found) - 1) // 1000 if found else 0
        return [
            ListedObject(each["path"], each["size"], each["e_tag"] or "", each["last_modified"])
            for each in found
        ]

    def delete(self, key: str) -> None:
        """Delete an object; do nothing if it is missing."""
        with self._request("delete"):
            try:
                obstore.delete(self._store, key)
            except (FileNotFoundError, obstore.exceptions.NotFoundError) as missing:
                if "NoSuchBucket" in str(missing):
                    raise

    @contextmanager
    def _request(self, kind: str) -> Iterator[None]:
        with self._lock:
            self.requests[kind] += 1
        try:
            yield
        except (obstore.exceptions.BaseError, OSError, ValueError) as error:
            raise StoreFailed(
                sentence(self.address, error)
            ) from None  # the cause may contain a signed request


_MEMORY: dict[str, Any] = {}
"""The stores of addresses memory://NAME, which exist while the process does."""


def open_client(address: str) -> ObstoreClient:
    """Return the client of an address such as s3://bucket/path. Raises BadSettings for an invalid one."""
    check_address(address)
    if address.startswith("memory:"):
        return ObstoreClient(address, _MEMORY.setdefault(address, MemoryStore()))
    endpoint = next((os.environ[name] for name in ENDPOINTS if os.environ.get(name)), "")
    options: dict[str, Any] = {**TIMEOUTS, **({"allow_http": True} if endpoint.startswith("http://") else {})}
    store: Any = from_url(address, client_options=options, retry_config=RETRIES)  # type: ignore[call-overload]
    return ObstoreClient(address, store)
