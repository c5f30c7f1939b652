"""Names of memory systems: what there is, and `rag_2_4_30` -> a Memory on a store.

A name is a system and, after it, values of its parameters in order; the rest keep their defaults. It has to
be a partition key, so it holds small letters, digits and underscores. A user's own memory has a name of its
own choice and is found by import path. Which memories a run takes is the settings' business.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any

from memflow.errors import BadSettings
from memflow.fingerprint import digest
from memflow.memories.dense import Embedded
from memflow.memories.entries import EntryStore
from memflow.memories.full import Full
from memflow.memories.lexical import Lexical
from memflow.memories.memory import Calls, Memory, Tools
from memflow.memories.none import Nothing
from memflow.memories.oracle import Oracle
from memflow.memories.rag import Rag
from memflow.memories.recent import Recent

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a system."""

    name: str
    default: Any
    description: str
    low: int = 0


@dataclass(frozen=True)
class System:
    """A memory system. `numbers` are the parameters that a name gives; `fixed` is what it stands for."""

    name: str
    memory: type[Memory]
    summary: str
    paper: str
    numbers: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pattern(self) -> str:
        """`rag[_FREQ_NS_K]`: the names it answers to."""
        return self.name + (f"[_{'_'.join(self.numbers).upper()}]" if self.numbers else "")

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters that are free, in order."""
        return _parameters(self.memory)

    @property
    def plays(self) -> bool:
        """Whether anything is ever written to it: its episodes are played."""
        return self.memory.plays

    @property
    def calls(self) -> Calls:
        """Requests that one write and one read make at most."""
        return self.memory.calls

    @property
    def needs_embedder(self) -> bool:
        """Whether it cannot do without an embedder."""
        return self.calls.embed_write + self.calls.embed_read > 0

    @property
    def needs_chat(self) -> bool:
        """Whether it asks a chat model for what it writes or reads."""
        return self.calls.chat_write + self.calls.chat_read > 0


@dataclass(frozen=True)
class Own:
    """A user's own memory: `my_package.my_module:MyMemory`, and values of its parameters."""

    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """What a name stands for: a system, and every parameter's value."""

    name: str
    system: System
    values: Mapping[str, Any]

    def remember(self, tools: Tools) -> Callable[[EntryStore], Memory]:
        """What makes the memory on a store. Raises BadSettings where a tool it needs is missing."""
        for needed, tool, what in (
            (self.system.needs_embedder, tools.embedder, "an embedder"),
            (self.system.needs_chat, tools.chat, "a chat model"),
        ):
            if needed and tool is None:
                raise BadSettings(f"the memory {self.name} needs {what}, and was given none")
        return lambda store: self.system.memory(store, tools, **self.values)

    def fingerprint(self) -> str:
        """Digest of class, version and parameters. The tools have fingerprints of their own."""
        memory = self.system.memory
        return digest(memory.__module__, memory.__qualname__, memory.version, dict(self.values))


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System("none", Nothing, "Nothing is remembered: the lower bound.", "CoMem, checkpoint 0"),
        System(
            "oracle", Oracle, "Told the gold evidence or states: the upper bound.", "AMemGym, upper bound"
        ),
        System(
            "full",
            Full,
            "Every message, word for word, the newest that fit.",
            "AMemGym, native LLM; MemoryBench, vanilla",
            ("budget",),
        ),
        System("recent", Recent, "The newest messages, word for word.", "none: a baseline", ("messages",)),
        System(
            "bm25_message",
            Lexical,
            "Messages found by BM25.",
            "MemoryBench, BM25-M",
            ("k",),
            {"grain": "message"},
        ),
        System(
            "bm25_session",
            Lexical,
            "Sessions found by BM25.",
            "MemoryBench, BM25-S",
            ("k",),
            {"grain": "session"},
        ),
        System(
            "embed_message",
            Embedded,
            "Messages found by their embeddings.",
            "MemoryBench, Embed-M",
            ("k",),
            {"grain": "message"},
        ),
        System(
            "embed_session",
            Embedded,
            "Sessions found by their embeddings.",
            "MemoryBench, Embed-S",
            ("k",),
            {"grain": "session"},
        ),
        System(
            "rag",
            Rag,
            "The newest messages word for word, older ones found by their embeddings.",
            "AMemGym, RAG",
            ("freq", "ns", "k"),
        ),
    )
}


def describe() -> list[System]:
    """Every system that ships with memflow."""
    return list(SYSTEMS.values())


def find(name: str, own: Mapping[str, Own] | None = None) -> Recipe:
    """What `name` stands for; a user's own names come first. Raises BadSettings saying what there is."""
    if not _NAME.fullmatch(name):
        raise BadSettings(
            f"a memory's name holds small letters, digits and _, and begins with a letter; {name!r} does not"
        )
    if own and name in own:
        return _own(name, own[name])
    for system in SYSTEMS.values():
        given = re.fullmatch(rf"{system.name}((?:_(?:0|[1-9]\d*))*)", name)
        if given is not None:
            numbers = [int(number) for number in given[1].split("_")[1:]]
            if len(numbers) not in (0, len(system.numbers)):
                wanted = len(system.numbers) or "no"
                raise BadSettings(f"{name} gives {len(numbers)} numbers; {system.pattern} takes {wanted}")
            return _recipe(name, system, dict(zip(system.numbers, numbers, strict=False)))
    known = ", ".join([*(system.pattern for system in SYSTEMS.values()), *(own or {})])
    raise BadSettings(f"there is no memory {name!r}; there are {known}")


def remember(name: str, tools: Tools, own: Mapping[str, Own] | None = None) -> Callable[[EntryStore], Memory]:
    """What makes the memory of that name on a store: for the player and for answering."""
    return find(name, own).remember(tools)


def fingerprint(name: str, own: Mapping[str, Own] | None = None) -> str:
    """Digest of what the name stands for: two names of the same memory share it."""
    return find(name, own).fingerprint()


def _own(name: str, own: Own) -> Recipe:
    module, colon, attribute = own.path.partition(":")
    where = f"the memory {name} of memflow.toml"
    if not (module and colon and attribute):
        raise BadSettings(f"{where}: {own.path!r} is no import path; write my_package.my_module:MyMemory")
    try:
        memory = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as missing:
        raise BadSettings(f"{where}: {own.path} cannot be imported: {missing}") from missing
    if not (isinstance(memory, type) and issubclass(memory, Memory)):
        raise BadSettings(f"{where}: {own.path} is no subclass of memflow.memories.memory.Memory")
    summary = (memory.__doc__ or "").strip().partition("\n")[0]
    return _recipe(name, System(name, memory, summary, "of your own"), own.parameters)


def _recipe(name: str, system: System, given: Mapping[str, Any]) -> Recipe:
    known = {parameter.name: parameter for parameter in _parameters(system.memory)}
    values = {parameter.name: parameter.default for parameter in known.values()}
    for key, value in given.items():
        if key not in known:
            takes = ", ".join(known) or "none"
            raise BadSettings(f"the memory {name} has no parameter {key!r}; it takes {takes}")
        default, low = known[key].default, known[key].low
        if type(value) is not type(default):
            raise BadSettings(f"the memory {name}: {key} is a {type(default).__name__}, not {value!r}")
        if isinstance(value, int) and value < low:
            raise BadSettings(f"the memory {name}: {key} is at least {low}, not {value}")
        values[key] = value
    return Recipe(name, system, {**values, **system.fixed})


def _parameters(memory: type[Memory]) -> list[Parameter]:
    return [
        Parameter(one.name, one.default, one.metadata["description"], one.metadata["low"])
        for one in fields(memory)
        if "description" in one.metadata
    ]
