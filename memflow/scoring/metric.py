"""The declaration of a metric: its name, title, direction, range, unit and source.

catalog.py contains the metrics; estimate.py computes a score from values.

An installed package declares a metric in a few lines:

    # my_package/metrics.py
    from memflow.scoring.metric import metric

    @metric("Brevity", "higher", "1 for an answer of at most 20 characters, else 0.", proportion=True)
    def brevity(probe, reply):
        return None if reply.parsed is None else float(len(reply.parsed) <= 20)

    # pyproject.toml of my_package
    [project.entry-points."memflow.metrics"]
    brevity = "my_package.metrics:brevity"

The leaderboard then contains the mean over the probes of every domain. Without a function, `Metric(...)` declares a
metric whose values a benchmark computes.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal, get_args

from memflow.errors import BadSettings
from memflow.records import Probe, Reply

Direction = Literal["higher", "lower", "neither"]
"""Which value is better; `neither` for bounds and other values that rank no assistant."""
Group = Literal["quality", "bound", "failure", "evidence", "change", "efficiency"]
ROUNDING = 1e-6


@dataclass(frozen=True)
class Metric:
    """One metric of the leaderboard. `low` and `high` are its range; None means unbounded."""

    name: str
    title: str
    direction: Direction
    description: str = ""
    _: KW_ONLY
    low: float | None = 0.0
    high: float | None = 1.0
    unit: str = ""
    """Such as `s` or `calls`; empty for a share or another number without a unit."""
    counts: str = "probes"
    """The items whose values it is the mean of."""
    group: Group = "quality"
    primary_for: frozenset[str] = frozenset()
    """The benchmarks whose summary table shows it."""
    source: str = ""
    """The paper and its section."""
    variants: Mapping[str, str] = field(default_factory=dict)
    """The named deviations from the metric, and what each is."""
    proportion: bool = False
    """Whether each value is 0 or 1. It decides how the interval is computed (memflow/metrics/intervals.py)."""
    graded_variants: frozenset[str] = frozenset()
    """The variants of a proportion whose values may lie between 0 and 1."""
    value: Callable[[Probe, Reply], float | None] | None = field(default=None, repr=False)
    """Return the value of a reply, or None without one; only for metrics that no benchmark computes."""

    def __post_init__(self) -> None:
        if not self.name:
            raise BadSettings("a metric has an empty name. Set `name`.")
        if self.direction not in get_args(Direction):
            directions = ", ".join(get_args(Direction))
            raise BadSettings(
                f"metric {self.name!r}: unknown direction {self.direction!r}. Use one of: {directions}."
            )
        low, high = self.range
        if not low < high:
            raise BadSettings(f"metric {self.name!r}: the range {low} to {high} is empty. Set low < high.")
        if self.proportion and (low, high) != (0, 1):
            raise BadSettings(
                f"metric {self.name!r}: a proportion has the range 0 to 1. Leave out `low` and `high`, or `proportion`."
            )

    @property
    def range(self) -> tuple[float, float]:
        """The minimum and the maximum value of the metric; infinite where the range is unbounded."""
        return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)

    def is_proportion(self, variant: str) -> bool:
        """Return whether each value under this variant is 0 or 1, apart from means over several judges."""
        return self.proportion and variant not in self.graded_variants

    def primary_in(self, *benchmarks: str) -> "Metric":
        """Return a copy of the metric that is a primary metric of these benchmarks."""
        return replace(self, primary_for=self.primary_for | set(benchmarks))

    def contains(self, value: float | None) -> bool:
        """Return whether a value is in the metric's range; True for None."""
        low, high = self.range
        return value is None or low - ROUNDING <= value <= high + ROUNDING

    def share(self, value: float) -> float:
        """Return a value rescaled from the metric's range to [0, 1]; unchanged if the range is unbounded."""
        low, high = self.range
        return (value - low) / (high - low) if math.isfinite(high - low) else value

    @property
    def is_bounded(self) -> bool:
        """Whether the range has two ends."""
        return self.low is not None and self.high is not None

    def sort_key(self, value: float | None) -> float:
        """Return a number that sorts values best first and missing values last.

        The number is the same for all values if the metric has no direction.
        """
        if self.direction == "neither":
            return 0.0
        if value is None:
            return math.inf
        return value if self.direction == "lower" else -value


def metric(
    title: str, direction: Direction, description: str = "", **details: Any
) -> Callable[[Callable[[Probe, Reply], float | None]], Metric]:
    """Return a decorator that turns a function of a probe and its reply into a metric with the function's name.

    `details` are further fields of `Metric`.
    """
    return lambda value: Metric(value.__name__, title, direction, description, value=value, **details)
