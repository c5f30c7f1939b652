"""Charts of accuracy and of answer stability over checkpoints, as plain data.

The accuracy begins with the no-context accuracy. Stability is the share of questions that are answered correctly
always, sometimes or never. charts.py draws forgetting and forward transfer like any other metric.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memflow.labels import score_label
from memflow.plots.charts import intervals, resting
from memflow.plots.shapes import Bars, Chart, Curve, Panel, Point, best_first
from memflow.records import Score
from memflow.scoring.histories import FLOORS, History, histories

START = "before"
"""The name of the place of the no-context accuracy."""
STABILITY = {"all_wrong": "always wrong", "wavering": "wavering", "all_correct": "always right"}
"""The parts of a bar, from below."""


def checkpoint_pictures(
    scores: Iterable[Score], domain: str, order: Callable[[str], Any] = str
) -> dict[str, Chart | Bars]:
    """Return the charts of a domain by name, `checkpoints` and `stability`, without charts that have no data.

    `order` is the sort key of the memories.
    """
    rows = histories([score for score in scores if score.domain == domain], order).get(domain, [])
    found: dict[str, Chart | Bars | None] = {
        "checkpoints": _accuracies(rows, domain),
        "stability": _stability(rows, domain),
    }
    return {name: picture for name, picture in found.items() if picture is not None}


def _accuracies(rows: Sequence[History], domain: str) -> Chart | None:
    """Return the chart of accuracy over checkpoints, from the no-context accuracy on; None without scores."""
    checkpoints = sorted({at for history in rows for at in history.checkpoints})
    places: list[int | None] = [None, *checkpoints]
    curves, scores = [], []
    for history in rows:
        known = [(at, history.accuracy(at)) for at in places]
        points = [
            (Point(_place(at, checkpoints), score.value, score.low, score.high), score)
            for at, score in known
            if score is not None and score.value is not None
        ]
        if points:
            curves.append(Curve(history.assistant, tuple(point for point, _ in points), history.label))
            scores += [score for _, score in points]
    if not curves:
        return None
    at = tuple(_place(each, checkpoints) for each in places)
    caption = f"{resting(scores, 'questions')} with an answer at every checkpoint; {intervals(scores)}"
    if lacking := len(rows) - len(curves):
        caption += f"; {lacking} without scores: see `memflow show checkpoints`"
    title = f"Accuracy over checkpoints, {domain}"
    place_names = (START, *map(str, checkpoints))
    return Chart(
        title,
        "Checkpoint",
        "accuracy",
        at,
        tuple(best_first(curves)),
        caption,
        _floors(rows, checkpoints),
        place_names,
    )


def _place(at: int | None, checkpoints: Sequence[int]) -> float:
    return checkpoints[0] - 1 if at is None else at


def _floors(rows: Sequence[History], checkpoints: Sequence[int]) -> tuple[Curve, ...]:
    """Return the reference curves of the accuracy chart, such as random accuracy: one for each metric in FLOORS.

    A reference curve is equal for all assistants, so the first assistant with values provides it.
    """
    found = []
    for metric, name in FLOORS.items():
        for history in rows:
            known = [(at, history.floor(metric, at)) for at in (None, *checkpoints)]
            points = tuple(Point(_place(at, checkpoints), value) for at, value in known if value is not None)
            if points:
                found.append(Curve(name, points))
                break
    return tuple(found)


def _stability(rows: Sequence[History], domain: str) -> Bars | None:
    """Return the bar chart of answer stability: one panel per model, one bar per memory; None without scores.

    The parts of a bar are the shares of questions answered correctly never, sometimes and always.
    """
    panels, scores, names = [], [], list(dict.fromkeys(history.memory for history in rows))
    for model in dict.fromkeys(history.model for history in rows):
        parts: dict[str, dict[int, float]] = {name: {} for name in STABILITY.values()}
        drawn = []
        for history in rows:
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
            drawn += [right, wrong]
        if any(parts.values()):
            panels.append(Panel(model, parts, score_label(drawn)))
            scores += drawn
    if not panels:
        return None
    caption = (
        f"{resting(scores, 'questions')}, at every checkpoint after the start; "
        f"{intervals(scores, drawn=False)}"
    )
    title = f"Answers over checkpoints, {domain}"
    return Bars(
        title,
        "",
        "share of questions",
        tuple(range(len(names))),
        tuple(panels),
        caption,
        place_names=tuple(names),
    )
