"""The range of every metric, so that values can be checked, and metrics of different ranges set side by side.

Min-max scores over data sets, which are made of the values found, are none of this file's.
"""

import math

UNIT = (0.0, 1.0)
_ROUNDING = 1e-6
_GRADES = (-math.inf, math.inf)
TOKENS = (0.0, math.inf)
_COSINE = (-1.0, 1.0)
_RANGES = {
    "criteria": (1.0, 10.0),
    "integrated": (1.0, 10.0),
    "llm_rating": (1.0, 10.0),
    "quality": (1.0, 5.0),
    "rating": (0.0, 5.0),
    "bertscore": _COSINE,
    "reasoning_bertscore": _COSINE,
    "judgment_bertscore": _COSINE,
    "capacity": TOKENS,
    "cli": _GRADES,
    "fkgl": _GRADES,
    "dcrs": _GRADES,
}


def range_of(metric: str) -> tuple[float, float]:
    """The least and the greatest value of a metric; 0 and 1 unless it is one of the others.

    A name may say in brackets what it was measured with: `bertscore[roberta-base,L10]`.
    """
    return _RANGES.get(metric.partition("[")[0], UNIT)


def within(metric: str, value: float | None) -> bool:
    """Whether a value is one that the metric can have, or none."""
    low, high = range_of(metric)
    return value is None or low - _ROUNDING <= value <= high + _ROUNDING


def share(metric: str, value: float) -> float:
    """How much of its range a value has reached, in [0, 1]; the value itself where the range has no end."""
    low, high = range_of(metric)
    return (value - low) / (high - low) if math.isfinite(high - low) else value
