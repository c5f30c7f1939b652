"""The result of a metric that cannot score every text."""

from typing import NamedTuple


class MetricResult(NamedTuple):
    """A value, or None and the reason."""

    value: float | None
    reason: str | None = None
