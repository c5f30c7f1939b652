"""The benchmarks by name, and their domains. A new benchmark is a folder beside this file and a line of each here.

A benchmark's code is imported when it is first asked for: domains are listed by every command, and a run needs the
code of its own benchmarks alone.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from memflow.benchmarks.amemgym.domains import DOMAINS as OF_AMEMGYM
from memflow.benchmarks.comem.domains import DOMAINS as OF_COMEM
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.domains import DOMAINS as OF_MEMBENCH
from memflow.benchmarks.memorybench.domains import DOMAINS as OF_MEMORYBENCH
from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.benchmarks.api import Benchmark
    from memflow.chat.scripted import Handler

CLASSES: dict[str, str] = {
    "amemgym": "AMemGym",
    "memorybench": "MemoryBench",
    "membench": "MemBench",
    "comem": "CoMem",
}
"""The class of each benchmark in its package memflow.benchmarks.<name>."""
DOMAINS: tuple[Domain, ...] = (*OF_AMEMGYM, *OF_MEMORYBENCH, *OF_MEMBENCH, *OF_COMEM)


@cache
def benchmark(name: str) -> "Benchmark":
    """Return the benchmark of that name. Raises BadSettings with the names there are."""
    if name not in CLASSES:
        raise BadSettings(f"there is no benchmark {name!r}; there are {', '.join(CLASSES)}")
    made: type[Benchmark] = getattr(import_module(f"memflow.benchmarks.{name}.benchmark"), CLASSES[name])
    return made()


def handlers() -> "dict[str, Handler]":
    """Return the scripted chat's handlers for the prompts of every benchmark, by prompt name."""
    return {prompt: handler for name in CLASSES for prompt, handler in benchmark(name).handlers().items()}
