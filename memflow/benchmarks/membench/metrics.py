"""The metrics of MemBench, and the shared metrics that are primary for it."""

from memflow.scoring.catalog import ACCURACY, RANDOM
from memflow.scoring.metric import Metric

NAME = "membench"
METRICS = (
    *(each.primary_in(NAME) for each in (ACCURACY, RANDOM)),
    Metric(
        "capacity",
        "Capacity",
        "higher",
        "Tokens since the first evidence up to which the accuracy holds: the knee of its curve.",
        high=None,
        unit="tokens",
        source="MemBench, sections 3.4 and 4.4",
        variants={"in_all": "by all tokens said before the probe, not by those since its first evidence"},
    ).primary_in(NAME),
)
