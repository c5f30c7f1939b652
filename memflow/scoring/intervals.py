"""The interval of a metric, whose declaration decides by which method it is computed."""

from memflow.metrics.intervals import Interval, Units, mean_interval, proportion_interval
from memflow.scoring.metric import Metric


def metric_interval(metric: Metric, variant: str, units: Units) -> Interval:
    """Return the mean over independent units with its interval: of a proportion, or of values in a range."""
    if metric.is_proportion(variant):
        return proportion_interval(units)
    return mean_interval(units, *metric.range)
