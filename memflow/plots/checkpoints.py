"""What changes over checkpoints, as plain data: accuracy from the guess on, and how many answers are
right throughout, at times, or never. Forgetting and forward transfer are curves like any other: charts.py.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memflow.plots.charts import intervals, resting
from memflow.plots.shapes import Bars, Chart, Curve, Panel, Point, best_first
from memflow.records import Score
from memflow.scoring.histories import FLOORS, History, histories

START = "before"
"""What the place is called at which nothing was told yet."""
STABILITY = {"all_wrong": "always wrong", "wavering": "wavering", "all_correct": "always right"}
"""The parts of a bar, from below."""


def checkpoint_pictures(
    figures: Iterable[Score], domain: str, order: Callable[[str], Any] = str
) -> dict[str, Chart | Bars]:
    """What there is to draw of a domain, by name: `checkpoints`, and `stability` with memories in their order."""
    mine = histories([figure for figure in figures if figure.domain == domain], order).get(domain, [])
    found: dict[str, Chart | Bars | None] = {
        "checkpoints": _accuracies(mine, domain),
        "stability": _stability(mine, domain),
    }
    return {name: picture for name, picture in found.items() if picture is not None}


def _accuracies(mine: Sequence[History], domain: str) -> Chart | None:
    """Accuracy over the checkpoints, beginning with what guessing gets."""
    told = sorted({at for history in mine for at in history.checkpoints})
    places: list[int | None] = [None, *told]
    curves, figures = [], []
    for history in mine:
        held = [(at, history.accuracy(at)) for at in places]
        points = [
            (Point(_place(at, told), figure.value, figure.low, figure.high), figure)
            for at, figure in held
            if figure is not None and figure.value is not None
        ]
        if points:
            curves.append(Curve(history.assistant, tuple(point for point, _ in points), history.scripted))
            figures += [figure for _, figure in points]
    if not curves:
        return None
    at = tuple(_place(each, told) for each in places)
    caption = f"{resting(figures, 'questions')} with an answer at every checkpoint; {intervals(figures)}"
    if lacking := len(mine) - len(curves):
        caption += f"; {lacking} without figures: see `memflow show checkpoints`"
    title = f"Accuracy over checkpoints, {domain}"
    ticks = (START, *map(str, told))
    return Chart(
        title, "Checkpoint", "accuracy", at, tuple(best_first(curves)), caption, _floors(mine, told), ticks
    )


def _place(at: int | None, told: Sequence[int]) -> float:
    return told[0] - 1 if at is None else at


def _floors(mine: Sequence[History], told: Sequence[int]) -> tuple[Curve, ...]:
    """What accuracy is to be read beside: the same for all assistants, so that the first one's will do."""
    found = []
    for metric, name in FLOORS.items():
        for history in mine:
            held = [(at, history.floor(metric, at)) for at in (None, *told)]
            points = tuple(Point(_place(at, told), value) for at, value in held if value is not None)
            if points:
                found.append(Curve(name, points))
                break
    return tuple(found)


def _stability(mine: Sequence[History], domain: str) -> Bars | None:
    """Of each assistant, the shares of questions that are right throughout, at times and never: a panel a model."""
    panels, figures, names = [], [], list(dict.fromkeys(history.memory for history in mine))
    for model in dict.fromkeys(history.model for history in mine):
        parts: dict[str, dict[int, float]] = {name: {} for name in STABILITY.values()}
        scripted = False
        for history in mine:
            right, wrong = history.score("all_correct"), history.score("all_wrong")
            if history.model != model or not (right and wrong):
                continue
            if right.value is None or wrong.value is None:
                continue
            at = names.index(history.memory)
            shares = {"all_correct": right.value, "all_wrong": wrong.value}
            shares["wavering"] = max(0.0, 1 - sum(shares.values()))
            for metric, name in STABILITY.items():
                parts[name][at] = shares[metric]
            figures += [right, wrong]
            scripted = scripted or history.scripted
        if any(parts.values()):
            panels.append(Panel(model, parts, scripted))
    if not panels:
        return None
    caption = (
        f"{resting(figures, 'questions')}, at every checkpoint at which something was told; "
        f"{intervals(figures, drawn=False)}"
    )
    title = f"Answers over checkpoints, {domain}"
    return Bars(
        title, "", "share of questions", tuple(range(len(names))), tuple(panels), caption, ticks=tuple(names)
    )
