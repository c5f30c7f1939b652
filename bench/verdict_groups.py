"""Groups of verdicts in memory, to compare those of sql/queries/verdict_groups.sql with."""

import math
from collections.abc import Iterable
from operator import attrgetter

from memflow.records import Verdict
from memflow.scoring.groups import Group

KEY = ("assistant", "dataset", "category", "metric", "variant", "checkpoint", "episode_id")


def groups_of(verdicts: Iterable[Verdict]) -> list[Group]:
    """Group the verdicts by their identifying columns. Return the groups, sorted by these columns."""
    values: dict[tuple[str | int | None, ...], list[float | None]] = {}
    for row in verdicts:
        values.setdefault(attrgetter(*KEY)(row), []).append(row.value)
    return [
        _group(dict(zip(KEY, key, strict=True)), values[key])
        for key in sorted(values, key=lambda key: ["" if column is None else column for column in key])
    ]


def _group(columns: dict[str, str | int | None], values: list[float | None]) -> Group:
    known = [value for value in values if value is not None]
    return Group(
        **columns,  # type: ignore[arg-type]
        asked=len(values),
        scored=len(known),
        total=math.fsum(known),
        squares=math.fsum(value * value for value in known),
        low=min(known, default=None),
        high=max(known, default=None),
    )
