"""Fixtures: files of questions, and the folder of the published data."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.longmemeval.load import read_records
from memflow.benchmarks.registry import find_dataset
from memflow.records import Record

ORACLE = find_dataset("longmemeval_oracle")

NO_DATA = "the published data is missing: set MEMFLOW_DATA"


@pytest.fixture
def read(tmp_path: Path) -> Callable[[Any], list[Record]]:
    """Return a function that writes questions to a file, and reads it."""

    def read_file(content: Any) -> list[Record]:
        path = tmp_path / "file.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return read_records(ORACLE, {"file.json": path})

    return read_file


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder with parts of the published data."""
    folder = Path(os.environ.get("MEMFLOW_DATA", "")) / "longmemeval"
    if not os.environ.get("MEMFLOW_DATA") or not folder.is_dir():
        pytest.skip(NO_DATA)
    return folder
