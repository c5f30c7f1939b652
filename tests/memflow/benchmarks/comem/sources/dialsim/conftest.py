"""Fixtures: files of an invented show, its contexts for given parameters, and dialogues of any length."""

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.contexts import Context, ContextMessage
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
    """Return the listed domain, restricted to Friends."""
    domain = find_domain("comem_dialsim_quotes")
    return replace(domain, datasets=("comem_friends",), parameters={**domain.parameters, **parameters})


@pytest.fixture
def made() -> Callable[..., list[Context]]:
    def making(records: list[Record], **parameters: Any) -> list[Context]:
        return load_contexts(dialsim(**parameters), records)

    return making


@pytest.fixture
def real() -> list[Record]:
    library = Library(os.environ.get("MEMFLOW_DATA"))
    if not library.found("comem_friends"):
        pytest.skip("set MEMFLOW_DATA to a data folder that has comem_friends")
    return CoMem().records(library.dataset("comem_friends"), library.paths("comem_friends"))


_WORDS = (
    "kite boat river stone garden paper window winter candle orange button ladder market pepper silver tunnel"
)
WORDS = _WORDS.split()
AGAIN = ["What a lovely day it is!", "Oh, not again, please.", "Let us go home."]


@pytest.fixture(scope="session")
def talk() -> Callable[..., list[ContextMessage]]:
    """`talk(lines)` is so many lines of a show: four people, a crowd, words that come again, ten lines a scene."""

    def talking(count: int, seed: int = 0) -> list[ContextMessage]:
        chance = random.Random(seed)
        found = []
        for place in range(count):
            speaker = chance.choice(["Ann", "Bo", "Cy", "Dee", "Dee", "All", "Ann and Bo"])
            text = " ".join(chance.choice(WORDS) for _ in range(chance.randint(2, 12))) + "."
            if chance.random() < 0.2:
                text = chance.choice(AGAIN)
            if chance.random() < 0.1:
                text += " Is that so, Ann?"
            found.append(ContextMessage(text, "user", speaker, place // 10))
        return found

    return talking
