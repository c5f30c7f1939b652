"""How the answers to the same questions change over checkpoints -> figures, for every benchmark that has checkpoints.

Forgetting, forward and backward transfer, stability (CoMem, section 3.3): what each is, metrics/continual.py. Beside
them stands the accuracy of the same questions, those with an answer at every checkpoint (variant `complete`), and
`guess`, the accuracy with which their histories begin: accuracy is what was guessed and learnt less what was forgotten.

Histories begin with what is asked before anything was told or learnt (`Probe.opens`). A benchmark that asks nothing
then begins with what the memory `none` answers at its first checkpoint under the same chat model: without it there are
no figures, so that all assistants of a comparison are measured alike.

An answer is worth what its own metric says of it, as a share of the metric's range. Histories are sql/views/score, and
what these rows are added up from is sql/queries/continual.sql.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memflow.metrics.intervals import Interval, mean_interval
from memflow.records import Score
from memflow.scoring.comparability import COVERAGE
from memflow.scoring.groups import Group, interval

COMPLETE = "complete"
"""The variant of an accuracy of the questions with an answer at every checkpoint."""
ACCURACY, GUESS = "accuracy", "guess"
FORGETTING = "forgetting"
BY_CHECKPOINT = (FORGETTING, "forward_transfer", "backward_transfer")
"""Metrics with a figure for each checkpoint at which something was told, `checkpoint N`; forgetting has one over `all`
too, which is that of the last."""
OVER_ALL = ("all_correct", "all_wrong", "flip_rate")
"""Metrics with one figure, of all those checkpoints."""
CONTINUAL = (*BY_CHECKPOINT, *OVER_ALL, GUESS)
"""The metrics that are made here and nowhere else, but for `guess`, which a benchmark may have as a floor."""

NO_NONE = (
    "the memory none has not been scored with this model, and the histories begin with it; run it as well"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSums:
    """The questions of one assistant in one episode under one measure at one checkpoint, added up.

    `questions` are to be followed, `complete` of them have an answer at every checkpoint; the rest is of these:
    `total` and `squares` are sums of what they count for, `low` and `high` the extremes, null where they count for
    nothing. `borrowed`: they begin with the answers of `none`.
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


def continual_scores(rows: Sequence[CheckpointSums], like: Score, seed: int, *, none: bool) -> list[Score]:
    """The figures of one assistant; none at all where no question is asked at several checkpoints.

    Their n are questions. Intervals are bootstrapped over episodes, and are of the questions where there is one episode
    only. `like` is any figure of the same assistant and domain; `none` says whether that memory's verdicts are today's.
    """
    by_measure: dict[tuple[str, int], list[CheckpointSums]] = {}
    for row in sorted(rows, key=lambda row: (row.checkpoint, row.episode_id)):
        by_measure.setdefault((row.measure, row.checkpoint), []).append(row)
    found = []
    for (metric, checkpoint), held in by_measure.items():
        variant = COMPLETE if metric in (ACCURACY, GUESS) else "standard"
        name = "all" if metric in (*OVER_ALL, GUESS) else f"checkpoint {checkpoint}"
        found.append(_figure(held, replace(like, metric=metric, variant=variant, slice=name), seed, none))
    lost = [figure for figure in found if figure.metric == FORGETTING]
    return [*found, *(replace(figure, slice="all") for figure in lost[-1:])]


def _figure(rows: Sequence[CheckpointSums], like: Score, seed: int, none: bool) -> Score:
    questions, complete = sum(row.questions for row in rows), sum(row.complete for row in rows)
    counted = [row for row in rows if row.complete]
    coverage = complete / questions if questions else 0.0
    reason = None
    if rows[0].borrowed and not none:
        reason = NO_NONE
    elif coverage < COVERAGE:
        share = f"{complete} of {questions} questions have an answer at every checkpoint"
        reason = f"{share}; a figure needs {COVERAGE:.0%}. See the reasons in score.verdicts"
    elif all(row.low is None for row in counted):
        reason = "there is one checkpoint only: no answer can change from one to the next"
    value = Interval(None, None, None)
    if reason is None and len(counted) == 1:
        value = interval([_group(counted[0])], frozenset())
    elif reason is None:
        value = mean_interval([row.total for row in counted], [row.complete for row in counted], seed=seed)
    return replace(
        like,
        value=value.value,
        low=value.low,
        high=value.high,
        deviation=None,
        n=complete,
        n_episodes=len(counted),
        coverage=coverage,
        reason=reason,
    )


def _group(row: CheckpointSums) -> Group:
    return Group(
        assistant=row.assistant,
        dataset="",
        category=None,
        metric=row.measure,
        variant=COMPLETE,
        checkpoint=row.checkpoint,
        episode_id=row.episode_id,
        asked=row.questions,
        scored=row.complete,
        total=row.total,
        squares=row.squares,
        low=row.low,
        high=row.high,
    )
