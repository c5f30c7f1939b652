"""The knee of a curve: the place beyond which what was right is wrong for good, with an interval, or why there is none.

Answers come in groups that are independent of one another (MemBench's trajectories), each a series of values of 0 to 1
over places (tokens). A fall is a step between two levels. It is looked for inside groups alone, each against its own
mean: so that hard questions which are only asked late make no fall, and neither the level of guessing nor a top below 1
matters. The knee is the step that explains most.

Whether there is a fall at all is tested by what is least friendly to it: the steepest step that any place gives, in
standard errors over groups, against the same with the sign of every group drawn at random (ALPHA). Two conditions more
keep small things from being called a knee: LEAST and STAYS. What is measured so, benchmarks say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]

ALPHA = 0.01
"""How often a fall may be found where there is none."""
GROUPS = 8
"""Groups that are needed: the signs of fewer cannot tell a fall from chance at ALPHA."""
LEAST = 0.1
"""The share of the answers that a knee must cost at least."""
STAYS = 0.5
"""The share of the fall that must still be there in the later half of what follows it: else it was not for good."""
EDGE = 0.02
"""The share of all answers that must lie on either side of a knee: a few at the edge tell nothing."""
PLACES = 400
"""Places that are tried, at most."""
DRAWS, FLIPS = 1000, 2000


@dataclass(frozen=True, slots=True)
class Knee:
    """The greatest place at which all is well still. `low` and `high` are a 95 % interval by bootstrap over groups.

    `fall` is what it costs, of 1, and `last` the greatest place there was. Without a `place` there is no knee, and
    `reason` says why.
    """

    place: float | None
    low: float | None = None
    high: float | None = None
    fall: float | None = None
    last: float = 0.0
    reason: str | None = None


@dataclass(frozen=True)
class _Series:
    """All answers: where, how right, and of which group, numbered from 0."""

    at: Array
    value: Array
    group: Numbers
    groups: int

    def counts(self, side: npt.NDArray[np.bool_]) -> Array:
        """How many of the answers on a side each group has."""
        return np.bincount(self.group[side], minlength=self.groups).astype(np.float64)

    def sums(self, side: npt.NDArray[np.bool_]) -> Array:
        """What they sum up to."""
        return np.bincount(self.group[side], self.value[side], self.groups).astype(np.float64)


@dataclass(frozen=True)
class _Steps:
    """The steps that are tried, and for each group and step how the group goes with it.

    `down` sums up how far the answers beyond the step lie below the group's mean; `square` is the sum of squares of the
    step itself, less its mean in the group.
    """

    places: Array
    down: Array
    square: Array

    def depth(self, weights: Array) -> Array:
        """How deep each step is, of 1, for weights of shape (draws, groups)."""
        below = weights @ self.square
        return np.divide(weights @ self.down, below, out=np.zeros_like(below), where=below > 1e-9)

    def best(self, weights: Array) -> Numbers:
        """The step down that explains most, for each draw."""
        return np.asarray(
            (np.maximum(self.depth(weights), 0.0) ** 2 * (weights @ self.square)).argmax(axis=1)
        )

    def steepest(self, signs: Array) -> Array:
        """The deepest step in standard errors over groups, for signs of shape (draws, groups)."""
        error = np.sqrt((self.down**2).sum(axis=0))
        there = error > 1e-9
        if not there.any():
            return np.zeros(len(signs))
        return np.asarray((signs @ self.down[:, there] / error[there]).max(axis=1))


def knee(
    places: Sequence[float],
    values: Sequence[float],
    groups: Sequence[str],
    *,
    name: str,
    unit: str,
    seed: int = 0,
) -> Knee:
    """The knee of `values` over `places`; `groups` says which group each belongs to.

    `name` and `unit` are how reasons call the values and their places. Raises BadInput where the lengths differ.
    """
    if not len(places) == len(values) == len(groups):
        raise BadInput(f"{len(places)} places, {len(values)} values, {len(groups)} groups; give one of each")
    number = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)[1]
    count = len(set(groups))
    series = _Series(np.asarray(places, np.float64), np.asarray(values, np.float64), number, count)
    last = float(series.at.max(initial=0.0))
    if count < GROUPS:
        few = f"it takes {GROUPS} trajectories to tell a fall from chance; there are {count}"
        return Knee(None, last=last, reason=few)
    steps = _steps(series)
    flat = f"{name} does not fall for good within {last:,.0f} {unit}"
    if steps is None:
        return Knee(None, last=last, reason=flat)
    generator = np.random.default_rng(seed)
    every = np.ones((1, count))
    best = int(steps.best(every)[0])
    depth, place = float(steps.depth(every)[0, best]), float(steps.places[best])
    if depth < LEAST:
        return Knee(None, last=last, reason=flat)
    step = f"{flat}: a fall by {depth:.2f} at {place:,.0f}"
    if (chance := _chance(steps, generator)) > ALPHA:
        return Knee(None, last=last, reason=f"{step} may be chance (p = {chance:.2f})")
    if _lasting(series, place) < STAYS * depth:
        return Knee(None, last=last, reason=f"{step} does not last")
    shares = np.full(count, 1 / count)
    drawn = steps.places[steps.best(generator.multinomial(count, shares, size=DRAWS).astype(np.float64))]
    low, high = np.quantile(drawn, [0.025, 0.975])
    # A knee is told as exactly as the places that were tried lie close: the next on either side may be it as well.
    before = steps.places[max(0, int(np.searchsorted(steps.places, low)) - 1)]
    beyond = steps.places[min(len(steps.places) - 1, int(np.searchsorted(steps.places, high, side="right")))]
    return Knee(place, float(before), float(beyond), depth, last)


def _steps(series: _Series) -> _Steps | None:
    """The steps at the places that are tried; None where answers lie at one place alone."""
    places = _tried(series.at)
    if not len(places):
        return None
    every = np.ones(len(series.at), dtype=np.bool_)
    size, total = series.counts(every), series.sums(every)
    down, square = np.empty((series.groups, len(places))), np.empty((series.groups, len(places)))
    for number, place in enumerate(places):
        beyond = series.at > place
        there = series.counts(beyond)
        down[:, number] = there * total / size - series.sums(beyond)
        square[:, number] = there * (size - there) / size
    return _Steps(places, down, square)


def _tried(at: Array) -> Array:
    """Places at which something was asked: where there are too many, some close in number, some close in proportion."""
    there, counts = np.unique(at, return_counts=True)
    up_to = np.cumsum(counts) / max(1, len(at))
    there = there[(up_to >= EDGE) & (up_to <= 1 - EDGE)]
    if len(there) <= PLACES:
        return there
    even = np.linspace(0, len(there) - 1, PLACES // 2).astype(np.intp)
    wide = np.searchsorted(there, np.geomspace(max(1.0, there[0]), there[-1], PLACES // 2))
    return there[np.union1d(even, wide.clip(0, len(there) - 1))]


def _chance(steps: _Steps, generator: np.random.Generator) -> float:
    """How often a step as steep comes about where each group's answers might as well have gone the other way."""
    signs = generator.choice((-1.0, 1.0), size=(FLIPS, len(steps.down)))
    steepest = steps.steepest(np.ones((1, len(steps.down))))[0]
    return float((1 + (steps.steepest(signs) >= steepest - 1e-9).sum()) / (1 + FLIPS))


def _lasting(series: _Series, place: float) -> float:
    """How deep the fall is in the later half of what follows it, in groups that have answers on both sides."""
    before, late = series.at <= place, series.at > np.median(series.at[series.at > place])
    n_before, n_late = series.counts(before), series.counts(late)
    both = (n_before > 0) & (n_late > 0)
    if not both.any():
        return 0.0
    falls = series.sums(before)[both] / n_before[both] - series.sums(late)[both] / n_late[both]
    return float(np.average(falls, weights=1 / (1 / n_before[both] + 1 / n_late[both])))
