"""The cases of the injection test of all benchmarks and of annotation."""

from memflow.annotation.judge import judge_cases
from memflow.benchmarks import registry
from memflow.judges.cases import JudgeCase


def all_cases() -> list[JudgeCase]:
    """Return every case, by benchmark, then those of annotation."""
    of_benchmarks = [case for benchmark in registry.benchmarks() for case in benchmark.judge_cases()]
    return [*of_benchmarks, *judge_cases()]
