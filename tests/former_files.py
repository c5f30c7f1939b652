"""Parquet files as former versions of memflow wrote them: without the hashes of their bytes."""

from pathlib import Path

import pyarrow.parquet as pq

HASHES = (b"memflow.content", b"memflow.layout", b"memflow.footer_hash")


def former_metadata(path: str | Path) -> dict[bytes, bytes]:
    """Return the key-value metadata of a partition's file, without hashes and without the Arrow schema."""
    stored = pq.read_metadata(path).metadata
    return {name: value for name, value in stored.items() if name not in (*HASHES, b"ARROW:schema")}
