"""The memory systems that ship with memflow, as data: what each is and what it asks for.

How a name is read, registry.py says; what a system does, its own file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import metadata
from typing import Any

from memflow.chat.prompts import Prompt, all_prompts
from memflow.memories.awi.memory import Awi
from memflow.memories.dense import Embedded
from memflow.memories.full import Full
from memflow.memories.generative_agent.memory import GenerativeAgent
from memflow.memories.lexical import Lexical
from memflow.memories.lib_mem0.memory import LibMem0
from memflow.memories.mem_gpt.memory import MemGpt
from memflow.memories.memory import Calls, Memory
from memflow.memories.memory_bank.memory import MemoryBank
from memflow.memories.memory_os.memory import MemoryOs
from memflow.memories.memp.memory import Memp
from memflow.memories.nemori.memory import Nemori
from memflow.memories.none import Nothing
from memflow.memories.oracle import Oracle
from memflow.memories.rag import Rag
from memflow.memories.recent import Recent
from memflow.memories.sc_memory.memory import ScMemory


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
        return all_prompts(self.memory.package()) if self.needs_chat else []

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
            "memory_os",
            MemoryOs,
            "Pages of dialogue that move through a short, a middle and a long term, by age and by heat.",
            "MemoryBench, MemoryOS",
            ("k",),
        ),
        System(
            "generative_agent",
            GenerativeAgent,
            "Rated observations and reflections on them, by recency, importance and relevance.",
            "MemBench, GenerativeAgent",
            ("k",),
        ),
        System(
            "memory_bank",
            MemoryBank,
            "Messages and daily summaries that fade, a global summary and a portrait.",
            "MemBench, MemoryBank",
            ("k",),
        ),
        System(
            "rag_pair",
            Rag,
            "Pairs of a user's message and its answer, found by their embeddings.",
            "CoMem, RAG on PersonaMem",
            ("freq", "ns", "k"),
            {"chunk": "pair"},
            {"freq": 1, "ns": 0, "k": 5},
        ),
        System(
            "rag_chunk",
            Rag,
            "Overlapping chunks of so many tokens, found by their embeddings.",
            "CoMem, RAG on DialSim",
            ("size", "overlap", "k"),
            {"chunk": "tokens", "freq": 1, "ns": 0},
            {"overlap": 75, "k": 5},
        ),
        System(
            "retrieval",
            Rag,
            "Every message ranked by its embedding, the best as far as a budget of tokens goes.",
            "MemBench, RetrievalMemory",
            ("budget",),
            {"chunk": "message", "freq": 1, "ns": 0, "k": 0},
            {"budget": 1024},
        ),
        System(
            "memp",
            Memp,
            "Procedures distilled from what was said, found by when they are of use.",
            "CoMem, Memp",
            ("size", "k"),
        ),
        System(
            "memp_validation",
            Memp,
            "Memp that learns nothing from what failed.",
            "Memp, validation",
            ("size", "k"),
            {"update": "validation"},
        ),
        System(
            "memp_reflection",
            Memp,
            "Memp that rewrites its procedures where they failed.",
            "Memp, reflection",
            ("size", "k"),
            {"update": "reflection"},
        ),
        System(
            "nemori",
            Nemori,
            "Episodes cut where the topic changes, and statements of what a model did not expect.",
            "AMemGym, Nemori",
            ("k",),
        ),
        System(
            "sc_memory",
            ScMemory,
            "The newest messages, and older ones when a model that sees the query asks for them.",
            "MemBench, SCMemory",
            ("flash", "k"),
        ),
        System(
            "mem_gpt",
            MemGpt,
            "A small context that a model manages by functions, the rest in storage that it searches.",
            "Packer et al. 2023; MemBench, MemGPT",
            ("budget",),
        ),
        System(
            "lib_mem0",
            LibMem0,
            "The package mem0ai as it is installed: facts that a model adds, updates and deletes.",
            "Mem0 (Chhikara et al. 2025), version 1.0.11",
            ("k",),
        ),
    )
}
