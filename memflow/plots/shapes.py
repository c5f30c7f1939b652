"""What a picture shows, as plain data: curves, stacked bars, columns. What they are made of is charts.py, or a
benchmark's own; how they look is drawing.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memflow.chat.scripted import LABEL


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a place, such as a checkpoint, and its 95 % interval where there is one."""

    at: float
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
    """Curves over the places `at`, such as checkpoints. `beside` are dashed: bounds that say how good they are.

    `place_names` is empty for places that are numbers.
    """

    title: str
    x: str
    y: str
    at: tuple[float, ...]
    curves: tuple[Curve, ...]
    caption: str
    beside: tuple[Curve, ...] = ()
    place_names: tuple[str, ...] = ()

    @property
    def label(self) -> str | None:
        """What has to be said on the picture itself; None where language models stand behind all of it."""
        return _label([(curve.name, curve.scripted) for curve in self.curves])


@dataclass(frozen=True, slots=True)
class Panel:
    """The parts of bars, of one assistant say: by part, its value at each place."""

    name: str
    parts: Mapping[str, Mapping[int, float]]
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars over the places `at`, such as checkpoints, in panels, such as assistants.

    `place_names` is empty for places that are numbers; `what` stands behind the parts' names in the legend.
    """

    title: str
    x: str
    y: str
    at: tuple[int, ...]
    panels: tuple[Panel, ...]
    caption: str
    place_names: tuple[str, ...] = ()
    what: str = ""

    @property
    def label(self) -> str | None:
        """As a chart's."""
        return _label([(panel.name, panel.scripted) for panel in self.panels])


@dataclass(frozen=True, slots=True)
class Columns:
    """A column of each curve beside one another, at places that have names: a point at `n` is of `place_names[n]`.

    `beside` are dashed, across the columns of their places. On a `log` scale all values are above 0.
    """

    title: str
    y: str
    place_names: tuple[str, ...]
    curves: tuple[Curve, ...]
    caption: str
    beside: tuple[Curve, ...] = ()
    log: bool = False

    @property
    def label(self) -> str | None:
        """As a chart's."""
        return _label([(curve.name, curve.scripted) for curve in self.curves])


Drawable = Chart | Bars | Columns


def best_first(curves: Iterable[Curve]) -> list[Curve]:
    """The curves, those that are highest on average first."""
    return sorted(curves, key=lambda curve: -sum(point.value for point in curve.points) / len(curve.points))


def _label(drawn: Sequence[tuple[str, bool]]) -> str | None:
    scripted = [name for name, is_scripted in drawn if is_scripted]
    if not scripted:
        return None
    return LABEL if len(scripted) == len(drawn) else f"{LABEL}: {', '.join(scripted)}"


def gaps(points: Sequence[Point], at: Sequence[float]) -> list[tuple[Point, ...]]:
    """The points in stretches without a missing place of `at` between: a line is never drawn over what is not known."""
    if not points:
        return []
    order = {place: number for number, place in enumerate(sorted(at))}
    stretches = [[points[0]]]
    for before, point in pairwise(points):
        if order[point.at] != order[before.at] + 1:
            stretches.append([])
        stretches[-1].append(point)
    return [tuple(stretch) for stretch in stretches]
