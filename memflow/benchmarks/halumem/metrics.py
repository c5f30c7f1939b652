"""The metrics of HaluMem (metrics.toml): extraction, update and answers, and where wrong answers lost their facts."""

from memflow.scoring.metric_file import load_metrics

METRICS = tuple(load_metrics("memflow.benchmarks.halumem").values())
