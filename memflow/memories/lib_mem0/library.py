"""The package mem0ai in this process: everything in memory, nothing sent to its makers, nothing in anybody's home.

Version 1.0.11 is the last with the two steps of Mem0's paper, extraction and update; 2.x only ever adds.
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
"""An episode has a store of its own, so one name will do for all of them."""
EVERYTHING = 1_000_000
CLOSE = 1e-6
"""Scores that are closer than this are equal."""

_TODAY = re.compile(r"^- Today's date is .*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LibraryChange:
    """What the package says it did with a memory: its number, and ADD, UPDATE or DELETE."""

    number: int
    event: str


@dataclass
class Library:
    """One store of the package. Its memories are numbered as they are made: its own ids are drawn at random."""

    bridge: Bridge
    dimensions: int
    made: int = 0
    """How many memories were ever made: the next number."""
    _ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.memory = _opened(self.bridge, self.dimensions)
        self._ranked = self.memory.vector_store.search
        self.memory.vector_store.search = self._search

    def restore(self, held: Mapping[int, tuple[str, Vector]]) -> None:
        """Memories as they were, by number: stored without asking a model, in the order in which they were made."""
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
        """Have it read messages, and say what it changed. `date` is the simulated day, where it is known."""
        self.memory.config.custom_fact_extraction_prompt = _extraction(date)
        done = self.memory.add([*messages], user_id=USER)["results"]
        return [LibraryChange(self._number(str(one["id"])), one["event"]) for one in done]

    def held(self) -> dict[int, str]:
        """The memories that it holds, by number."""
        found = self.memory.get_all(user_id=USER, limit=EVERYTHING)["results"]
        return {self._number(str(one["id"])): one["memory"] for one in found}

    def search(self, query: str, k: int) -> list[int]:
        """The numbers of the `k` memories nearest to a query whose vector the bridge has, nearest first."""
        found = self.memory.search(query, user_id=USER, limit=k)["results"]
        return [self._ids[str(one["id"])] for one in found]

    def _search(self, *, limit: int, **asked: Any) -> list[Any]:
        """What the store finds, the older memory first among equals: its own order there is any.

        The last bit of a score, and so the order, depends on what else lies in the store, and a restored one does
        not hold what was deleted.
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
    """A store of the package that asks `bridge`."""
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
    """The package, imported so that it neither writes to the home folder nor reports to its makers."""
    folder = tempfile.mkdtemp(prefix="memflow-mem0-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with _environment(MEM0_TELEMETRY="False", MEM0_DIR=folder):
            package = import_module("mem0")
            telemetry: Any = import_module("mem0.memory.telemetry")
            main: Any = import_module("mem0.memory.main")
    except ImportError as missing:
        raise BadSettings(f"lib_mem0 needs {PACKAGE}: uv pip install {PACKAGE} ({missing})") from missing
    # Somebody may have imported it before, with telemetry.
    telemetry.MEM0_TELEMETRY = main.MEM0_TELEMETRY = False
    # What it cannot do it only logs; here that is an entry of kind failure.
    logging.getLogger("mem0").setLevel(logging.CRITICAL)
    factory: Any = import_module("mem0.utils.factory")
    factory.LlmFactory.register_provider(PROVIDER, f"{ours.__name__}.Llm")
    factory.EmbedderFactory.provider_to_class[PROVIDER] = f"{ours.__name__}.Embedding"
    return package


def _extraction(date: str | None) -> str:
    """The package's own prompt for facts, with the simulated date for the date of the run, or without any."""
    prompt: str = import_module("mem0.configs.prompts").USER_MEMORY_EXTRACTION_PROMPT
    line = f"- Today's date is {date}.\n" if date else ""
    return _TODAY.sub(lambda _: line, prompt)


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """The environment with these values, for a package that reads it as it is imported; nothing else here does."""
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
