"""MemoryBench's protocol points: protocol.yaml, and the conditions under which they concern a domain."""

from memflow.benchmarks.memorybench.config import Parameters, parameters_of
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

PROTOCOL = BenchmarkProtocol(
    read_points(
        __package__,
        "protocol.yaml",
        {"on_policy": lambda domain: parameters_of(domain).protocol == "on_policy"},
    ),
    Parameters,
    "THUIR/MemoryBench at 9a33aae",
)
