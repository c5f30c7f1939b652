"""Small files of our own making in the published forms, and the real ones where MEMFLOW_DATA leads to them."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.records import Record
from resources.library import Library

Written = Callable[[str, Mapping[str, Any]], list[Record]]
Real = Callable[[str], list[Record]]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """`written(dataset, files)` writes files of a data set and reads them: bytes, or lists as JSON lines."""

    def reading(name: str, files: Mapping[str, Any]) -> list[Record]:
        for source, content in files.items():
            path = tmp_path / source
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else lines(content))
        known = {name: replace(registry.datasets()[name], sums={})}
        library = Library(tmp_path, known)
        return MemoryBench().records(library.dataset(name), library.paths(name))

    return reading


def lines(rows: list[Any]) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


@pytest.fixture
def real() -> Real:
    """`real(dataset)` reads the published files, or skips."""

    def reading(name: str) -> list[Record]:
        library = Library(os.environ.get("MEMFLOW_DATA"))
        if not library.found(name):
            pytest.skip(f"set MEMFLOW_DATA to a data folder that has {name}")
        return MemoryBench().records(library.dataset(name), library.paths(name))

    return reading
