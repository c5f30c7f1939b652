"""The class System, which declares a memory system, and the systems that ship with memflow.

registry.py parses names such as `rag_2_4_30`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import metadata
from typing import Any

from memflow.chat.limits import ITEMS, TEXT
from memflow.chat.prompts import Prompt
from memflow.memories.a_mem.memory import AMem
from memflow.memories.awe import Awe
from memflow.memories.awi.memory import Awi, EvolvingAwi
from memflow.memories.baselines import Full, Nothing, Oracle, PreviousState, Recent
from memflow.memories.bounds import PREVIOUS
from memflow.memories.generative_agent.memory import GenerativeAgent
from memflow.memories.hybrid import Hybrid
from memflow.memories.lib_mem0.awe import LibAwe
from memflow.memories.lib_mem0.memory import LibMem0
from memflow.memories.mem0.graph import Mem0Graph
from memflow.memories.mem0.memory import Mem0
from memflow.memories.mem_gpt.memory import MemGpt
from memflow.memories.memory import Memory
from memflow.memories.memory_bank.memory import MemoryBank
from memflow.memories.memory_os.memory import MemoryOs
from memflow.memories.memp.memory import Memp
from memflow.memories.nemori.memory import Nemori
from memflow.memories.rag import Rag
from memflow.memories.retrieval import Embedded, Lexical
from memflow.memories.sc_memory.memory import ScMemory


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
        defaults = {each.name: each.default for each in self.parameters}
        return "_".join([self.name, *(str(defaults[number]) for number in self.numbers)])

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters of the system that a user can set, in order; the limits of answers come last."""
        found = [
            Parameter(one.name, self.defaults.get(one.name, one.default), **one.metadata)
            for one in fields(self.memory)
            if "description" in one.metadata and one.name not in self.fixed
        ]
        return sorted(found, key=lambda one: one.name in (TEXT.name, ITEMS.name))

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
            there = metadata.version(name)
        except metadata.PackageNotFoundError:
            return f"{self.memory.requires}, which is not installed"
        return f"{self.memory.requires}, and {there} is installed" if version not in ("", there) else ""

    @property
    def needs_embedder(self) -> bool:
        """Whether the system needs an embedder."""
        return self.memory.calls.embed_write + self.memory.calls.embed_read > 0

    @property
    def needs_chat(self) -> bool:
        """Whether writes or reads of the system need a chat model."""
        return self.memory.calls.chat_write + self.memory.calls.chat_read > 0


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        # Bounds and stored messages.
        System("none", Nothing, "CoMem, checkpoint 0; MemoryBench, Vanilla without a corpus"),
        System("oracle", Oracle, "AMemGym, upper bound"),
        System(PREVIOUS, PreviousState, "a baseline of ours"),
        System("full", Full, "AMemGym, native LLM", ("budget",)),
        System("recent", Recent, "a baseline of ours", ("messages",)),
        # Search over messages.
        *(
            System(f"{name}_{grain}", memory, f"MemoryBench, {paper}", ("k",), {"grain": grain}, summary=text)
            for name, grain, memory, paper, text in (
                ("bm25", "message", Lexical, "BM25-M", "Messages found by BM25."),
                ("bm25", "session", Lexical, "BM25-S", "Sessions found by BM25."),
                ("embed", "message", Embedded, "Embed-M", "Messages found by their embeddings."),
                ("embed", "session", Embedded, "Embed-S", "Sessions found by their embeddings."),
            )
        ),
        System("hybrid", Hybrid, "a baseline of ours", ("k",)),
        System("rag", Rag, "AMemGym, RAG", ("freq", "ns", "k")),
        System(
            "rag_pair",
            Rag,
            "CoMem, RAG on PersonaMem",
            ("freq", "ns", "k"),
            {"chunk": "pair"},
            {"freq": 1, "ns": 0, "k": 5},
            "Pairs of a user's message and its answer, found by their embeddings.",
        ),
        System(
            "rag_chunk",
            Rag,
            "CoMem, RAG on DialSim",
            ("size", "overlap", "k"),
            {"chunk": "tokens", "freq": 1, "ns": 0},
            {"overlap": 75, "k": 5},
            "Overlapping chunks of a fixed number of tokens, found by their embeddings.",
        ),
        System(
            "retrieval",
            Rag,
            "MemBench, RetrievalMemory",
            ("budget",),
            {"chunk": "message", "freq": 1, "ns": 0, "k": 0},
            {"budget": 1024},
            "Every message ranked by its embedding; the best that fit a budget of tokens.",
        ),
        # Facts that a model maintains.
        System("awe", Awe, "AMemGym, AWE", ("freq", "ns", "k")),
        System("awi", Awi, "AMemGym, AWI", ("freq", "ns")),
        *(
            System(
                name,
                EvolvingAwi,
                f"AMemGym, {paper}",
                ("freq", "ns"),
                {"feedback": feedback, "cadence": "period", "cycles": 0},
                summary=f"AWI that evolves its list of kinds after every period, from {evidence}.",
            )
            for name, paper, feedback, evidence in (
                ("awi_questions", "question-only feedback", "questions", "the questions alone"),
                ("awi_complete", "complete feedback", "complete", "answers and states"),
                ("awi_published", "published code", "published_code", "the published code's feedback"),
            )
        ),
        System(
            "awi_questions_cycles",
            EvolvingAwi,
            "AMemGym, Algorithm 1, question-only feedback",
            ("cycles",),
            {"feedback": "questions", "cadence": "episode"},
            summary="AWI that replays its episode, evolving from the questions alone after each cycle.",
        ),
        System(
            "awi_complete_cycles",
            EvolvingAwi,
            "AMemGym, Algorithm 1, complete feedback",
            ("cycles",),
            {"feedback": "complete", "cadence": "episode"},
            summary="AWI that replays its episode, evolving from answers and states after each cycle.",
        ),
        System("mem0", Mem0, "Chhikara et al. 2025, Mem0", ("k",)),
        System("mem0_graph", Mem0Graph, "Chhikara et al. 2025, Mem0^g", ("k",)),
        # Notes, tiers, episodes.
        System("a_mem", AMem, "MemoryBench, A-Mem", ("k",)),
        System("memory_os", MemoryOs, "MemoryBench, MemoryOS", ("k",)),
        System("nemori", Nemori, "AMemGym, Nemori", ("k",)),
        # MemBench's mechanisms.
        System("generative_agent", GenerativeAgent, "MemBench, GenerativeAgent", ("k",)),
        System("memory_bank", MemoryBank, "MemBench, MemoryBank", ("k",)),
        System("mem_gpt", MemGpt, "Packer et al. 2023; MemBench, MemGPT", ("budget",)),
        System("sc_memory", ScMemory, "MemBench, SCMemory", ("flash", "k")),
        # Procedures.
        System("memp", Memp, "CoMem, Memp", ("size", "k")),
        System(
            "memp_validation",
            Memp,
            "Memp, validation",
            ("size", "k"),
            {"update": "validation"},
            summary="Memp that adds no procedure from failed exchanges.",
        ),
        System(
            "memp_reflection",
            Memp,
            "Memp, reflection",
            ("size", "k"),
            {"update": "reflection"},
            summary="Memp that rewrites its procedures after failed exchanges.",
        ),
        System("lib_mem0", LibMem0, "Mem0 (Chhikara et al. 2025), version 1.0.11", ("k",)),
        System("lib_awe", LibAwe, "AMemGym, AWE on the package of Mem0, version 1.0.11", ("freq", "ns", "k")),
    )
}
