"""Fixtures: files of an invented show, and its contexts for given parameters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.contexts import Context
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.records import Record
from memflow.resources.data.library import Library


@pytest.fixture
def read(tmp_path: Path) -> Callable[[Mapping[str, bytes]], list[Record]]:
    """`read({source: content})` writes files of comem_friends and reads them."""

    def reading(files: Mapping[str, bytes]) -> list[Record]:
        for source, content in files.items():
            (tmp_path / source).parent.mkdir(exist_ok=True)
            (tmp_path / source).write_bytes(content)
        library = Library(tmp_path, {"comem_friends": replace(registry.datasets()["comem_friends"], sums={})})
        dataset = library.dataset("comem_friends")
        return CoMem().records(dataset, library.paths(dataset))

    return reading


def dialsim(**parameters: Any) -> Domain:
    """Return the domain of published questions, restricted to Friends."""
    domain = find_domain("comem_dialsim_published")
    return replace(domain, datasets=("comem_friends",), parameters={**domain.parameters, **parameters})


@pytest.fixture
def made() -> Callable[..., list[Context]]:
    def making(records: list[Record], **parameters: Any) -> list[Context]:
        return load_contexts(dialsim(**parameters), records)

    return making
