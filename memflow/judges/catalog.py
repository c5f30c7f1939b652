"""The cases of judges of all benchmarks."""

from memflow.benchmarks import registry
from memflow.judges.cases import JudgeCase


def all_cases() -> list[JudgeCase]:
    """Return every case, by benchmark."""
    return [case for benchmark in registry.benchmarks() for case in benchmark.judge_cases()]
