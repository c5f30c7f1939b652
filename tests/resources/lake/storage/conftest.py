"""Fixtures for lakes in an object store: an S3 server, and a lake in its bucket with a cache of its own."""

from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import pytest
from s3_server import BUCKET, s3_server

from memflow.resources.lake.lake import Lake


@pytest.fixture(scope="session")
def s3_environment() -> Iterator[dict[str, str]]:
    """Return the environment variables of an S3 server's clients."""
    with s3_server() as environment:
        yield environment


@pytest.fixture
def s3(s3_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of an empty lake, with the environment and a new cache."""
    for name, value in s3_environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MEMFLOW_CACHE", str(tmp_path / "cache"))
    return f"s3://{BUCKET}/{token_hex(4)}/lake"


@pytest.fixture
def lake(s3: str) -> Lake:
    """Return an empty lake on the S3 server."""
    return Lake(s3)
