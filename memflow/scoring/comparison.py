"""Paired comparison of two assistants: values of the same probes, difference, interval and sign-flip test.

memflow/metrics/paired.py has the statistics. comparisons.py compares all assistants of a domain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memflow.metrics.intervals import no_interval
from memflow.metrics.multiple_tests import holm
from memflow.metrics.paired import LEVEL, Differences
from memflow.metrics.power import EpisodesNeeded

NO_PAIRS = "no probe has a value for both"
NOT_FINITE = "the score is not defined for both over these episodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The difference `value_a - value_b` over pairs, with its 95 % interval and p value.

    The values are over the `n` pairs only. `unpaired_a` and `unpaired_b` count probes with a value for only one of the
    two. `low` and `high` are None without an interval, `p` for a single episode, and all values without pairs.
    `reason` states why. `episodes_needed` is the number of episodes of which 80 % of all studies find a difference like
    this one (memflow/metrics/power.py), with its 5 to 95 % range.
    """

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    n: int = 0
    n_episodes: int = 0
    value_a: float | None = None
    value_b: float | None = None
    unpaired_a: int = 0
    unpaired_b: int = 0
    episodes_needed: int | None = None
    episodes_needed_low: int | None = None
    episodes_needed_high: int | None = None
    reason: str | None = None


def paired_difference(
    differences: Differences,
    values: Sequence[float],
    *,
    n: int,
    unpaired: tuple[int, int],
    column: int = 0,
    needed: EpisodesNeeded | None = None,
) -> PairedDifference:
    """Return one column of `differences` as a row. `values` and `unpaired` have one item for a and one for b."""
    difference, low, high, error, p = (_finite(array[column]) for array in differences[:5])
    episodes = int(differences.episodes[column])
    reason = None
    if difference is None:
        reason = NOT_FINITE if n else NO_PAIRS
    elif low is None:
        reason = no_interval(episodes, math.nan if error is None else error)
    value_a, value_b = (_finite(value) for value in values)
    return PairedDifference(
        difference=difference,
        low=low,
        high=high,
        p=p,
        n=n,
        n_episodes=episodes,
        value_a=value_a,
        value_b=value_b,
        unpaired_a=unpaired[0],
        unpaired_b=unpaired[1],
        episodes_needed=needed and needed.value,
        episodes_needed_low=needed and needed.low,
        episodes_needed_high=needed and needed.high,
        reason=reason,
    )


def clip_interval(difference: PairedDifference, span: float) -> PairedDifference:
    """Return a difference with its interval clipped to [-span, span], for a metric whose range has this width."""
    if difference.low is None or difference.high is None:
        return difference
    return replace(difference, low=max(difference.low, -span), high=min(difference.high, span))


def adjust(ps: Sequence[float | None]) -> list[float | None]:
    """Return p values adjusted by Holm's method. A missing p value stays None and is no test."""
    adjusted = iter(holm([p for p in ps if p is not None]))
    return [None if p is None else next(adjusted) for p in ps]


def better(difference: float | None, p_adjusted: float | None, direction: str) -> str | None:
    """Return which of the two is better, `a` or `b`, if the adjusted p value is at most LEVEL; otherwise None."""
    if not difference or p_adjusted is None or p_adjusted > LEVEL or direction == "neither":
        return None
    return "a" if (difference > 0) == (direction == "higher") else "b"


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
