"""The result of a metric that cannot score every text."""

from typing import NamedTuple


class MetricResult(NamedTuple):
    """The value of a metric, or None with the reason why there is no value."""

    value: float | None
    reason: str | None = None
