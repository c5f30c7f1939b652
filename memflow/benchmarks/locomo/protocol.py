"""LoCoMo's protocol points: protocol.yaml. The published code is Mem0's evaluation of 2025, which introduced J."""

from memflow.benchmarks.locomo.config import LoCoMoConfig
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

PROTOCOL = BenchmarkProtocol(
    read_points(__package__, "protocol.yaml", {}), LoCoMoConfig, "mem0ai/mem0, evaluation/ (until 9315e30)"
)
