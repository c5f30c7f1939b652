"""The metrics of CoMem (metrics.toml), and the shared metrics that are primary for it."""

from memflow.scoring.catalog import ACCURACY, CHANGE, GUESS, RANDOM
from memflow.scoring.metric_file import load_metrics

NAME = "comem"
METRICS = (
    *(metric.primary_in(NAME) for metric in (ACCURACY, RANDOM, GUESS)),
    *(metric.primary_in(NAME) for metric in CHANGE if metric.name in ("forgetting", "all_correct")),
    *load_metrics("memflow.benchmarks.comem").values(),
)
