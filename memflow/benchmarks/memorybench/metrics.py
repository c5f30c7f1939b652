"""The metrics of MemoryBench (metrics.toml). Primary: each task's own metric, and min-max and z score of all tasks."""

from memflow.benchmarks.memorybench.tasks.catalog import PRIMARY
from memflow.scoring.catalog import ACCURACY
from memflow.scoring.metric_file import load_metrics

NAME = "memorybench"
METRICS = tuple(
    metric.primary_in(NAME) if metric.name in {*PRIMARY, "min_max", "z_score"} else metric
    for metric in (ACCURACY, *load_metrics("memflow.benchmarks.memorybench").values())
)
