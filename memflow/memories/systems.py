"""The memory systems that ship with memflow, as data: what each is and what it asks for.

What a system is, system.py says; how a name is read, registry.py; what one does, its own file or folder.
"""

from memflow.memories.a_mem.memory import AMem
from memflow.memories.awe import Awe
from memflow.memories.awi.evolved import EvolvingAwi
from memflow.memories.awi.memory import Awi
from memflow.memories.dense import Embedded
from memflow.memories.full import Full
from memflow.memories.generative_agent.memory import GenerativeAgent
from memflow.memories.lexical import Lexical
from memflow.memories.lib_mem0.memory import LibMem0
from memflow.memories.mem0.graph import Mem0Graph
from memflow.memories.mem0.memory import Mem0
from memflow.memories.mem_gpt.memory import MemGpt
from memflow.memories.memory_bank.memory import MemoryBank
from memflow.memories.memory_os.memory import MemoryOs
from memflow.memories.memp.memory import Memp
from memflow.memories.nemori.memory import Nemori
from memflow.memories.none import Nothing
from memflow.memories.oracle import Oracle
from memflow.memories.rag import Rag
from memflow.memories.recent import Recent
from memflow.memories.sc_memory.memory import ScMemory
from memflow.memories.system import System

SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        # Bounds and verbatim.
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
        # Search over what was said.
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
        # Facts that a model keeps up to date.
        System(
            "awe",
            Awe,
            "Facts that a model draws and keeps up to date, found by their embeddings.",
            "AMemGym, AWE",
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
            "awi_questions",
            EvolvingAwi,
            "AWI that betters its list of kinds after every period, told the questions alone.",
            "AMemGym, question-only feedback",
            ("freq", "ns"),
            {"feedback": "questions", "cadence": "period", "cycles": 0},
        ),
        System(
            "awi_complete",
            EvolvingAwi,
            "AWI that betters its list of kinds after every period, told answers and states.",
            "AMemGym, complete feedback",
            ("freq", "ns"),
            {"feedback": "complete", "cadence": "period", "cycles": 0},
        ),
        System(
            "awi_questions_cycles",
            EvolvingAwi,
            "AWI that lives its episode several times, told the questions alone after each.",
            "AMemGym, Algorithm 1, question-only feedback",
            ("cycles",),
            {"feedback": "questions", "cadence": "episode"},
        ),
        System(
            "awi_complete_cycles",
            EvolvingAwi,
            "AWI that lives its episode several times, told answers and states after each.",
            "AMemGym, Algorithm 1, complete feedback",
            ("cycles",),
            {"feedback": "complete", "cadence": "episode"},
        ),
        System(
            "awi_published",
            EvolvingAwi,
            "AWI that betters its list of kinds after every period, told what the published code tells.",
            "AMemGym, published code",
            ("freq", "ns"),
            {"feedback": "published_code", "cadence": "period", "cycles": 0},
        ),
        System(
            "mem0",
            Mem0,
            "Facts drawn in the light of a summary and the last messages, and kept up to date.",
            "Chhikara et al. 2025, Mem0",
            ("k",),
        ),
        System(
            "mem0_graph",
            Mem0Graph,
            "Mem0's facts, and a graph of entities and their relations.",
            "Chhikara et al. 2025, Mem0^g",
            ("k",),
        ),
        # Notes, tiers, episodes.
        System(
            "a_mem",
            AMem,
            "Notes that a model writes, links and rewrites, found by their embeddings and their links.",
            "MemoryBench, A-Mem",
            ("k",),
        ),
        System(
            "memory_os",
            MemoryOs,
            "Pages of dialogue that move through a short, a middle and a long term, by age and by heat.",
            "MemoryBench, MemoryOS",
            ("k",),
        ),
        System(
            "nemori",
            Nemori,
            "Episodes cut where the topic changes, and statements of what a model did not expect.",
            "AMemGym, Nemori",
            ("k",),
        ),
        # MemBench's mechanisms.
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
            "mem_gpt",
            MemGpt,
            "A small context that a model manages by functions, the rest in storage that it searches.",
            "Packer et al. 2023; MemBench, MemGPT",
            ("budget",),
        ),
        System(
            "sc_memory",
            ScMemory,
            "The newest messages, and older ones when a model that sees the query asks for them.",
            "MemBench, SCMemory",
            ("flash", "k"),
        ),
        # Procedures.
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
            "lib_mem0",
            LibMem0,
            "The package mem0ai as it is installed: facts that a model adds, updates and deletes.",
            "Mem0 (Chhikara et al. 2025), version 1.0.11",
            ("k",),
        ),
    )
}
