"""Charts of accuracy by memory, question kind and model, and of the seconds that reads and writes take.

tables.py provides the rows. plots.py has the charts of accuracy over tokens.
"""

from collections.abc import Callable, Iterable, Sequence

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.kinds import COLUMNS
from memflow.benchmarks.membench.tables import CHANCE, KIND_SLICES, LEVEL_SLICES, TableRow, rows, tabled
from memflow.labels import score_label
from memflow.memories.bounds import BOUNDS
from memflow.plots.charts import intervals, resting
from memflow.plots.shapes import Columns, Curve, Point
from memflow.records import Score

TIMES = {"read_time": "read", "write_time": "write"}
"""The metrics in seconds, and their names in a legend. Bounds have none."""


def pictures(scores: Sequence[Score], domain: Domain) -> dict[str, Columns]:
    """Return the charts of a domain by name: `mechanisms`, `kinds`, `models` (if there are several) and `times`."""
    if not tabled([domain]):
        return {}
    levels, kinds = rows(scores, [domain], LEVEL_SLICES), rows(scores, [domain], KIND_SLICES)
    over_all = rows(scores, [domain], ["all"])
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


def pictures_over(scores: Sequence[Score], domains: Iterable[Domain]) -> dict[str, Columns]:
    """Return the charts over several domains by name: mechanisms at each level, with one column per domain."""
    with_tables = tabled(domains)
    found = {
        f"{slice_.removeprefix('level ')}_mechanisms": _accuracies(
            f"Accuracy by mechanism, {slice_.removeprefix('level ')} memory",
            rows(scores, with_tables, [slice_]),
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
    title: str,
    rows: Sequence[TableRow],
    position_of: Callable[[TableRow], str],
    curve_of: Callable[[TableRow], str],
) -> Columns | None:
    """Return a column chart of accuracies: a group of columns for each position, or None without accuracies."""
    shown = [row for row in rows if row.value("accuracy") is not None]
    if not shown:
        return None
    positions = list(dict.fromkeys(map(position_of, shown)))
    located = [(positions.index(position_of(row)), curve_of(row), row) for row in shown]
    scores = [row.scores["accuracy"] for row in shown]
    caption = f"{resting(scores, 'questions')} a column; {intervals(scores)}{_lacking(rows, shown)}"
    curves = _curves(located, "accuracy")
    return Columns(title, "accuracy", tuple(positions), curves, caption, _chance(located))


def _times(title: str, every: Sequence[TableRow]) -> Columns | None:
    """Return a chart of the seconds of reads and writes on a log scale. The caption lists means of 0 seconds."""
    timed = [row for row in every if row.memory not in BOUNDS]
    shown = [row for row in timed if any(row.value(metric) for metric in TIMES)]
    if not shown:
        return None
    assistants = tuple(row.assistant for row in shown)
    curves = tuple(
        Curve(name, points, score_label(score for row in shown for score in row.scores.values()))
        for metric, name in TIMES.items()
        if (
            points := tuple(
                _point(at, row.scores[metric]) for at, row in enumerate(shown) if row.value(metric)
            )
        )
    )
    scores = [row.scores[metric] for row in shown for metric in TIMES if row.value(metric)]
    none = [
        f"{name} of {row.assistant}"
        for metric, name in TIMES.items()
        for row in timed
        if row.value(metric) == 0
    ]
    caption = f"{resting(scores, 'operations')} a column, means; {intervals(scores)}"
    if none:
        caption += f"; no time at all: {', '.join(none)}"
    caption += _lacking(timed, [row for row in timed if all(row.reason(metric) is None for metric in TIMES)])
    return Columns(title, "seconds per operation", assistants, curves, caption, log=True)


LocatedRow = tuple[int, str, TableRow]
"""The index of a row's position, the name of its curve, and the row."""


def _curves(located: Sequence[LocatedRow], metric: str) -> tuple[Curve, ...]:
    points: dict[str, list[Point]] = {}
    scores: dict[str, list[Score]] = {}
    for at, name, row in located:
        points.setdefault(name, []).append(_point(at, row.scores[metric]))
        scores.setdefault(name, []).extend(row.scores.values())
    return tuple(
        Curve(name, tuple(sorted(own, key=lambda point: point.at)), score_label(scores[name]))
        for name, own in points.items()
    )


def _chance(located: Sequence[LocatedRow]) -> tuple[Curve, ...]:
    """Return chance accuracy as one curve, or as one curve per column if the columns of a position differ."""
    with_chance = [each for each in located if each[2].value(CHANCE) is not None]
    values = {(at, row.value(CHANCE) or 0.0) for at, _, row in with_chance}
    if not values:
        return ()
    if len({at for at, _ in values}) == len(values):
        return (Curve("chance", tuple(Point(*each) for each in sorted(values))),)
    return tuple(Curve(f"chance, {each.name}", each.points) for each in _curves(with_chance, CHANCE))


def _point(at: float, score: Score) -> Point:
    return Point(at, score.value or 0.0, score.low, score.high)


def _lacking(every: Sequence[TableRow], shown: Sequence[TableRow]) -> str:
    lacking = len(every) - len(shown)
    return f"; {lacking} without a value: see `memflow show mechanisms`" if lacking else ""
