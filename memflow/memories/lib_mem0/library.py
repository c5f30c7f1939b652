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
    created: int = 0
    """The number of memories ever created."""
    _ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory = _open_memory(self.bridge, self.dimensions)
        self._ranked = self.memory.vector_store.search
        self.memory.vector_store.search = self._search

    def restore(self, memories: Mapping[int, tuple[str, Vector]]) -> None:
        """Fill an empty store with memories, given by number as text and vector, without a model call."""
        texts = []
        for _, (text, vector) in sorted(memories.items()):
            texts.append(text)
            self.bridge.vectors[text] = vector
        if not texts:
            return
        messages = [{"role": "user", "content": text} for text in texts]
        results = self.memory.add(messages, user_id=USER, infer=False)["results"]
        self._ids = {
            str(entry["id"]): number for entry, number in zip(results, sorted(memories), strict=True)
        }

    def add(self, messages: Sequence[Mapping[str, str]], date: str | None) -> list[LibraryChange]:
        """Add messages to the store and return the changes of memories. `date` is the simulated date, if known."""
        self.memory.config.custom_fact_extraction_prompt = _extraction(date)
        results = self.memory.add([*messages], user_id=USER)["results"]
        return [LibraryChange(self._number(str(result["id"])), result["event"]) for result in results]

    def memories(self) -> dict[int, str]:
        """Return the text of every memory, by memflow's number for it."""
        results = self.memory.get_all(user_id=USER, limit=EVERYTHING)["results"]
        return {self._number(str(result["id"])): result["memory"] for result in results}

    def search(self, query: str, k: int) -> list[int]:
        """Return the numbers of the `k` nearest memories, nearest first. The bridge must have the query's vector."""
        results = self.memory.search(query, user_id=USER, limit=k)["results"]
        return [self._ids[str(result["id"])] for result in results]

    def _search(self, *, limit: int, **arguments: Any) -> list[Any]:
        """Return the results of the package's search, with almost equal scores ordered by age.

        The package orders ties arbitrarily, and the last bit of a score depends on the other memories in the store.
        """
        results = self._ranked(limit=limit + 1, **arguments)
        if len(results) > limit and results[limit - 1].score - results[limit].score < CLOSE:
            results = self._ranked(limit=EVERYTHING, **arguments)
        # Neighbors with almost equal scores share a rank, in which the oldest memory comes first.
        sort_keys = {}
        rank, previous_score = 0, 0.0
        for point in results:
            if previous_score - point.score >= CLOSE:
                rank += 1
            previous_score = point.score
            sort_keys[point.id] = (rank, self._number(str(point.id)))
        return sorted(results, key=lambda point: sort_keys[point.id])[:limit]

    def _number(self, library_id: str) -> int:
        if library_id not in self._ids:
            self._ids[library_id] = self.created
            self.created += 1
        return self._ids[library_id]


def _open_memory(bridge: Bridge, dimensions: int) -> Any:
    """Return a new store of the package in memory, with the bridge as its LLM and embedder."""
    package = _package()
    base = import_module("mem0.configs.base")
    llms, embedders = import_module("mem0.llms.configs"), import_module("mem0.embeddings.configs")
    # The package accepts only its own provider names; `model_construct` skips this check.
    provider_config = {"provider": PROVIDER, "config": {"model": bridge}}
    config = base.MemoryConfig(
        llm=llms.LlmConfig.model_construct(**provider_config),
        embedder=embedders.EmbedderConfig.model_construct(**provider_config),
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
            main_module: Any = import_module("mem0.memory.main")
    except ImportError as error:
        raise BadSettings(
            f"the memories lib_mem0 and lib_awe need {PACKAGE} ({error}). Install it: pip install 'memflow-bench[mem0]'"
        ) from error
    # Other code may have imported the package before, with telemetry.
    telemetry.MEM0_TELEMETRY = main_module.MEM0_TELEMETRY = False
    # The package logs its errors; the memory records them as entries of kind `failure`.
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
    """Set environment variables inside a `with` block, and restore the former values after it."""
    former_values = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in former_values.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
