"""LongMemEval's protocol points: protocol.yaml."""

from memflow.benchmarks.longmemeval.config import Config
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

PROTOCOL = BenchmarkProtocol(
    read_points(__package__, "protocol.yaml", {}), Config, "xiaowu0162/LongMemEval, commit 9e0b455"
)
