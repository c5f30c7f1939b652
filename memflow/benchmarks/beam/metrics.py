"""The metrics of BEAM (metrics.toml): one per judge contract, the parts of the order of events, constant answers."""

from memflow.scoring.metric_file import load_metrics

NAME = "beam"
METRICS = tuple(load_metrics("memflow.benchmarks.beam").values())
