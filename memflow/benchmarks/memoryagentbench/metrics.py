"""MemoryAgentBench's metrics, which metrics.toml declares, and the shared accuracy, that of LongMemEval's questions."""

from memflow.scoring.catalog import ACCURACY
from memflow.scoring.metric_file import load_metrics

NAME = "memoryagentbench"
METRICS = (ACCURACY.primary_in(NAME), *load_metrics("memflow.benchmarks.memoryagentbench").values())
