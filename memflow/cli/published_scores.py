"""The leaderboard's rows for `show leaderboard`: filtered, and cut to the best of each group."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from memflow.errors import BadInput
from memflow.scoring.catalog import EVIDENCE, FAILURES, is_evidence_score, sort_key

if TYPE_CHECKING:
    from memflow.records import Score
    from resources.lake.lake import Lake

TABLE = "score.leaderboard"
RANKING = [each.name for each in (*EVIDENCE, *FAILURES)]
"""The metrics of the attribution by evidence; the first one that was measured ranks the assistants."""


def published_scores(lake: "Lake", *, slices: bool) -> tuple[list["Score"], list["Score"]]:
    """Return all rows of the published leaderboard, and those to show: all with `slices`, else those over all probes.

    Raises BadInput if no leaderboard is published.
    """
    if not lake.partitions(TABLE):
        raise BadInput("the lake contains no leaderboard. Create one with `memflow run --demo`.")
    rows: list[Score] = lake.read(TABLE, "all")
    return rows, [row for row in rows if slices or row.slice == "all"]


def best(scores: Sequence["Score"], limit: int) -> list["Score"]:
    """Return the best scores of each domain, metric, variant and slice in stored order; 0 is all.

    Evidence scores are those of the best assistants, since one table shows all of their metrics.
    """
    if not limit:
        return list(scores)
    ranked = _by(scores, lambda score: (score.domain, score.metric, score.variant, score.slice))
    shown: set[int] = set()
    evidence: list[Score] = []
    for group in ranked:
        if group[0].slice == "all" and is_evidence_score(group[0]):
            evidence += group
        else:
            shown.update(map(id, group[:limit]))
    for of_domain in _by(evidence, lambda score: score.domain):
        first = min((score.metric for score in of_domain), key=RANKING.index)
        names = [score.assistant for score in of_domain if score.metric == first][:limit]
        shown.update(id(score) for score in of_domain if score.assistant in names)
    return [score for score in scores if id(score) in shown]


def _by(scores: Iterable["Score"], key: Callable[["Score"], object]) -> list[list["Score"]]:
    """Return the scores in groups, each with the best first; scores with equal values by assistant."""
    groups: dict[object, list[Score]] = {}
    for score in scores:
        groups.setdefault(key(score), []).append(score)
    return [
        sorted(group, key=lambda score: (sort_key(score.metric, score.value), score.assistant))
        for group in groups.values()
    ]
