"""The object stores of the package obstore: Amazon S3, Google Cloud Storage, Azure Blob Storage, and memory for tests.

This module is imported for a lake in an object store alone, because the package is an optional extra.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from secrets import token_hex
from threading import Lock
from typing import Any

import obstore
from obstore.store import MemoryStore, from_url

from memflow.errors import BadSettings, StoreFailed
from memflow.resources.lake.storage.client import ListedObject, StoredObject, check_address, sentence

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

    def get(self, key: str, start: int = 0) -> StoredObject | None:
        """Return an object, or its bytes from `start` on; None if it is missing."""
        with self._request("get"), _none_if_missing():
            options: Any = {"range": {"offset": start}} if start else {}
            result = obstore.get(self._store, key, options=options)
            return StoredObject(bytes(result.bytes()), result.meta["e_tag"] or "", result.meta["size"])
        return None

    def head(self, key: str) -> ListedObject | None:
        """Return the tag and size of an object; None if it is missing.

        One byte is fetched, because the answer to a HEAD request does not state why it failed.
        """
        with self._request("head"), _none_if_missing():
            meta = obstore.get(self._store, key, options={"range": (0, 1)}).meta
            return ListedObject(key, meta["size"], meta["e_tag"] or "")
        return None

    def create(self, key: str, content: bytes) -> str | None:
        """Create an object. Return its tag; None if the key exists."""
        with self._request("create"):
            try:
                # A multipart upload ignores the condition.
                result = obstore.put(self._store, key, content, mode="create", use_multipart=False)
            except obstore.exceptions.AlreadyExistsError:
                return None
        return result["e_tag"] or ""

    def swap(self, key: str, content: bytes, tag: str) -> str | None:
        """Write `content` if the object's tag is `tag` (compare and swap). Return the new tag; None if it differs."""
        with self._request("swap"), _none_if_missing():
            try:
                result = obstore.put(self._store, key, content, mode={"e_tag": tag}, use_multipart=False)
            except obstore.exceptions.PreconditionError:
                return None
            return result["e_tag"] or ""
        return None

    def list(self, prefix: str) -> list[ListedObject]:
        """Return the objects below a prefix, which ends with a slash. The store returns 1,000 at a time."""
        with self._request("list"):
            objects = [meta for page in obstore.list(self._store, prefix) for meta in page]
        with self._lock:
            self.requests["list"] += (len(objects) - 1) // 1000 if objects else 0
        return [ListedObject(meta["path"], meta["size"], meta["e_tag"] or "") for meta in objects]

    def delete(self, key: str) -> None:
        """Delete an object; do nothing if it is missing."""
        with self._request("delete"), _none_if_missing():
            obstore.delete(self._store, key)

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


@contextmanager
def _none_if_missing() -> Iterator[None]:
    """End the block without an error if the object is missing."""
    try:
        yield
    except (FileNotFoundError, obstore.exceptions.NotFoundError) as missing:
        if "NoSuchBucket" in str(missing):
            raise


def probe_conditions(store: ObstoreClient) -> None:
    """Raise BadSettings if a store does not support the conditional requests on which a lake depends."""
    key = f"probes/{token_hex(8)}"
    tag = store.create(key, b"1")
    try:
        fault = None if store.create(key, b"2") is None else "creates an object that exists (If-None-Match)"
        if fault is None and tag and store.swap(key, b"3", '"0123456789abcdef0123456789abcdef"') is not None:
            fault = "replaces an object of another version (If-Match)"
        if fault is None and (not tag or store.swap(key, b"4", tag) is None):
            fault = "does not replace an object of a known version (If-Match)"
    finally:
        store.delete(key)
    if fault is not None:
        raise BadSettings(
            f"the store of {store.address} {fault}, so writers would overwrite each other. Use a folder, or a "
            "store with conditional writes, such as Amazon S3, Google Cloud Storage, Azure Blob Storage or "
            "a current MinIO."
        )


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
