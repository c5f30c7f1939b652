"""The class System, which declares a memory system, and the systems that ship with memflow.

An entry point names the class of a memory, and systems.toml the rest of its system; or the entry point names a
`System`. registry.py parses names such as `rag_2_4_30`.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import metadata
from importlib.metadata import EntryPoint
from importlib.resources import files
from typing import Any

from memflow.chat.limits import ITEMS, TEXT
from memflow.chat.prompts import Prompt
from memflow.entry_points import MEMORIES, installed, is_ours
from memflow.memories.memory import Memory


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a memory system, with its default and bounds."""

    name: str
    default: Any
    description: str
    low: float = 0
    high: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class System:
    """A memory system. A name may give values of the parameters `numbers`; `fixed` parameters cannot be changed.

    `defaults` replace the defaults of the memory class. `summary` defaults to the first line of the class's docstring.
    """

    name: str
    memory: type[Memory]
    paper: str
    numbers: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""

    def __post_init__(self) -> None:
        if not self.summary:
            object.__setattr__(self, "summary", (self.memory.__doc__ or "").strip().partition("\n")[0])

    @property
    def pattern(self) -> str:
        """The pattern of the system's names, such as `rag[_FREQ_NS_K]`."""
        return self.name + (f"[_{'_'.join(self.numbers).upper()}]" if self.numbers else "")

    @property
    def default_name(self) -> str:
        """The name with the default of every number, such as `rag_2_4_30`."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        return "_".join([self.name, *(str(defaults[number]) for number in self.numbers)])

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters of the system that a user can set, in order; the limits of answers come last."""
        parameters = [
            Parameter(field_.name, self.defaults.get(field_.name, field_.default), **field_.metadata)
            for field_ in fields(self.memory)
            if "description" in field_.metadata and field_.name not in self.fixed
        ]
        return sorted(parameters, key=lambda parameter: parameter.name in (TEXT.name, ITEMS.name))

    @property
    def kinds_without_evidence(self) -> frozenset[str]:
        """The kinds of entries that are no evidence of their source messages: bookkeeping and global summaries."""
        return self.memory.bookkeeping_kinds | self.memory.global_kinds

    @property
    def prompts(self) -> list[Prompt]:
        """The prompts that the system sends to its chat model."""
        return self.memory.prompts() if self.needs_chat else []

    @property
    def missing_requirement(self) -> str:
        """The reason if the required distribution is missing or has another version; empty if it is usable."""
        name, _, version = self.memory.requires.partition("==")
        if not name:
            return ""
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            return f"{self.memory.requires}, which is not installed"
        if version in ("", installed):
            return ""
        return f"{self.memory.requires}, and {installed} is installed"

    @property
    def needs_embedder(self) -> bool:
        """Whether the system needs an embedder."""
        return self.memory.calls.embed_write + self.memory.calls.embed_read > 0

    @property
    def needs_chat(self) -> bool:
        """Whether writes or reads of the system need a chat model."""
        return self.memory.calls.chat_write + self.memory.calls.chat_read > 0


class InstalledSystems(Mapping[str, System]):
    """The systems that ship with memflow, by name. A system is imported at its first use."""

    def __getitem__(self, name: str) -> System:
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_points())

    def __len__(self) -> int:
        return len(_points())


@cache
def _load(name: str) -> System:
    """Return the system of an entry point; for a class, with its declaration in systems.toml."""
    system: type[Memory] | System = _points()[name].load()
    if isinstance(system, System):
        return system
    declaration = _declared()[name]
    return System(name, system, **{**declaration, "numbers": tuple(declaration.get("numbers", ()))})


@cache
def _declared() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("systems.toml").read_text(encoding="utf-8"))


@cache
def _points() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in installed(MEMORIES) if is_ours(point)}


SYSTEMS: Mapping[str, System] = InstalledSystems()
