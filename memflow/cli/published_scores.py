"""The leaderboard's rows for `show leaderboard`, filtered by columns before rows become Python objects."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from memflow.errors import BadInput
from memflow.records import Score
from memflow.scoring.catalog import EVIDENCE, FAILURES, is_evidence_score, sort_key

if TYPE_CHECKING:
    from resources.lake.lake import Lake

TABLE = "score.leaderboard"
RANKING = [each.name for each in (*EVIDENCE, *FAILURES)]
"""The metrics of the attribution by evidence; the first one that was measured ranks the assistants."""


class RankedScore(NamedTuple):
    """The columns of a score that are used to filter and rank scores."""

    domain: str
    assistant: str
    metric: str
    variant: str
    slice: str
    value: float | None


SLICE = RankedScore._fields.index("slice")


class PublishedScores:
    """The rows of the published leaderboard: all rows with `slices`, otherwise the rows over all probes.

    Rows are read in batches, so that only the shown rows become scores. The class avoids Arrow's compute functions,
    because they import pandas. Raises BadInput if no leaderboard is published.
    """

    def __init__(self, lake: "Lake", *, slices: bool) -> None:
        if not lake.partitions(TABLE):
            raise BadInput("the lake contains no leaderboard. Create one with `memflow run --demo`.")
        self._lake = lake
        rows = enumerate(self._values(*RankedScore._fields))
        self.rows: Mapping[int, RankedScore] = {
            place: RankedScore._make(row) for place, row in rows if slices or row[SLICE] == "all"
        }

    def names(self, column: str) -> set[str]:
        """Return the values of a column in all rows."""
        return {value for (value,) in self._values(column)}

    def read(self, places: Iterable[int]) -> list[Score]:
        """Return the scores in the leaderboard's rows with these numbers."""
        wanted, first = {*places}, 0
        found = []
        for batch in self._lake.batches(TABLE, "all"):
            for place in sorted(wanted.intersection(range(first, first + batch.num_rows))):
                [row] = batch.slice(place - first, 1).to_pylist()
                found.append(Score(**row))
            first += batch.num_rows
        return found

    def _values(self, *names: str) -> Iterator[tuple[Any, ...]]:
        for batch in self._lake.batches(TABLE, "all", names):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def best(self, places: Iterable[int], limit: int) -> list[int]:
        """Return the row numbers of the best scores per domain, metric, variant and slice, at most `limit` of each.

        Evidence scores are the scores of the best assistants, since one table shows all metrics.
        """
        groups: dict[tuple[str, ...], list[int]] = {}
        causes: dict[str, dict[str, list[int]]] = {}
        for place in places:
            row = self.rows[place]
            if row.slice == "all" and is_evidence_score(row):
                causes.setdefault(row.domain, {}).setdefault(row.metric, []).append(place)
            else:
                groups.setdefault((row.domain, row.metric, row.variant, row.slice), []).append(place)
        kept = [place for group in groups.values() for place in sorted(group, key=self._rank)[:limit]]
        for by_metric in causes.values():
            first = min(by_metric, key=RANKING.index)
            shown = {self.rows[place].assistant for place in sorted(by_metric[first], key=self._rank)[:limit]}
            kept += [
                place
                for group in by_metric.values()
                for place in group
                if self.rows[place].assistant in shown
            ]
        return sorted(kept)

    def _rank(self, place: int) -> tuple[float, str]:
        row = self.rows[place]
        return sort_key(row.metric, row.value), row.assistant
