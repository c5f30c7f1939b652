"""The metrics of HaluMem (metrics.toml): extraction, update and answers, and where wrong answers lost their facts."""

from memflow.scoring.metric_file import load_metrics

NAME = "halumem"
METRICS = tuple(load_metrics("memflow.benchmarks.halumem").values())
