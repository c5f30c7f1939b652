"""Scores of how answers to the same questions change over checkpoints, for every benchmark with checkpoints.

memflow/metrics/continual.py defines forgetting, transfer and stability (CoMem, section 3.3). The history of a question
consists of a no-context answer (to the probe with `Probe.opens`, or else by the memory `none`) and one answer per
checkpoint. At every checkpoint, accuracy = no-context accuracy + sum of forward transfer - forgetting.
sql/queries/continual.sql sums the histories of answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memflow.metrics.intervals import Units
from memflow.records import Score
from memflow.scoring.catalog import find_metric
from memflow.scoring.estimate import MetricContext, Sample, estimate
from memflow.scoring.intervals import metric_interval

COMPLETE = "complete"
"""The variant of an accuracy of the questions with an answer at every checkpoint."""
ACCURACY, GUESS = "accuracy", "guess"
FORGETTING = "forgetting"
OVER_ALL = ("all_correct", "all_wrong", "flip_rate")
"""Metrics with one score over all those checkpoints."""
NO_NONE = (
    "the memory none, with which the histories begin, has no scores with this model, or is faulty; run it"
)
ONE_CHECKPOINT = "there is only one checkpoint, so no answer can change"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSums:
    """Sums of a measure's values at a checkpoint, over an assistant's questions in an episode.

    `complete` of the `questions` have an answer at every checkpoint; only their values count. `total` is the sum,
    `squares` the sum of squares, `low` and `high` the extremes. If `borrowed`, the no-context answers are those of the
    memory `none`.
    """

    assistant: str
    episode_id: str
    measure: str
    checkpoint: int
    borrowed: bool
    questions: int
    complete: int
    total: float
    squares: float
    low: float | None
    high: float | None


def continual_scores(rows: Sequence[CheckpointSums], context: MetricContext, *, none: bool) -> list[Score]:
    """Return an assistant's scores of change over checkpoints; empty if no question is asked at several checkpoints.

    The `n` of a score counts questions, and its coverage is among all questions, so that the scores of all checkpoints
    are of the same questions. `none` states whether the memory `none` has verdicts in this domain.
    """
    by_measure: dict[tuple[str, int], list[CheckpointSums]] = {}
    questions: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: (row.checkpoint, row.episode_id)):
        by_measure.setdefault((row.measure, row.checkpoint), []).append(row)
        questions[row.episode_id] = max(row.questions, questions.get(row.episode_id, 0))
    total = sum(questions.values())
    scores = [_score(rows_of_measure, total, context, none) for rows_of_measure in by_measure.values()]
    # The forgetting at the last checkpoint is that of the whole domain.
    forgetting = [score for score in scores if score.metric == FORGETTING]
    return [*scores, *(replace(score, slice="all") for score in forgetting[-1:])]


def _score(rows: Sequence[CheckpointSums], question_count: int, context: MetricContext, none: bool) -> Score:
    """Return the score of one measure at one checkpoint. `none` is whether the memory `none` was run."""
    metric, checkpoint = rows[0].measure, rows[0].checkpoint
    complete_rows = [row for row in rows if row.complete]
    sample = Sample(question_count, sum(row.complete for row in rows), len(complete_rows))
    reason = NO_NONE if rows[0].borrowed and not none else sample.shortage("questions")
    if reason is None and all(row.low is None for row in complete_rows):
        reason = ONE_CHECKPOINT

    variant = COMPLETE if metric in (ACCURACY, GUESS) else "standard"
    units = Units.of_sums(
        (row.total, row.complete, row.squares if row.episode_id in context.independent else None)
        for row in complete_rows
    )
    return estimate(
        context,
        metric,
        sample,
        lambda: metric_interval(find_metric(metric), variant, units),
        slice_name="all" if metric in (*OVER_ALL, GUESS) else f"checkpoint {checkpoint}",
        variant=variant,
        reason=reason,
    )
