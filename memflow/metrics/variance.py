"""Variance components of repeated evaluations by expected mean squares.

A value is the sum of independent random effects: episode, question in episode, play (repeat of an episode's playing),
answer, judging. Each mean square has a known expectation, so differences of mean squares estimate the components
(Brennan, Generalizability Theory, 2001, chapters 3 and 7; Miller, Adding Error Bars to Evals, arXiv 2411.00640). The
degrees of freedom of a difference are Satterthwaite's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.metrics.chi_square import Deviation, deviation, spread

Array = npt.NDArray[np.float64]
UNMEASURED = {
    "episodes": "needs two episodes",
    "questions": "needs an episode with two questions",
    "play": "needs repeats of runs",
    "answers": "needs repeats of answers or runs",
    "judge": "needs repeats of the judge",
}
"""The components in order, and what each needs to be measured."""
NO_JUDGE = "no judge scores this metric"


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


Term = tuple[float, _MeanSquare | None]
"""A factor and the mean square that it multiplies, if there is one."""


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
    """Return the variance components, pooled over assistants: episodes, questions, play, answers, judge.

    `judged` states whether a judge gives the values; otherwise judging has no variance to measure.
    If the repeats cannot separate a component, it has no `deviation`, and its variance is in another one, whose `note`
    names it. A negative estimate becomes 0, with a note. Without questions, no component is measured.
    """
    sums = _Sums()
    for assistant in assistants:
        if assistant.values.size:
            _add(sums, assistant)
    found = sums.of
    questions, play, residual = (found.get(name) for name in ("questions", "play", "residual"))
    judge = found.get("judge") if judged else None
    within = residual or judge
    per_repeat, n0, items_per_episode = (
        sums.number(name) if sums.numbers else 1.0 for name in ("per_repeat", "n0", "items_per_episode")
    )
    # E[episodes] - E[questions] is n0 (episodes + per_repeat x play), E[play] - E[within] is items_per_episode x play.
    of_play = per_repeat * n0 / items_per_episode
    inner = (-1.0, questions) if questions else (0.0 if play else -per_repeat, within)
    terms: dict[str, list[Term]] = {
        "episodes": [
            (1.0, found.get("episodes")),
            inner,
            (-of_play, play),
            (of_play if play else 0.0, within),
        ],
        "questions": [(1.0, questions), (-per_repeat, within)],
        "play": [(1.0, play), (-1.0, within)],
        "answers": [(1.0, residual), (-1.0, judge)],
        "judge": [(1.0, judge)],
    }
    of_judge = ["judge"] if judged and judge is None else []
    of_answers = ["answers", *of_judge] if residual is None else []
    contained = {
        "episodes": [
            *([] if questions else ["questions"]),
            *([] if play else ["play"]),
            *([] if play or questions else of_answers),
        ],
        "questions": of_answers,
        "play": of_answers,
        "answers": of_judge,
        "judge": [],
    }
    divisors = {"episodes": n0, "play": items_per_episode}
    rows = [
        _component(name, terms[name], contained[name], divisor=divisors.get(name, 1.0)) for name in UNMEASURED
    ]
    if not judged:
        rows[-1] = Component("judge", None, None, NO_JUDGE)
    return [_with_share(row, sums) for row in rows]


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
    left = spread(values)
    if repeats > 1 and assistant.is_run:
        played = np.stack([np.bincount(of, weights=row) / sizes for row in left])
        sums.add("play", float((sizes * played**2).sum()), episodes * (repeats - 1))
        sums.add("residual", _squares(left - played[:, of]), (items - episodes) * (repeats - 1))
    elif repeats > 1:
        sums.add("residual", _squares(left), items * (repeats - 1))
    if assistant.judgings is not None and len(assistant.judgings) > 1:
        sums.add("judge", _squares(spread(assistant.judgings)), items * (len(assistant.judgings) - 1))
    concentration = float((sizes**2).sum()) / items
    for name, number in {
        "per_repeat": 1 / repeats,
        "items": items,
        "items_per_episode": items / episodes,
        "concentration": concentration,
        "n0": (items - concentration) / (episodes - 1) if episodes > 1 else 1.0,
    }.items():
        sums.numbers.setdefault(name, []).append(float(number))


def _squares(values: Array) -> float:
    return float((values**2).sum())


def _component(
    name: str, terms: Sequence[Term], contained: Sequence[str], *, divisor: float = 1.0
) -> Component:
    """Return the component that a sum of mean squares estimates, divided by `divisor`.

    Without the first mean square, it is not measured; other missing ones are left out.
    """
    if terms[0][1] is None:
        return Component(name, None, None, UNMEASURED[name])
    note = f"contains {', '.join(contained)}" if contained else ""
    known = [(factor, square) for factor, square in terms if square is not None and factor]
    variance = sum(factor * square.value for factor, square in known)
    if variance < 0:
        note = ", ".join(filter(None, [note, "estimate below 0"]))
        return Component(name, Deviation(0.0, None, None, 0.0), None, note)
    squared = sum((factor * square.value) ** 2 / square.degrees for factor, square in known)
    degrees = variance**2 / squared if squared else known[0][1].degrees
    return Component(name, deviation(variance / divisor, degrees), None, note)


def _with_share(component: Component, sums: _Sums) -> Component:
    """Return a component with its part of the variance of a score."""
    if component.deviation is None:
        return component
    variance = component.deviation.value**2
    if component.name in ("episodes", "play"):
        variance *= sums.number("concentration")
    return component._replace(of_score=variance / sums.number("items"))
