"""The leaderboard's rows for `show leaderboard`, filtered by columns before rows become Python objects."""

from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from memflow.errors import BadInput
from memflow.records import Score
from memflow.scoring.catalog import EVIDENCE, FAILURES, is_evidence_score, sort_key

if TYPE_CHECKING:
    from resources.lake import Lake

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


class PublishedScores:
    """The rows of the published leaderboard. Raises BadInput if no leaderboard is published.

    The class avoids Arrow's compute functions, because they import pandas.
    """

    def __init__(self, lake: "Lake") -> None:
        if not lake.partitions("score.leaderboard"):
            raise BadInput("the lake contains no leaderboard. Create one with `memflow run --demo`.")
        self._table = lake.arrow("score.leaderboard", "all").combine_chunks()
        columns = (self._table[name].to_pylist() for name in RankedScore._fields)
        self.rows: Sequence[RankedScore] = [*starmap(RankedScore, zip(*columns, strict=True))]

    def read(self, places: Sequence[int]) -> list[Score]:
        """Return the scores in the leaderboard's rows with these numbers."""
        names = self._table.column_names
        columns = [[column[place].as_py() for place in places] for column in self._table.columns]
        return [Score(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]

    def best(self, places: Iterable[int], limit: int) -> list[int]:
        """Return the row numbers of the best scores per domain, metric, variant and slice, at most `limit` of each.

        Evidence scores are those of the best assistants, since one table shows all of them.
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
