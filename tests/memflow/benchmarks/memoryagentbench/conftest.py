"""The folder of the published data."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder with parts of the published files."""
    folder = Path(os.environ.get("MEMFLOW_DATA", "")) / "memoryagentbench"
    if not os.environ.get("MEMFLOW_DATA") or not folder.is_dir():
        pytest.skip("the published data is missing: set MEMFLOW_DATA")
    return folder
