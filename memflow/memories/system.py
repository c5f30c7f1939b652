"""A memory system as it is named and listed: its class, and which of its parameters are settled.

Which systems there are, systems.py says; how a name is read, registry.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import metadata
from typing import Any

from memflow.chat.prompts import Prompt
from memflow.memories.memory import Calls, Memory


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a system."""

    name: str
    default: Any
    description: str
    low: float = 0
    high: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class System:
    """A memory system. `numbers` are the parameters that a name gives; `fixed` is what it stands for.

    `defaults` go over the memory's own, where the system is one of several variants of a memory.
    """

    name: str
    memory: type[Memory]
    summary: str
    paper: str
    numbers: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pattern(self) -> str:
        """`rag[_FREQ_NS_K]`: the names it answers to."""
        return self.name + (f"[_{'_'.join(self.numbers).upper()}]" if self.numbers else "")

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters that are free, in order."""
        return [
            Parameter(one.name, self.defaults.get(one.name, one.default), **one.metadata)
            for one in fields(self.memory)
            if "description" in one.metadata and one.name not in self.fixed
        ]

    @property
    def plays(self) -> bool:
        """Whether anything is ever written to it, so that its episodes have to be played."""
        return self.memory.plays

    @property
    def recalls(self) -> bool:
        """Whether it recalls entries, so that evidence can be followed through it."""
        return self.memory.recalls

    @property
    def ranks(self) -> bool:
        """Whether the entries that it recalls are best first."""
        return self.memory.ranks

    @property
    def silent(self) -> frozenset[str]:
        """Kinds of its entries whose sources say nothing of what it holds."""
        return self.memory.bookkeeping | self.memory.broad

    @property
    def calls(self) -> Calls:
        """Requests that one write and one read make at most."""
        return self.memory.calls

    @property
    def prompts(self) -> list[Prompt]:
        """The prompts that it asks its chat model with."""
        return self.memory.prompts() if self.needs_chat else []

    @property
    def lacks(self) -> str:
        """The package that it requires and that is not there in that version; nothing, where it is."""
        name, _, version = self.memory.requires.partition("==")
        if not name:
            return ""
        try:
            there = metadata.version(name)
        except metadata.PackageNotFoundError:
            return f"{self.memory.requires}, which is not installed"
        return f"{self.memory.requires}, and {there} is installed" if version not in ("", there) else ""

    @property
    def needs_embedder(self) -> bool:
        """Whether it cannot do without an embedder."""
        return self.calls.embed_write + self.calls.embed_read > 0

    @property
    def needs_chat(self) -> bool:
        """Whether it asks a chat model for what it writes or reads."""
        return self.calls.chat_write + self.calls.chat_read > 0
