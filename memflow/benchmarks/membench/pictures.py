"""What MemBench's tables show, as pictures: accuracy by mechanism, by kind of question and by model, and the seconds of
reads and writes. Plain data; rows are tables.py's. How accuracy falls with what is held is plots.py's.
"""

from collections.abc import Callable, Iterable, Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.kinds import COLUMNS
from memflow.benchmarks.membench.tables import CHANCE, KIND_SLICES, LEVEL_SLICES, TableRow, rows, tabled
from memflow.plots.charts import intervals, resting
from memflow.plots.shapes import Columns, Curve, Point
from memflow.records import Score

TIMES = {"read_time": "read", "write_time": "write"}
"""The figures of seconds, and what they are called in a legend."""
BOUNDS = ("none", "oracle")
"""Memories that take in nothing: no time is shown of them, and by kind they would stand in the way of the others."""


def pictures(figures: Sequence[Score], domain: Domain) -> dict[str, Columns]:
    """What there is to draw of a domain, by name: mechanisms, kinds, models (where several answer), times."""
    if not tabled([domain]):
        return {}
    levels, kinds = rows(figures, [domain], LEVEL_SLICES), rows(figures, [domain], KIND_SLICES)
    over_all = rows(figures, [domain], ["all"])
    found = {
        "mechanisms": _accuracies(
            f"Accuracy by mechanism, {domain.name}", levels, lambda row: row.assistant, _level
        ),
        "kinds": _accuracies(
            f"Accuracy by kind of question, {domain.name}",
            [row for row in kinds if row.memory not in BOUNDS],
            _kind,
            lambda row: row.assistant,
        ),
        "times": _times(f"Seconds of reads and writes, {domain.name}", over_all),
    }
    if len({row.model for row in over_all}) > 1:
        found["models"] = _accuracies(
            f"Accuracy by model, {domain.name}", over_all, lambda row: row.model, lambda row: row.memory
        )
    return {name: columns for name, columns in found.items() if columns is not None}


def pictures_over(figures: Sequence[Score], domains: Iterable[Domain]) -> dict[str, Columns]:
    """What there is to draw over several domains, by name: mechanisms at each level, a column for each domain."""
    there = tabled(domains)
    found = {
        f"{slice_.removeprefix('level ')}_mechanisms": _accuracies(
            f"Accuracy by mechanism, {slice_.removeprefix('level ')} memory",
            rows(figures, there, [slice_]),
            lambda row: row.assistant,
            lambda row: row.domain,
        )
        for slice_ in LEVEL_SLICES
    }
    return {name: columns for name, columns in found.items() if columns is not None}


def _level(row: TableRow) -> str:
    return row.slice.removeprefix("level ")


def _kind(row: TableRow) -> str:
    return COLUMNS[row.slice.removeprefix("category ")]


def _accuracies(
    title: str, every: Sequence[TableRow], tick: Callable[[TableRow], str], curve: Callable[[TableRow], str]
) -> Columns | None:
    """Accuracies of rows: which place each is at, and to which of the columns there it belongs."""
    shown = [row for row in every if row.value("accuracy") is not None]
    if not shown:
        return None
    place_names = list(dict.fromkeys(map(tick, shown)))
    curves = _curves(shown, "accuracy", place_names, tick, curve)
    figures = [row.scores["accuracy"] for row in shown]
    caption = f"{resting(figures, 'questions')} a column; {intervals(figures)}{_lacking(every, shown)}"
    return Columns(
        title, "accuracy", tuple(place_names), curves, caption, _chance(shown, place_names, tick, curve)
    )


def _times(title: str, every: Sequence[TableRow]) -> Columns | None:
    """Seconds of reads and writes, on a log scale; a mean of 0 seconds cannot stand there, and is named."""
    held = [row for row in every if row.memory not in BOUNDS]
    shown = [row for row in held if any(row.value(metric) for metric in TIMES)]
    if not shown:
        return None
    place_names = [row.assistant for row in shown]
    curves = tuple(
        Curve(name, points, any(row.scripted for row in shown))
        for metric, name in TIMES.items()
        if (
            points := tuple(
                _point(at, row.scores[metric]) for at, row in enumerate(shown) if row.value(metric)
            )
        )
    )
    figures = [row.scores[metric] for row in shown for metric in TIMES if row.value(metric)]
    none = [
        f"{name} of {row.assistant}"
        for metric, name in TIMES.items()
        for row in held
        if row.value(metric) == 0
    ]
    caption = f"{resting(figures, 'operations')} a column, means; {intervals(figures)}"
    if none:
        caption += f"; no time at all: {', '.join(none)}"
    caption += _lacking(held, [row for row in held if all(row.reason(metric) is None for metric in TIMES)])
    return Columns(title, "seconds per operation", tuple(place_names), curves, caption, log=True)


def _curves(
    shown: Sequence[TableRow],
    metric: str,
    place_names: Sequence[str],
    tick: Callable[[TableRow], str],
    curve: Callable[[TableRow], str],
) -> tuple[Curve, ...]:
    points: dict[str, list[Point]] = {}
    for row in sorted(shown, key=lambda row: place_names.index(tick(row))):
        points.setdefault(curve(row), []).append(_point(place_names.index(tick(row)), row.scores[metric]))
    scripted = {curve(row) for row in shown if row.scripted}
    order = dict.fromkeys(map(curve, shown))  # as in the tables: none first, oracle last
    return tuple(Curve(name, tuple(points[name]), name in scripted) for name in order)


def _chance(
    shown: Sequence[TableRow],
    place_names: Sequence[str],
    tick: Callable[[TableRow], str],
    curve: Callable[[TableRow], str],
) -> tuple[Curve, ...]:
    """Chance at each place, where it is the same for all columns there; of each column's name otherwise."""
    there = [row for row in shown if row.value(CHANCE) is not None]
    at = {(place_names.index(tick(row)), row.value(CHANCE) or 0.0) for row in there}
    if len({place for place, _ in at}) == len(at):
        return (Curve("chance", tuple(Point(*each) for each in sorted(at))),) if at else ()
    found = _curves(there, CHANCE, place_names, tick, curve)
    return tuple(Curve(f"chance, {each.name}", each.points) for each in found)


def _point(at: float, figure: Score) -> Point:
    return Point(at, figure.value or 0.0, figure.low, figure.high)


def _lacking(every: Sequence[TableRow], shown: Sequence[TableRow]) -> str:
    lacking = len(every) - len(shown)
    return f"; {lacking} without a figure: see `memflow show mechanisms`" if lacking else ""
