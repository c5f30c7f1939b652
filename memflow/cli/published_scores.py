"""The leaderboard's rows for `show leaderboard`, filtered and ranked by columns before rows become Python objects."""

from collections.abc import Callable, Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput
from memflow.scoring.catalog import EVIDENCE, FAILURES, is_evidence_score, sort_key

if TYPE_CHECKING:
    import pyarrow as pa

    from memflow.records import Score
    from resources.lake.lake import Lake

TABLE = "score.leaderboard"
RANKING = [each.name for each in (*EVIDENCE, *FAILURES)]
"""The metrics of the attribution by evidence; the first one that was measured ranks the assistants."""

Integers = npt.NDArray[np.integer[Any]]


class ScoreGroup(NamedTuple):
    """What scores have in common that are ranked together."""

    domain: str
    metric: str
    variant: str
    slice: str


Groups = dict[ScoreGroup, Integers]
"""The numbers of the rows in each group."""


class PublishedScores:
    """The rows of the published leaderboard by group: all rows with `slices`, otherwise the rows over all probes.

    Texts are compared by the codes of Arrow's dictionary arrays. Arrow's compute functions are not used, because they
    import pandas. Raises BadInput if no leaderboard is published.
    """

    def __init__(self, lake: "Lake", *, slices: bool) -> None:
        if not lake.partitions(TABLE):
            raise BadInput("the lake contains no leaderboard. Create one with `memflow run --demo`.")
        self._lake = lake
        names = (*ScoreGroup._fields, "assistant")
        batches = list(lake.batches(TABLE, "all", (*names, "value"), encoded=True))
        columns = {name: _merged([batch.column(name) for batch in batches]) for name in names}
        self._texts = {name: texts for name, (texts, _) in columns.items()}
        self._assistants = columns["assistant"][1]
        values = [value for batch in batches for value in batch.column("value").to_pylist()]
        self._values = np.array(values, float)  # a missing value is NaN
        rows = np.arange(len(values))
        if not slices:
            texts, codes = columns["slice"]
            rows = np.flatnonzero(codes == (texts.index("all") if "all" in texts else -1))
        self._groups = self._grouped(rows, [columns[name][1] for name in ScoreGroup._fields])

    def _grouped(self, rows: Integers, codes: Sequence[Integers]) -> Groups:
        """Return the rows of each group in stored order, by the codes of its texts."""
        if not len(rows):
            return {}
        texts = [self._texts[name] for name in ScoreGroup._fields]
        sizes = tuple(map(len, texts))
        of_row = np.ravel_multi_index([column[rows] for column in codes], sizes)
        order = np.argsort(of_row, kind="stable")
        numbers, starts = np.unique(of_row[order], return_index=True)
        parts = zip(*np.unravel_index(numbers, sizes), strict=True)
        names = (ScoreGroup(*(text[at] for text, at in zip(texts, part, strict=True))) for part in parts)
        return dict(zip(names, np.split(rows[order], starts[1:]), strict=True))

    def names(self, column: str) -> set[str]:
        """Return the values of a column in all rows."""
        return {*self._texts[column]}

    def find(self, wanted: Callable[[ScoreGroup], bool], assistants: Sequence[str] | None) -> Groups:
        """Return the wanted groups, with the rows of these assistants only if any are named."""
        found = {group: rows for group, rows in self._groups.items() if wanted(group)}
        if assistants:
            named = [at for at, name in enumerate(self._texts["assistant"]) if name in assistants]
            found = {group: rows[np.isin(self._assistants[rows], named)] for group, rows in found.items()}
        return {group: rows for group, rows in found.items() if len(rows)}

    def best(self, found: Groups, limit: int) -> list[int]:
        """Return the rows of the best scores of each group, at most `limit` of each; 0 is all.

        Evidence scores are the scores of the best assistants, since one table shows all metrics.
        """
        if not limit:
            return sorted(int(row) for rows in found.values() for row in rows)
        causes: dict[str, Groups] = {}
        kept: list[Integers] = []
        for group, rows in found.items():
            if group.slice == "all" and is_evidence_score(group):
                causes.setdefault(group.domain, {})[group] = rows
            else:
                kept.append(self._ranked(group, rows)[:limit])
        for groups in causes.values():
            first = min(groups, key=lambda group: RANKING.index(group.metric))
            shown = self._assistants[self._ranked(first, groups[first])[:limit]]
            kept += [rows[np.isin(self._assistants[rows], shown)] for rows in groups.values()]
        return sorted(int(row) for rows in kept for row in rows)

    def _ranked(self, group: ScoreGroup, rows: Integers) -> Integers:
        """Return the rows of a group, best first; rows with equal values by assistant."""
        values = [None if isnan(value) else value for value in self._values[rows].tolist()]
        keys = [sort_key(group.metric, value) for value in values]
        names = [self._texts["assistant"][at] for at in self._assistants[rows]]
        order = sorted(range(len(rows)), key=lambda at: (keys[at], names[at]))
        return rows[order]

    def read(self, rows: Iterable[int]) -> list["Score"]:
        """Return the scores in the leaderboard's rows with these numbers."""
        return self._lake.rows_at(TABLE, "all", {*rows})


def _merged(arrays: Sequence["pa.DictionaryArray"]) -> tuple[list[str], Integers]:
    """Return the different texts of dictionary arrays, and for each text its number among them."""
    texts: dict[str, int] = {}
    codes = [np.empty(0, np.int32)]
    for array in arrays:
        numbers = [texts.setdefault(text, len(texts)) for text in array.dictionary.to_pylist()]
        stored = np.frombuffer(array.indices.buffers()[1], np.int32, len(array), 4 * array.offset)
        codes.append(np.array(numbers, np.int32)[stored])
    return [*texts], np.concatenate(codes)
