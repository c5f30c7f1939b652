"""The metrics of AMemGym (metrics.toml), and the shared metrics that are primary for it."""

from memflow.scoring.catalog import ACCURACY, FAILURES, RANDOM, UPPER_BOUND
from memflow.scoring.metric_file import load_metrics

NAME, FACTUAL_RECALL, PREVIOUS_STATE = "amemgym", "factual_recall", "previous_state"
_OWN = load_metrics("memflow.benchmarks.amemgym")
METRICS = (
    *(metric.primary_in(NAME) for metric in (ACCURACY, RANDOM, UPPER_BOUND)),
    *(_OWN.pop(PREVIOUS_STATE), _OWN.pop("memory_score")),
    *(metric.primary_in(NAME) for metric in FAILURES),
    *_OWN.values(),
)
