"""Variance components of repeated evaluations by expected mean squares, and chi-square intervals of deviations.

A value is the sum of independent random effects: episode, question in episode, play (repeat of an episode's playing),
answer, judging. Each mean square has a known expectation, so differences of mean squares estimate the components
(Brennan, Generalizability Theory, 2001, chapters 3 and 7; Miller, Adding Error Bars to Evals, arXiv 2411.00640). The
degrees of freedom of a difference are Satterthwaite's.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MANY = 300
"""Degrees of freedom above which Wilson and Hilferty's approximation is exact to four digits."""
Z = 1.959963984540054
UNMEASURED = {
    "episodes": "needs two episodes",
    "questions": "needs an episode with two questions",
    "play": "needs repeats of runs",
    "answers": "needs repeats of answers or runs",
    "judge": "needs repeats of the judge",
}
"""The components in order, and what each needs to be measured."""
NO_JUDGE = "no judge scores this metric"


class Deviation(NamedTuple):
    """A standard deviation with its 95 % interval and degrees of freedom. The ends are None without an interval."""

    value: float
    low: float | None
    high: float | None
    degrees: float


class Component(NamedTuple):
    """A component of variance. `deviation` is None if no repeat measures it; `note` states what it contains or lacks.

    `of_score` is its part of the variance of a score of one evaluation, which is a mean over the questions.
    """

    name: str
    deviation: Deviation | None
    of_score: float | None
    note: str = ""


@dataclass(frozen=True)
class RepeatedValues:
    """The values of one assistant by repeat and question, without NaN.

    `values` has shape (repeats, questions), of repeated runs if `is_run`, otherwise of repeated answers. `judgings` has
    shape (judgings, questions): the same answers judged several times; None without such repeats. `episodes` has the
    episode of each question.
    """

    episodes: Sequence[str]
    values: Array
    judgings: Array | None = None
    is_run: bool = False


@dataclass(frozen=True)
class _MeanSquare:
    """A sum of squares over assistants. `degrees` are those of its distribution: see `_add`."""

    squares: float = 0.0
    divisor: float = 0.0
    degrees: float = 0.0

    @property
    def value(self) -> float:
        return self.squares / self.divisor


@dataclass
class _Sums:
    """The mean squares of all assistants, and the means of the numbers in their expectations."""

    of: dict[str, _MeanSquare] = field(default_factory=dict)
    numbers: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, squares: float, divisor: float, *, is_crossed: bool = False) -> None:
        """Add an assistant's sum of squares.

        Assistants answer the same questions, so those of `is_crossed` do not add degrees of freedom to one another.
        """
        if divisor > 0:
            former = self.of.get(name, _MeanSquare())
            degrees = max(former.degrees, divisor) if is_crossed else former.degrees + divisor
            self.of[name] = _MeanSquare(former.squares + squares, former.divisor + divisor, degrees)

    def number(self, name: str) -> float:
        return float(np.mean(self.numbers[name]))


def components(assistants: Iterable[RepeatedValues], *, judged: bool = True) -> list[Component]:
    """Return the components of variance, pooled over assistants, in the order of UNMEASURED.

    `judged` states whether a judge gives the values; otherwise judging has no variance to measure.
    A component that the repeats do not measure has no deviation, and is part of the component before it; a negative
    estimate is 0 with a note. Without questions, no component is measured.
    """
    sums = _Sums()
    runs = False
    for assistant in assistants:
        if assistant.values.size:
            runs |= assistant.is_run
            _add(sums, assistant)
    found = sums.of
    residual, play = found.get("residual"), found.get("play")
    judge = found.get("judge") if judged else None
    repeats, n0 = (sums.number(name) if sums.numbers else 1.0 for name in ("repeats", "n0"))
    rest = "contains play, answers and judge" if residual is None else ""
    rows = [
        _component("episodes", _episode_terms(sums, repeats, runs), rest, divisor=n0),
        _component("questions", [(1.0, found.get("questions")), (-1.0 / repeats, residual)], rest),
        _component("play", [(1.0, play), (-1.0, residual)], divisor=_size(sums, "items_per_episode")),
        _component(
            "answers", [(1.0, residual), (-1.0, judge)], "" if judge or not judged else "contains judge"
        ),
        _component("judge", [(1.0, judge)]) if judged else Component("judge", None, None, NO_JUDGE),
    ]
    return [_with_share(row, sums) for row in rows]


def _episode_terms(sums: _Sums, repeats: float, runs: bool) -> list[tuple[float, _MeanSquare | None]]:
    """Return the terms whose sum has the expectation n0 times the variance of episodes."""
    found = sums.of
    inner = found.get("questions") or found.get("residual")
    terms: list[tuple[float, _MeanSquare | None]] = [(1.0, found.get("episodes")), (-1.0, inner)]
    if runs and (play := found.get("play")) is not None:
        share = _size(sums, "n0") / (_size(sums, "items_per_episode") * repeats)
        terms += [(-share, play), (share, found.get("residual"))]
    return terms


def _size(sums: _Sums, name: str) -> float:
    return sums.number(name) if sums.numbers else 1.0


def _add(sums: _Sums, assistant: RepeatedValues) -> None:
    """Add the sums of squares of one assistant."""
    _, of = np.unique(np.asarray(assistant.episodes), return_inverse=True)
    sizes = np.bincount(of).astype(np.float64)
    values, episodes, items = assistant.values, sizes.size, of.size
    repeats = values.shape[0]
    item_means = values.mean(axis=0)
    episode_means = np.bincount(of, weights=item_means) / sizes
    sums.add("questions", _squares(item_means - episode_means[of]), items - episodes, is_crossed=True)
    sums.add(
        "episodes",
        float((sizes * (episode_means - item_means.mean()) ** 2).sum()),
        episodes - 1,
        is_crossed=True,
    )
    if repeats > 1 and assistant.is_run:
        by_repeat = np.stack([np.bincount(of, weights=row) / sizes for row in values])
        sums.add(
            "play",
            float((sizes * (by_repeat - episode_means) ** 2).sum()),
            episodes * (repeats - 1),
        )
        left = values - item_means - by_repeat[:, of] + episode_means[of]
        sums.add("residual", _squares(left), (items - episodes) * (repeats - 1))
    elif repeats > 1:
        sums.add("residual", _squares(values - item_means), items * (repeats - 1))
    if assistant.judgings is not None and len(assistant.judgings) > 1:
        judgings = assistant.judgings
        sums.add("judge", _squares(judgings - judgings.mean(axis=0)), items * (len(judgings) - 1))
    concentration = float((sizes**2).sum()) / items
    for name, number in {
        "repeats": repeats,
        "items": items,
        "items_per_episode": items / episodes,
        "concentration": concentration,
        "n0": (items - concentration) / (episodes - 1) if episodes > 1 else 1.0,
    }.items():
        sums.numbers.setdefault(name, []).append(float(number))


def _squares(values: Array) -> float:
    return float((values**2).sum())


def _component(
    name: str, terms: Sequence[tuple[float, _MeanSquare | None]], note: str = "", *, divisor: float = 1.0
) -> Component:
    """Return the component that a sum of mean squares estimates, divided by `divisor`.

    Without the first mean square, it is not measured; other missing ones are left out.
    """
    if terms[0][1] is None:
        return Component(name, None, None, UNMEASURED[name])
    known = [(factor, square) for factor, square in terms if square is not None]
    variance = sum(factor * square.value for factor, square in known)
    if variance < 0:
        note = ", ".join(filter(None, [note, "estimate below 0"]))
        return Component(name, Deviation(0.0, None, None, 0.0), None, note)
    spread = sum((factor * square.value) ** 2 / square.degrees for factor, square in known)
    degrees = variance**2 / spread if spread else known[0][1].degrees
    return Component(name, deviation(variance / divisor, degrees), None, note)


def _with_share(component: Component, sums: _Sums) -> Component:
    """Return a component with its part of the variance of a score."""
    if component.deviation is None:
        return component
    variance = component.deviation.value**2
    if component.name in ("episodes", "play"):
        variance *= sums.number("concentration")
    return component._replace(of_score=variance / sums.number("items"))


def deviation(variance: float, degrees: float) -> Deviation:
    """Return the standard deviation of a variance that has a chi-square distribution, with its 95 % interval.

    Below one degree of freedom there is no interval.
    """
    value = math.sqrt(variance)
    if degrees < 1:
        return Deviation(value, None, None, degrees)
    low, high = (value * math.sqrt(degrees / chi_square(share, degrees)) for share in (0.975, 0.025))
    return Deviation(value, low, high, degrees)


def pooled_deviation(groups: Iterable[Sequence[float]]) -> Deviation | None:
    """Return the standard deviation within groups of values, pooled; None if no group has two values."""
    squares, degrees = 0.0, 0
    for group in groups:
        if len(group) > 1:
            squares += _squares(np.asarray(group) - np.mean(group))
            degrees += len(group) - 1
    return deviation(squares / degrees, degrees) if degrees else None


@lru_cache(maxsize=1024)
def chi_square(share: float, degrees: float) -> float:
    """Return the quantile of the chi-square distribution, for 0.025 or 0.975, by bisection to nine digits."""
    if degrees > MANY:
        step = 2 / (9 * degrees)
        return degrees * (1 - step + (Z if share > 0.5 else -Z) * math.sqrt(step)) ** 3
    low, high = 0.0, degrees + 10 * math.sqrt(2 * degrees) + 10
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _chi_square_share(middle, degrees) < share else (low, middle)
    return high


def _chi_square_share(x: float, degrees: float) -> float:
    """Return the probability of a value up to x: the series of the regularized incomplete gamma function."""
    a, half = degrees / 2, x / 2
    term = total = 1 / a
    at = a
    while term > 1e-16 * total:
        at += 1
        term *= half / at
        total += term
    return total * math.exp(a * math.log(half) - half - math.lgamma(a)) if half else 0.0
