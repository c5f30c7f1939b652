"""BEAM's protocol points: protocol.yaml."""

from memflow.benchmarks.beam.config import BeamConfig
from memflow.benchmarks.protocol import BenchmarkProtocol
from memflow.benchmarks.protocol_file import read_points

PROTOCOL = BenchmarkProtocol(
    read_points(__package__, "protocol.yaml", {}), BeamConfig, "mohammadtavakoli78/BEAM, commit b2a3ee8"
)
