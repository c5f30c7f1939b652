"""MemoryBench's protocol points: protocol.yaml, and the conditions under which a point applies to a domain."""

from collections.abc import Callable, Mapping

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import Parameters, parameters_of
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

SAMPLE = "memorybench_sample"
"""The data set of the demo, with cases of several data sets."""


def _has_dataset(start: str) -> Callable[[Domain], bool]:
    def condition(domain: Domain) -> bool:
        return any(
            name == SAMPLE or name.removeprefix("unified_").startswith(start) for name in domain.datasets
        )

    return condition


def _has_protocol(*protocols: str) -> Callable[[Domain], bool]:
    return lambda domain: parameters_of(domain).protocol in protocols


CONDITIONS: Mapping[str, Callable[[Domain], bool]] = {
    **{name: _has_dataset(name) for name in {task.partition("_")[0] for task in TASKS}},
    "on_policy": _has_protocol("on_policy"),
    "stepwise": _has_protocol("stepwise"),
    "by_steps": _has_protocol("stepwise", "on_policy"),
    "same_case": _has_protocol("same"),
    "training": _has_protocol("training"),
    "by_action": lambda domain: parameters_of(domain).learn_from != "dialogues",
}

PROTOCOL = BenchmarkProtocol(
    read_points(__package__, "protocol.yaml", CONDITIONS), Parameters, "THUIR/MemoryBench at 9a33aae"
)
