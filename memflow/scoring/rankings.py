"""Retrieval without a chat model: recall, precision, nDCG and MRR at several cutoffs, from the rows of score.rankings.

memflow/metrics/ranking.py defines the metrics, memflow/metrics/intervals.py the intervals of means over episodes.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memflow.metrics.ranking import ndcg_at, precision_at, recall_at, reciprocal_rank_at
from memflow.records import ProbeRanking
from memflow.scoring.attribution import NO_EVIDENCE
from memflow.scoring.estimate import Sample, by_episode, value_interval
from memflow.scoring.metric import Metric

CUTOFFS = (1, 3, 5, 10, 20, 50)
METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "recall", "Recall at k", "higher", "The share of the evidence messages that k entries came from."
        ),
        Metric("precision", "Precision at k", "higher", "The share of k entries that came from evidence."),
        Metric("ndcg", "nDCG at k", "higher", "Binary relevance of entries, discount log2(rank + 1)."),
        Metric("mrr", "MRR at k", "higher", "1 / rank of the first entry from evidence; 0 beyond k."),
    )
}
"""The metrics of a ranking, in order."""
OWN = Metric("own_recall", "Recall as configured", "higher", "Recall with the memory's own parameters.")
STORED = Metric("stored", "Stored", "higher", "The share of the evidence messages that an entry came from.")
POSITIONS = ("first third", "middle third", "last third")
"""The slices by the position of the evidence in the history before the question."""


@dataclass(frozen=True, kw_only=True)
class RetrievalScore:
    """The mean of a metric over the probes of a slice, with its 95 % interval. `k` is None for OWN and STORED.

    `n` counts the probes with a value, `episodes` theirs. `reason` states why there is no value, `interval_reason` why
    there is no interval.
    """

    metric: str
    k: int | None
    slice: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int
    episodes: int
    interval_reason: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class AssistantRetrieval:
    """The retrieval of an assistant in a domain. `label` states what is not real in it; None if nothing is.

    `returned` (entries) and `tokens` are the means over the `probes` of what the memory recalls with its own
    parameters, None without probes. `incomplete` states missing data, otherwise None.
    """

    domain: str
    assistant: str
    embedder: str | None
    label: str | None
    incomplete: str | None
    probes: int
    returned: float | None
    tokens: float | None
    scores: Sequence[RetrievalScore] = field(repr=False)

    def score(self, metric: str, k: int | None = None, slice_name: str = "all") -> RetrievalScore | None:
        """Return the score of a metric at a cutoff in a slice; None if there is none."""
        key = (metric, k, slice_name)
        return next((row for row in self.scores if (row.metric, row.k, row.slice) == key), None)


def retrieval_scores(
    rows: Sequence[ProbeRanking], independent: Collection[str] = frozenset(), *, slices: bool = True
) -> list[RetrievalScore]:
    """Return the scores of an assistant over all probes and, with `slices`, in each slice.

    In the episodes in `independent`, each probe is a unit of its own.
    """
    with_evidence = [row for row in rows if row.reason != NO_EVIDENCE]
    scores = []
    for slice_name, slice_rows in (_slices(with_evidence) if slices else {"all": with_evidence}).items():
        scores.append(_score(OWN, None, slice_name, slice_rows, _own, independent))
        scores.append(_score(STORED, None, slice_name, slice_rows, _stored, independent))
        for metric_name, metric in METRICS.items():
            for k in CUTOFFS:
                value_at_k = partial(value_at, metric_name, k)
                scores.append(_score(metric, k, slice_name, slice_rows, value_at_k, independent))
    return scores


def value_at(metric: str, k: int, row: ProbeRanking) -> float | None:
    """Return the value of a metric at a cutoff for one probe; None if the memory was not asked for `k` entries."""
    if row.reason is not None or missing_cutoff_reason(row, k) is not None:
        return None
    if metric == "recall":
        return recall_at(row.found, row.evidence, k)
    if metric == "ndcg":
        # In the ideal ranking, evidence that no entry came from is an entry of its own.
        unstored = row.evidence - (row.stored or 0)
        return ndcg_at(row.relevant, (row.relevant_entries or 0) + unstored, k)
    if metric == "precision":
        return precision_at(row.relevant, k)
    return reciprocal_rank_at(row.relevant, k)


def missing_cutoff_reason(row: ProbeRanking, k: int) -> str | None:
    """Return why a cutoff is not known: the memory does not rank, or returned fewer entries than it may have.

    A memory that returned fewer entries than were requested, or all of its entries, has no others.
    """
    if row.returned is None:
        return "the memory does not rank what it recalls"
    exhausted = row.returned >= (row.entries or 0) or (row.limit is not None and row.returned < row.limit)
    if row.returned >= k or exhausted:
        return None
    return "the memory ranks fewer entries, and has no parameter k to raise"


def separated(results: Sequence[AssistantRetrieval], metric: str, k: int | None) -> list[str]:
    """Return a largest set of assistants whose intervals are pairwise disjoint, best first."""
    intervals: dict[str, tuple[float, float]] = {}
    for row in results:
        score = row.score(metric, k)
        if score is not None and score.low is not None and score.high is not None:
            intervals[row.assistant] = (score.low, score.high)
    # Greedy choice by the lower ends gives the largest set of disjoint intervals.
    by_low_end = sorted(intervals, key=lambda assistant: -intervals[assistant][0])
    separate: list[str] = []
    for assistant in by_low_end:
        if not separate or intervals[assistant][1] < intervals[separate[-1]][0]:
            separate.append(assistant)
    return separate


def _slices(rows: Sequence[ProbeRanking]) -> dict[str, Sequence[ProbeRanking]]:
    """Return all rows, and the rows by question type, by language if there are several, and by evidence position."""
    slices: dict[str, list[ProbeRanking]] = defaultdict(list)
    has_languages = len({row.language for row in rows}) > 1
    for row in rows:
        if row.category is not None:
            slices[f"type {row.category}"].append(row)
        if has_languages:
            slices[f"language {row.language}"].append(row)
        if row.position is not None:
            third = min(2, int(3 * row.position))
            slices[f"evidence in the {POSITIONS[third]}"].append(row)
    # Sorted by name, and then the positions in their order.
    positions = {f"evidence in the {name}": number for number, name in enumerate(POSITIONS, 1)}
    names = sorted(slices, key=lambda name: (positions.get(name, 0), name))
    return {"all": rows, **{name: slices[name] for name in names}}


def _score(
    metric: Metric,
    k: int | None,
    slice_name: str,
    rows: Sequence[ProbeRanking],
    value: Callable[[ProbeRanking], float | None],
    independent: Collection[str],
) -> RetrievalScore:
    """Return the score of the probes of a slice with its interval, or without a value and with the reason."""
    values_by_episode = by_episode(
        (row.episode_id, probe_value) for row in rows if (probe_value := value(row)) is not None
    )
    n = sum(map(len, values_by_episode.values()))
    identity: dict[str, Any] = {
        "metric": metric.name,
        "k": k,
        "slice": slice_name,
        "n": n,
        "episodes": len(values_by_episode),
    }
    if (reason := Sample(len(rows), n, len(values_by_episode)).shortage("probes")) is not None:
        reasons = (row.reason or (missing_cutoff_reason(row, k) if k else None) for row in rows)
        return RetrievalScore(**identity, value=None, reason=next(filter(None, reasons), reason))
    interval = value_interval(metric, "standard", values_by_episode, independent)
    return RetrievalScore(
        **identity,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        interval_reason=interval.reason,
    )


def _own(row: ProbeRanking) -> float | None:
    return None if row.recalled is None else row.recalled / row.evidence


def _stored(row: ProbeRanking) -> float | None:
    return None if row.stored is None else row.stored / row.evidence
