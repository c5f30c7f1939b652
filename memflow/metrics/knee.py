"""The knee of a curve: the position after which accuracy drops permanently, with its 95 % interval.

Answers are grouped into independent series (MemBench's trajectories) of values in [0, 1]. The knee is the step, within
series, that explains most variance. A sign-flip permutation test over series decides whether the step is significant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

ALPHA = 0.01
"""Significance level of the test."""
GROUPS = 8
"""The minimum number of groups: fewer signs cannot reach ALPHA."""
MIN_DEPTH = 0.1
"""The minimum drop in accuracy at a knee."""
MIN_REMAINING_SHARE = 0.5
"""The minimum share of the drop that remains in the later half of the answers after the knee."""
EDGE = 0.02
"""The minimum share of all answers on either side of a knee."""
PLACES = 400
"""The maximum number of places that are tried."""
DRAWS, FLIPS = 1000, 2000


@dataclass(frozen=True, slots=True)
class Knee:
    """The last position before the drop, with a 95 % bootstrap interval over groups.

    `fall` is the drop in accuracy, `last` the largest position of all answers. Without a knee, `place` is None and
    `reason` explains why.
    """

    place: float | None
    low: float | None = None
    high: float | None = None
    fall: float | None = None
    last: float = 0.0
    reason: str | None = None


@dataclass(frozen=True)
class _Series:
    """The position, the value and the group number (from 0) of every answer."""

    at: Array
    value: Array
    group: Numbers
    groups: int

    def counts(self, side: npt.NDArray[np.bool_]) -> Array:
        """Return the number of answers per group among the answers that the mask `side` selects."""
        return np.bincount(self.group[side], minlength=self.groups).astype(np.float64)

    def sums(self, side: npt.NDArray[np.bool_]) -> Array:
        """Return the sum of values per group over the answers that the mask `side` selects."""
        return np.bincount(self.group[side], self.value[side], self.groups).astype(np.float64)


@dataclass(frozen=True)
class _Steps:
    """The candidate positions of the drop, and how well a step at each position fits the values of every group.

    `down` sums how far answers beyond the step are below the group's mean; `square` is the centered sum of squares of
    the step.
    """

    places: Array
    down: Array
    square: Array

    def depth(self, weights: Array) -> Array:
        """Return the drop at each candidate position for group weights of shape (draws, groups)."""
        squares = weights @ self.square
        return np.divide(weights @ self.down, squares, out=np.zeros_like(squares), where=squares > 1e-9)

    def best(self, weights: Array) -> Numbers:
        """Return, for each draw, the index of the downward step that explains most variance."""
        return np.asarray(
            (np.maximum(self.depth(weights), 0.0) ** 2 * (weights @ self.square)).argmax(axis=1)
        )

    def steepest(self, signs: Array) -> Array:
        """Return the largest drop in standard errors per draw, for group signs of shape (draws, groups)."""
        error = np.sqrt((self.down**2).sum(axis=0))
        varies = error > 1e-9
        if not varies.any():
            return np.zeros(len(signs))
        return np.asarray((signs @ self.down[:, varies] / error[varies]).max(axis=1))


def knee(
    places: Sequence[float],
    values: Sequence[float],
    groups: Sequence[str],
    *,
    name: str,
    unit: str,
    seed: int = 0,
) -> Knee:
    """Return the knee of the answers with these positions, values and groups.

    Reasons name the curve `name` and the `unit` of positions. Raises BadInput for different lengths.
    """
    if not len(places) == len(values) == len(groups):
        raise BadInput(
            f"`places`, `values` and `groups` have different lengths: {len(places)}, {len(values)}, "
            f"{len(groups)}. Pass one of each per answer."
        )
    number = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)[1]
    count = len(set(groups))
    series = _Series(np.asarray(places, np.float64), np.asarray(values, np.float64), number, count)
    last = float(series.at.max(initial=0.0))
    if count < GROUPS:
        reason = f"a knee needs at least {GROUPS} trajectories; there are {count}"
        return Knee(None, last=last, reason=reason)
    steps = _steps(series)
    no_drop = f"{name} has no lasting drop within {last:,.0f} {unit}"
    if steps is None:
        return Knee(None, last=last, reason=no_drop)
    generator = np.random.default_rng(seed)
    unit_weights = np.ones((1, count))
    index = int(steps.best(unit_weights)[0])
    depth, position = float(steps.depth(unit_weights)[0, index]), float(steps.places[index])
    if depth < MIN_DEPTH:
        return Knee(None, last=last, reason=no_drop)
    step = f"{no_drop}: a drop by {depth:.2f} at {position:,.0f}"
    if (chance := _chance(steps, generator)) > ALPHA:
        return Knee(None, last=last, reason=f"{step} may be chance (p = {chance:.2f})")
    if _lasting(series, position) < MIN_REMAINING_SHARE * depth:
        return Knee(None, last=last, reason=f"{step} does not last")
    shares = np.full(count, 1 / count)
    bootstrap = steps.places[steps.best(generator.multinomial(count, shares, size=DRAWS).astype(np.float64))]
    low, high = np.quantile(bootstrap, [0.025, 0.975])
    # The positions next to the interval may be the knee, too, since the positions between were not tried.
    start = steps.places[max(0, int(np.searchsorted(steps.places, low)) - 1)]
    end = steps.places[min(len(steps.places) - 1, int(np.searchsorted(steps.places, high, side="right")))]
    return Knee(position, float(start), float(end), depth, last)


def _steps(series: _Series) -> _Steps | None:
    """Return a candidate step per candidate position; None without candidate positions."""
    positions = _candidate_positions(series.at)
    if not len(positions):
        return None
    all_answers = np.ones(len(series.at), dtype=np.bool_)
    size, total = series.counts(all_answers), series.sums(all_answers)
    down, square = np.empty((series.groups, len(positions))), np.empty((series.groups, len(positions)))
    for number, position in enumerate(positions):
        is_later = series.at > position
        later_counts = series.counts(is_later)
        down[:, number] = later_counts * total / size - series.sums(is_later)
        square[:, number] = later_counts * (size - later_counts) / size
    return _Steps(positions, down, square)


def _candidate_positions(answer_positions: Array) -> Array:
    """Return up to PLACES of the positions that have answers, without those close to either end.

    If there are too many positions, half of the result is spaced evenly by rank and half geometrically by value.
    """
    positions, counts = np.unique(answer_positions, return_counts=True)
    cumulative_share = np.cumsum(counts) / max(1, len(answer_positions))
    positions = positions[(cumulative_share >= EDGE) & (cumulative_share <= 1 - EDGE)]
    if len(positions) <= PLACES:
        return positions
    by_rank = np.linspace(0, len(positions) - 1, PLACES // 2).astype(np.intp)
    by_value = np.searchsorted(positions, np.geomspace(max(1.0, positions[0]), positions[-1], PLACES // 2))
    return positions[np.union1d(by_rank, by_value.clip(0, len(positions) - 1))]


def _chance(steps: _Steps, generator: np.random.Generator) -> float:
    """Return the p value of the largest drop in a permutation test that flips the signs of groups at random."""
    signs = generator.choice((-1.0, 1.0), size=(FLIPS, len(steps.down)))
    steepest = steps.steepest(np.ones((1, len(steps.down))))[0]
    return float((1 + (steps.steepest(signs) >= steepest - 1e-9).sum()) / (1 + FLIPS))


def _lasting(series: _Series, position: float) -> float:
    """Return the accuracy up to and including `position` minus that of the later half of the answers after it.

    Only groups with answers in both ranges count.
    """
    is_before, is_late = series.at <= position, series.at > np.median(series.at[series.at > position])
    n_before, n_late = series.counts(is_before), series.counts(is_late)
    has_both = (n_before > 0) & (n_late > 0)
    if not has_both.any():
        return 0.0
    falls = (
        series.sums(is_before)[has_both] / n_before[has_both]
        - series.sums(is_late)[has_both] / n_late[has_both]
    )
    return float(np.average(falls, weights=1 / (1 / n_before[has_both] + 1 / n_late[has_both])))
