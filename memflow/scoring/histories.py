"""What the leaderboard says of answers over checkpoints: a history for each assistant, as CoMem's tables have it.

Accuracy is that of the questions with an answer at every checkpoint, so that a history adds up: accuracy is the start
and what was learnt up to then, less what is forgotten. How figures are made is continual.py; how they are drawn,
plots/checkpoints.py; what CoMem's paper published, benchmarks/comem/reference.py.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.records import Score
from memflow.scoring.continual import ACCURACY as ACCURATE
from memflow.scoring.continual import COMPLETE, FORGETTING, GUESS, OVER_ALL

START = (GUESS, COMPLETE)
"""The accuracy with which histories begin, before anything was told."""
ACCURACY = (ACCURATE, COMPLETE)
LEARNT, BACK = "forward_transfer", "backward_transfer"
FLOORS = {"constant": "constant answer", "random": "chance"}
"""What accuracy is to be read beside, and what it is called; the guess is the start."""

_SLICE = re.compile(r"(?:checkpoint|period) (\d+)")
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class History:
    """One assistant's figures in one domain, by metric, variant and checkpoint; None is over all of them."""

    domain: str
    assistant: str
    memory: str
    model: str
    figures: Mapping[tuple[str, str, int | None], Score]

    @property
    def told(self) -> tuple[int, ...]:
        """The checkpoints at which something was told: those at which anything can be forgotten."""
        return tuple(sorted(at for metric, _, at in self.figures if metric == FORGETTING and at is not None))

    @property
    def scripted(self) -> bool:
        return any(figure.scripted for figure in self.figures.values())

    def accuracy(self, at: int | None) -> Score | None:
        """The accuracy at a checkpoint, or with which the history begins (None)."""
        return self.figures.get((*START, None) if at is None else (*ACCURACY, at))

    def figure(self, metric: str, at: int | None = None) -> Score | None:
        """The figure of a metric at a checkpoint, or over all."""
        return self.figures.get((metric, "standard", at))

    def floor(self, metric: str, at: int | None) -> float | None:
        """What one of FLOORS comes to at a checkpoint; for the start, at the checkpoint before the first."""
        place = self.told[0] - 1 if at is None else at
        figure = self.figure(metric, place)
        return None if figure is None else figure.value

    def at_floor(self, at: int | None) -> bool:
        """Whether the interval of an accuracy reaches down to a floor, or to the start: it may be guessing."""
        figure, start = self.accuracy(at), self.accuracy(None)
        floors = [self.floor(metric, at) for metric in FLOORS]
        if at is not None and start is not None:
            floors.append(start.value)
        held = [floor for floor in floors if floor is not None]
        return figure is not None and figure.low is not None and bool(held) and figure.low <= max(held)

    def plain(self) -> list[dict[str, Any]]:
        """A row for each figure that tables show: what a program reads."""
        shown = [
            *(("accuracy", at, self.accuracy(at)) for at in (None, *self.told)),
            *(
                (metric, at, self.figure(metric, at))
                for metric in (FORGETTING, LEARNT, BACK)
                for at in self.told
            ),
            *((metric, None, self.figure(metric)) for metric in OVER_ALL),
            *((metric, at, self.figure(metric, at)) for metric in FLOORS for at in self.told),
        ]
        return [self._row(metric, at, figure) for metric, at, figure in shown if figure is not None]

    def _row(self, metric: str, at: int | None, figure: Score) -> dict[str, Any]:
        start = "start" if metric == "accuracy" and at is None else None
        return {
            "domain": self.domain,
            "assistant": self.assistant,
            "memory": self.memory,
            "model": self.model,
            "scripted": figure.scripted,
            "metric": metric,
            "checkpoint": start or ("all" if at is None else str(at)),
            "value": figure.value,
            "low": figure.low,
            "high": figure.high,
            "n": figure.n,
            "episodes": figure.n_episodes,
            "coverage": figure.coverage,
            "reason": figure.reason,
        }


def histories(figures: Iterable[Score], order: Callable[[str], Any] = str) -> dict[str, list[History]]:
    """By domain, the histories of its assistants: model by model, `none` first, `oracle` last, the others by `order`.

    Assistants and domains of which nothing is followed over checkpoints are left out.
    """
    held: dict[tuple[str, str], list[Score]] = {}
    for figure in figures:
        held.setdefault((figure.domain, figure.assistant), []).append(figure)
    found: dict[str, list[History]] = {}
    for (domain, assistant), mine in held.items():
        history = History(domain, assistant, mine[0].memory, mine[0].model, _by_checkpoint(mine))
        if history.told:
            found.setdefault(domain, []).append(history)

    def place(history: History) -> tuple[str, int, Any, str]:
        bound = {"none": 0, "oracle": 2}.get(history.memory, 1)
        return history.model, bound, order(history.memory), history.assistant

    return {domain: sorted(each, key=place) for domain, each in found.items()}


def _by_checkpoint(figures: Sequence[Score]) -> dict[tuple[str, str, int | None], Score]:
    """Figures of one checkpoint, and over all; those of categories and data sets are left out."""
    found: dict[tuple[str, str, int | None], Score] = {}
    for figure in figures:
        place = _SLICE.fullmatch(figure.slice)
        if place is not None:
            found[figure.metric, figure.variant, int(place[1])] = figure
        elif figure.slice == "all":
            found[figure.metric, figure.variant, None] = figure
    return found
