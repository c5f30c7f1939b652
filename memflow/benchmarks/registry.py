"""The benchmarks by name. A new benchmark is a folder beside this file and a line here."""

from memflow.benchmarks.amemgym import AMemGym
from memflow.benchmarks.benchmark import Benchmark
from memflow.benchmarks.memorybench import MemoryBench
from memflow.chat.scripted import Handler
from memflow.errors import BadSettings

BENCHMARKS: dict[str, Benchmark] = {benchmark.name: benchmark for benchmark in (AMemGym(), MemoryBench())}


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name. Raises BadSettings naming those there are."""
    if name not in BENCHMARKS:
        raise BadSettings(f"there is no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]


def handlers() -> dict[str, Handler]:
    """The scripted chat's handlers for the prompts of every benchmark, by prompt name."""
    return {prompt: handler for each in BENCHMARKS.values() for prompt, handler in each.handlers().items()}
