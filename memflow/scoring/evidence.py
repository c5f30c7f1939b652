"""Evidence scores: recall, precision and failures, for every memory and every benchmark.

attribution.py attributes the loss of each probe; estimate.py computes a score from the attributions.
"""

from collections.abc import Callable, Mapping, Sequence

from memflow.records import BY_EVIDENCE, RECALL_AT_10, FailureAttribution, Score
from memflow.scoring.attribution import NO_EVIDENCE
from memflow.scoring.catalog import EVIDENCE, FAILURES
from memflow.scoring.estimate import MetricContext, value_score

CHECKPOINTS = 30
"""Up to so many checkpoints have slices: more are steps of episodes, and have none in common."""

Value = Callable[[FailureAttribution], float | None]
_VALUES: Mapping[str, Value] = {
    "evidence_recall": lambda row: _ratio(row.recalled, row.evidence),
    "evidence_precision": lambda row: _ratio(row.relevant, row.entries),
    RECALL_AT_10: lambda row: _ratio(row.recalled_at_10, row.evidence),
    "write_failure": lambda row: row.write,
    "read_failure": lambda row: row.read,
    "utilization_failure": lambda row: row.utilization,
}
"""The value of a metric for one probe; None where it has none."""


def evidence_scores(
    rows: Sequence[FailureAttribution],
    context: MetricContext,
    slices: Mapping[str, frozenset[str]] | None = None,
) -> list[Score]:
    """Return the evidence scores over all attributions, by checkpoint, by category, and for each of `slices`."""
    rows_of_slice: dict[str, Sequence[FailureAttribution]] = {"all": rows}
    checkpoints = sorted({row.checkpoint for row in rows})
    if 1 < len(checkpoints) <= CHECKPOINTS:
        rows_of_slice |= {
            f"checkpoint {checkpoint}": [row for row in rows if row.checkpoint == checkpoint]
            for checkpoint in checkpoints
        }
    for category in sorted({row.category for row in rows if row.category is not None}):
        rows_of_slice[f"category {category}"] = [row for row in rows if row.category == category]
    for name, probes in (slices or {}).items():
        rows_of_slice[name] = [row for row in rows if row.probe_id in probes]
    metrics = [
        *((metric, "standard") for metric in EVIDENCE),
        *((metric, BY_EVIDENCE) for metric in FAILURES),
    ]
    return [
        _score(metric.name, variant, name, slice_rows, context)
        for name, slice_rows in rows_of_slice.items()
        for metric, variant in metrics
    ]


def _score(
    metric: str, variant: str, name: str, rows: Sequence[FailureAttribution], context: MetricContext
) -> Score:
    """Return one score of a slice, with the reason for a missing value."""
    value = _VALUES[metric]
    traceable = [row for row in rows if row.reason != NO_EVIDENCE]
    absence = "no probe here has evidence to follow"
    if traceable and metric == "evidence_precision":  # undefined where nothing was recalled
        traceable = [row for row in traceable if row.entries != 0]
        absence = "nothing was recalled for the probes with evidence"
    values = [(row.episode_id, share) for row in traceable if (share := value(row)) is not None]
    reason = None
    if not traceable:
        reason = absence
    elif metric == RECALL_AT_10 and not values and any(row.recalled is not None for row in traceable):
        reason = f"{context.memory} does not rank what it recalls, so it has no ten best entries"
    elif not values:
        reason = next((row.reason for row in traceable if value(row) is None), None)
    return value_score(
        context, metric, values, len(traceable), slice_name=name, variant=variant, reason=reason
    )


def _ratio(part: int | None, total: int | None) -> float | None:
    """Return part / whole; None if one is unknown, or if `total` is 0."""
    return None if part is None or not total else part / total
