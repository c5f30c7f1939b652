"""Leaderboard figures to charts: plain data by checkpoint, with what their captions say. How they look is drawing.py.

A chart takes any curve over checkpoints, so that what is no figure of the leaderboard can be drawn alike.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from memflow.chat.scripted import LABEL
from memflow.errors import BadInput
from memflow.records import Figure

SLICE = re.compile(r"(period|checkpoint|cycle) (\d+)")
CYCLE = "cycle"
"""The slices of an evolution by episode, which are drawn by themselves."""
FAILURES = {
    "write_failure": "write",
    "read_failure": "read",
    "utilisation_failure": "utilisation",
}
"""The failure rates in the order in which they are stacked, and what they are called in a legend."""

NAMES = {
    "accuracy": "Overall accuracy",
    "memory_score": "Memory score",
    "failures": "Failure rates",
    "factual_recall": "Factual recall",
    "cycles": "Overall accuracy",
}
"""What is drawn by default, by metric (`cycles`: the accuracy of each cycle of an evolution), and its title."""
COUNTED = {"factual_recall": "claims"}
"""What a metric's figures rest on, where it is not probes."""

BOUNDS = {"random": "chance", "upper_bound": "upper bound"}
"""Figures that stand beside the accuracy as dashed lines: those that are the same for all memories of a model."""


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a checkpoint, and its 95 % interval where there is one."""

    at: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart. `scripted`: a scripted chat, not a language model, stands behind it."""

    name: str
    points: tuple[Point, ...]
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over the checkpoints `at`. `beside` are dashed: bounds that say how good the curves are."""

    title: str
    x: str
    y: str
    at: tuple[int, ...]
    curves: tuple[Curve, ...]
    caption: str
    beside: tuple[Curve, ...] = ()

    @property
    def label(self) -> str | None:
        """What has to be said on the picture itself; None where language models stand behind all of it."""
        return _label([(curve.name, curve.scripted) for curve in self.curves])


@dataclass(frozen=True, slots=True)
class Panel:
    """The parts of one assistant's bars: by part, its value at each checkpoint."""

    name: str
    parts: Mapping[str, Mapping[int, float]]
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars over the checkpoints `at`, a panel for each assistant."""

    title: str
    x: str
    y: str
    at: tuple[int, ...]
    panels: tuple[Panel, ...]
    caption: str

    @property
    def label(self) -> str | None:
        """As a chart's."""
        return _label([(panel.name, panel.scripted) for panel in self.panels])


def charts(figures: Sequence[Figure], domain: str) -> dict[str, Chart | Bars]:
    """What the paper plots, of one domain, by metric: as far as its figures go over several checkpoints."""
    mine = [figure for figure in figures if figure.domain == domain]
    found: dict[str, Chart | Bars] = {}
    for metric in NAMES:
        if len({figure.slice for figure in _shown(mine, *_drawn(metric))}) > 1:
            found[metric] = chart(mine, domain, metric)
    return found


def chart(figures: Iterable[Figure], domain: str, metric: str) -> Chart | Bars:
    """The chart of one metric, of `failures` or of `cycles`, in a domain: its standard variant by checkpoint.

    Raises BadInput where no figure of the metric has a value at a checkpoint, naming the metrics that do.
    """
    mine = [figure for figure in figures if figure.domain == domain]
    metrics, cycles = _drawn(metric)
    shown = _shown(mine, metrics, cycles)
    if not shown:
        have = sorted({figure.metric for figure in _shown(mine, None)})
        raise BadInput(
            f"{domain} has no figure of {metric} by period; it has {', '.join(have) or 'none of any metric'}"
        )
    kind = _place(shown[0])[0]
    title = f"{NAMES.get(metric, metric.replace('_', ' ').capitalize())} by {kind}, {domain}"
    at = {_place(each)[1] for each in mine if each.metric in metrics and _is_of(each, cycles)}
    caption = _caption(shown, kind, at, drawn=metric != "failures", what=COUNTED.get(metric, "probes"))
    x, places = kind.capitalize(), tuple(sorted(at))
    if metric == "failures":
        return Bars(title, x, "share of questions", places, tuple(_panels(shown)), caption)
    beside = _beside(mine) if metric == "accuracy" else ()
    y = next(iter(metrics)).replace("_", " ")
    return Chart(title, x, y, places, tuple(_curves(shown)), caption, beside)


def _drawn(metric: str) -> tuple[Collection[str], bool]:
    """The metrics that a chart shows, and whether by cycle."""
    if metric == "cycles":
        return ("accuracy",), True
    return (tuple(FAILURES) if metric == "failures" else (metric,)), False


def _is_of(figure: Figure, cycles: bool) -> bool:
    """Whether a figure is of a checkpoint, or of a cycle."""
    place = SLICE.fullmatch(figure.slice)
    return place is not None and (place[1] == CYCLE) == cycles


def _shown(figures: Iterable[Figure], metrics: Iterable[str] | None, cycles: bool = False) -> list[Figure]:
    wanted = None if metrics is None else set(metrics)
    return [
        figure
        for figure in figures
        if (wanted is None or figure.metric in wanted)
        and figure.variant == "standard"
        and figure.value is not None
        and _is_of(figure, cycles)
    ]


def _place(figure: Figure) -> tuple[str, int]:
    kind, number = figure.slice.rsplit(" ", 1)
    return kind, int(number)


def _point(figure: Figure) -> Point:
    return Point(_place(figure)[1], figure.value or 0.0, figure.low, figure.high)


def _curves(figures: Iterable[Figure]) -> list[Curve]:
    """A curve for each assistant, the best on average first."""
    by_assistant: dict[str, list[Figure]] = {}
    for figure in figures:
        by_assistant.setdefault(figure.assistant, []).append(figure)
    curves = [
        Curve(name, tuple(sorted(map(_point, rows), key=lambda point: point.at)), rows[0].scripted)
        for name, rows in by_assistant.items()
    ]
    return sorted(curves, key=lambda curve: -sum(point.value for point in curve.points) / len(curve.points))


def _beside(figures: Sequence[Figure]) -> tuple[Curve, ...]:
    """Chance, and the upper bound of each model."""
    found = []
    models = list(dict.fromkeys(figure.model for figure in figures))
    for metric, name in BOUNDS.items():
        for model in models if metric == "upper_bound" else models[:1]:
            rows = {_place(each)[1]: each for each in _shown(figures, [metric]) if each.model == model}
            said = f"{name} of {model}" if metric == "upper_bound" and len(models) > 1 else name
            points = [Point(at, each.value or 0.0) for at, each in sorted(rows.items())]
            if points:
                found.append(Curve(said, tuple(points)))
    return tuple(found)


def _panels(figures: Iterable[Figure]) -> list[Panel]:
    """A panel for each assistant, the fewest failures first."""
    panels: dict[str, tuple[bool, dict[str, dict[int, float]]]] = {}
    for figure in figures:
        _, parts = panels.setdefault(
            figure.assistant, (figure.scripted, {name: {} for name in FAILURES.values()})
        )
        parts[FAILURES[figure.metric]][_place(figure)[1]] = figure.value or 0.0
    found = [Panel(name, parts, scripted) for name, (scripted, parts) in panels.items()]
    return sorted(found, key=lambda panel: sum(sum(part.values()) for part in panel.parts.values()))


def _caption(figures: Sequence[Figure], kind: str, at: AbstractSet[int], *, drawn: bool, what: str) -> str:
    """On how much the figures rest, what their intervals are (and where they are not drawn, how wide), and at which
    checkpoints there is none."""
    probes, episodes = (_range({each.n for each in figures}), _range({each.n_episodes for each in figures}))
    said = f"{probes} {what} of {episodes} episodes a {kind}"
    widths = [each.high - each.low for each in figures if each.low is not None and each.high is not None]
    if not widths:
        said += "; no interval, which takes two episodes"
    else:
        wide = "" if drawn else f" are at most {max(widths):.2f} wide"
        said += f"; 95 % intervals by bootstrap over episodes{wide}"
    lacking = sorted(at - {_place(each)[1] for each in figures})
    return f"{said}; no figure at {kind} {', '.join(map(str, lacking))}" if lacking else said


def _range(numbers: AbstractSet[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _label(drawn: Sequence[tuple[str, bool]]) -> str | None:
    scripted = [name for name, is_scripted in drawn if is_scripted]
    if not scripted:
        return None
    return LABEL if len(scripted) == len(drawn) else f"{LABEL}: {', '.join(scripted)}"


def gaps(points: Sequence[Point]) -> list[tuple[Point, ...]]:
    """The points in stretches without a missing checkpoint between: a line is never drawn over what is not known."""
    if not points:
        return []
    stretches = [[points[0]]]
    for before, point in pairwise(points):
        if point.at != before.at + 1:
            stretches.append([])
        stretches[-1].append(point)
    return [tuple(stretch) for stretch in stretches]
