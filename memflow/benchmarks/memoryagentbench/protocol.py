"""MemoryAgentBench's protocol points: protocol.yaml."""

from memflow.benchmarks.memoryagentbench.config import MemoryAgentBenchConfig
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

PROTOCOL = BenchmarkProtocol(
    read_points(__package__, "protocol.yaml", {}),
    MemoryAgentBenchConfig,
    "HUST-AI-HYZ/MemoryAgentBench, commit 455306d",
)
