"""The benchmarks by name, and their domains. A new benchmark is a folder beside this file and a line of each here."""

from memflow.benchmarks.amemgym import AMemGym
from memflow.benchmarks.amemgym.domains import DOMAINS as OF_AMEMGYM
from memflow.benchmarks.benchmark import Benchmark
from memflow.benchmarks.comem import CoMem
from memflow.benchmarks.comem.domains import DOMAINS as OF_COMEM
from memflow.benchmarks.membench import MemBench
from memflow.benchmarks.membench.domains import DOMAINS as OF_MEMBENCH
from memflow.benchmarks.memorybench import MemoryBench
from memflow.benchmarks.memorybench.domains import DOMAINS as OF_MEMORYBENCH
from memflow.chat.scripted import Handler
from memflow.domains import Domain
from memflow.errors import BadSettings

BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark for benchmark in (AMemGym(), MemoryBench(), MemBench(), CoMem())
}
DOMAINS: tuple[Domain, ...] = (*OF_AMEMGYM, *OF_MEMORYBENCH, *OF_MEMBENCH, *OF_COMEM)


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name. Raises BadSettings naming those there are."""
    if name not in BENCHMARKS:
        raise BadSettings(f"there is no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]


def handlers() -> dict[str, Handler]:
    """The scripted chat's handlers for the prompts of every benchmark, by prompt name."""
    return {prompt: handler for each in BENCHMARKS.values() for prompt, handler in each.handlers().items()}
