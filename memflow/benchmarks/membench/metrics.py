"""The metrics of MemBench (metrics.toml), and the shared metrics that are primary for it."""

from memflow.scoring.catalog import ACCURACY, RANDOM
from memflow.scoring.metric_file import load_metrics

NAME = "membench"
METRICS = (
    *(metric.primary_in(NAME) for metric in (ACCURACY, RANDOM)),
    *load_metrics("memflow.benchmarks.membench").values(),
)
