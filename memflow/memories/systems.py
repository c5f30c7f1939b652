"""The memory systems that ship with memflow, as data: what each is and what it asks for.

How a name is read, registry.py says; what a system does, its own file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from memflow.chat.prompts import Prompt, all_prompts
from memflow.memories.a_mem.memory import AMem
from memflow.memories.awi.memory import Awi
from memflow.memories.dense import Embedded
from memflow.memories.full import Full
from memflow.memories.lexical import Lexical
from memflow.memories.memory import Calls, Memory
from memflow.memories.none import Nothing
from memflow.memories.oracle import Oracle
from memflow.memories.rag import Rag
from memflow.memories.recent import Recent


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a system."""

    name: str
    default: Any
    description: str
    low: float = 0
    choices: tuple[str, ...] = ()


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
        return [
            Parameter(one.name, one.default, **one.metadata)
            for one in fields(self.memory)
            if "description" in one.metadata
        ]

    @property
    def plays(self) -> bool:
        """Whether anything is ever written to it, so that its episodes have to be played."""
        return self.memory.plays

    @property
    def calls(self) -> Calls:
        """Requests that one write and one read make at most."""
        return self.memory.calls

    @property
    def prompts(self) -> list[Prompt]:
        """The prompts that it asks its chat model with."""
        return all_prompts(self.memory.package()) if self.needs_chat else []

    @property
    def needs_embedder(self) -> bool:
        """Whether it cannot do without an embedder."""
        return self.calls.embed_write + self.calls.embed_read > 0

    @property
    def needs_chat(self) -> bool:
        """Whether it asks a chat model for what it writes or reads."""
        return self.calls.chat_write + self.calls.chat_read > 0


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
        System("recent", Recent, "The newest messages, word for word.", "a baseline of ours", ("messages",)),
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
        System(
            "awi",
            Awi,
            "A dictionary of facts that a model updates, all of it in context.",
            "AMemGym, AWI",
            ("freq", "ns"),
        ),
        System(
            "a_mem",
            AMem,
            "Notes that a model writes, links and rewrites, found by their embeddings and their links.",
            "Xu et al. 2025; MemoryBench, A-Mem; AMemGym, A-Mem",
            ("k",),
        ),
    )
}
