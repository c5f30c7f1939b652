"""HaluMem's protocol points: protocol.yaml."""

from memflow.benchmarks.halumem.config import HaluMemConfig
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

PROTOCOL = BenchmarkProtocol(
    read_points(__package__, "protocol.yaml", {}), HaluMemConfig, "MemTensor/HaluMem, commit 59402b9"
)
