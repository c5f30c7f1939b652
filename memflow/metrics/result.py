"""What a metric gives that cannot score every text: a number, or none and why."""

from typing import NamedTuple


class MetricResult(NamedTuple):
    """A number, or None with its reason: never a number that stands for a missing one."""

    value: float | None
    reason: str | None = None
