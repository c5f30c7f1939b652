"""The package mem0ai in this process: state in memory, no telemetry, no files in the home folder.

Version 1.0.11 is the last version with the paper's two steps, extraction and update.
"""

import atexit
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from memflow.errors import BadSettings
from memflow.memories.entries import Vector
from memflow.memories.lib_mem0 import bridge as ours
from memflow.memories.lib_mem0.bridge import Bridge

PACKAGE = "mem0ai==1.0.11"
PROVIDER = "memflow"
USER = "user"
"""Every episode has a store of its own, so one user name is enough."""
EVERYTHING = 1_000_000
CLOSE = 1e-6
"""Scores closer than this count as equal."""

_TODAY = re.compile(r"^- Today's date is .*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LibraryChange:
    """A change that the package reports: the number of the memory, and the event ADD, UPDATE or DELETE."""

    number: int
    event: str


@dataclass
class Library:
    """A store of the package mem0ai. Memories are numbered in order of creation, since the package's ids are random."""

    bridge: Bridge
    dimensions: int
    made: int = 0
    """The number of memories ever created."""
    _ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory = _opened(self.bridge, self.dimensions)
        self._ranked = self.memory.vector_store.search
        self.memory.vector_store.search = self._search

    def restore(self, held: Mapping[int, tuple[str, Vector]]) -> None:
        """Fill an empty store with memories, given by number as text and vector, without a model call."""
        texts = []
        for _, (text, vector) in sorted(held.items()):
            texts.append(text)
            self.bridge.vectors[text] = vector
        if not texts:
            return
        said = [{"role": "user", "content": text} for text in texts]
        stored = self.memory.add(said, user_id=USER, infer=False)["results"]
        self._ids = {str(one["id"]): number for one, number in zip(stored, sorted(held), strict=True)}

    def add(self, messages: Sequence[Mapping[str, str]], date: str | None) -> list[LibraryChange]:
        """Add messages to the store and return the changes of memories. `date` is the simulated date, if known."""
        self.memory.config.custom_fact_extraction_prompt = _extraction(date)
        done = self.memory.add([*messages], user_id=USER)["results"]
        return [LibraryChange(self._number(str(one["id"])), one["event"]) for one in done]

    def memories(self) -> dict[int, str]:
        """Return the text of every memory, by number."""
        found = self.memory.get_all(user_id=USER, limit=EVERYTHING)["results"]
        return {self._number(str(one["id"])): one["memory"] for one in found}

    def search(self, query: str, k: int) -> list[int]:
        """Return the numbers of the `k` nearest memories, nearest first. The bridge must have the query's vector."""
        found = self.memory.search(query, user_id=USER, limit=k)["results"]
        return [self._ids[str(one["id"])] for one in found]

    def _search(self, *, limit: int, **asked: Any) -> list[Any]:
        """Return the results of the package's search, with almost equal scores ordered by age.

        The package orders ties arbitrarily, and the last bit of a score depends on the other memories in the store.
        """
        found = self._ranked(limit=limit + 1, **asked)
        if len(found) > limit and found[limit - 1].score - found[limit].score < CLOSE:
            found = self._ranked(limit=EVERYTHING, **asked)
        ranks, last, rank = {}, 0.0, 0
        for one in found:
            rank += last - one.score >= CLOSE
            last = one.score
            ranks[one.id] = (rank, self._number(str(one.id)))
        return sorted(found, key=lambda one: ranks[one.id])[:limit]

    def _number(self, key: str) -> int:
        if key not in self._ids:
            self._ids[key] = self.made
            self.made += 1
        return self._ids[key]


def _opened(bridge: Bridge, dimensions: int) -> Any:
    package = _package()
    base = import_module("mem0.configs.base")
    llms, embedders = import_module("mem0.llms.configs"), import_module("mem0.embeddings.configs")
    # The package checks a provider's name against a list of its own; a model made without checks takes any.
    asked = {"provider": PROVIDER, "config": {"model": bridge}}
    config = base.MemoryConfig(
        llm=llms.LlmConfig.model_construct(**asked),
        embedder=embedders.EmbedderConfig.model_construct(**asked),
        vector_store={
            "provider": "qdrant",
            "config": {"path": ":memory:", "embedding_model_dims": dimensions, "collection_name": "memflow"},
        },
        history_db_path=":memory:",
    )
    return package.Memory(config)


@cache
def _package() -> Any:
    """Return the package mem0ai, imported without telemetry and without files in the home folder."""
    folder = tempfile.mkdtemp(prefix="memflow-mem0-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with _environment(MEM0_TELEMETRY="False", MEM0_DIR=folder):
            package = import_module("mem0")
            telemetry: Any = import_module("mem0.memory.telemetry")
            main: Any = import_module("mem0.memory.main")
    except ImportError as missing:
        raise BadSettings(
            f"the memories lib_mem0 and lib_awe need {PACKAGE} ({missing}). Install it: uv pip install {PACKAGE}"
        ) from missing
    # Somebody may have imported it before, with telemetry.
    telemetry.MEM0_TELEMETRY = main.MEM0_TELEMETRY = False
    # What it cannot do it only logs; here that is an entry of kind failure.
    logging.getLogger("mem0").setLevel(logging.CRITICAL)
    factory: Any = import_module("mem0.utils.factory")
    factory.LlmFactory.register_provider(PROVIDER, f"{ours.__name__}.Llm")
    factory.EmbedderFactory.provider_to_class[PROVIDER] = f"{ours.__name__}.Embedding"
    return package


def _extraction(date: str | None) -> str:
    """Return the package's prompt for facts with the simulated date, or without a date."""
    prompt: str = import_module("mem0.configs.prompts").USER_MEMORY_EXTRACTION_PROMPT
    line = f"- Today's date is {date}.\n" if date else ""
    return _TODAY.sub(lambda _: line, prompt)


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
