"""MemBench's protocol points: protocol.yaml, and the conditions under which a point applies to a domain."""

from memflow.benchmarks.membench.config import Parameters, generated, parameters_of
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

PROTOCOL = BenchmarkProtocol(
    read_points(
        __package__,
        "protocol.yaml",
        {
            "generated": generated,
            "participation": lambda domain: parameters_of(domain).scene == "participation",
            "lengthened": lambda domain: parameters_of(domain).noise_tokens > 0,
            "capacity": lambda domain: parameters_of(domain).protocol == "capacity",
        },
    ),
    Parameters,
    "import-myself/Membench at 0495679",
)
