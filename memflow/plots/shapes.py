"""The content of charts as plain data: curves and stacked bars.

charts.py and the benchmarks build these objects; drawing.py draws them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a position `at`, such as a checkpoint, with its 95 % interval if known."""

    at: float
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line of a chart. `label` is the label of the values (memflow/labels.py), such as of the scripted chat."""

    name: str
    points: tuple[Point, ...]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A line chart: curves over the x positions `at`, such as checkpoints, and dashed reference curves in `beside`."""

    title: str
    x: str
    y: str
    at: tuple[float, ...]
    curves: tuple[Curve, ...]
    caption: str
    beside: tuple[Curve, ...] = ()

    @property
    def label(self) -> str | None:
        """The labels of the drawn values, with names unless all values have the same label; None without labels."""
        return _label(self.curves)


@dataclass(frozen=True, slots=True)
class Panel:
    """The stacked bars of one assistant or model: the height of each part of a bar, by position."""

    name: str
    parts: Mapping[str, dict[int, float]]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """A chart of stacked bars over the x positions `at`, such as checkpoints, in one panel per assistant or model.

    In the legend, `what` follows the name of each part.
    """

    title: str
    x: str
    y: str
    at: tuple[int, ...]
    panels: tuple[Panel, ...]
    caption: str
    what: str = ""

    @property
    def label(self) -> str | None:
        """The labels of the drawn values, with names unless all values have the same label; None without labels."""
        return _label(self.panels)


Drawable = Chart | Bars


def best_first(curves: Iterable[Curve]) -> list[Curve]:
    """Return the curves in descending order of the average value."""
    return sorted(curves, key=lambda curve: -sum(point.value for point in curve.points) / len(curve.points))


def _label(drawn: Sequence[Curve | Panel]) -> str | None:
    labels = []
    for label in dict.fromkeys(shape.label for shape in drawn if shape.label):
        names = [shape.name for shape in drawn if shape.label == label]
        labels.append(label if len(names) == len(drawn) else f"{label}: {', '.join(names)}")
    return "; ".join(labels) or None


def gaps(points: Sequence[Point], at: Sequence[float]) -> list[tuple[Point, ...]]:
    """Return the points in runs without gaps: a run ends where the point at a position of `at` is missing.

    A line is drawn only within a run, so that no line crosses a missing value.
    """
    if not points:
        return []
    order = {place: number for number, place in enumerate(sorted(at))}
    stretches = [[points[0]]]
    for before, point in pairwise(points):
        if order[point.at] != order[before.at] + 1:
            stretches.append([])
        stretches[-1].append(point)
    return [tuple(stretch) for stretch in stretches]
