"""Forgetting, forward and backward transfer, and stability over checkpoints (CoMem, section 3.3).

`correct` has shape (questions, checkpoints + 1) with values in [0, 1] or NaN; column 0 is the no-context answer. The
paper uses only 0 and 1; this module also accepts graded answers, for which the identity below holds too.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """Continual-learning metrics, averaged over `n` questions. Tuples have one item per checkpoint, from checkpoint 0.

    `forgetting[t]`: the best earlier value minus the value at t, if positive. `forward_transfer[t]`: the value at t
    minus the best earlier one, if positive. Both are 0 at checkpoint 0. `backward_transfer[t]`: accuracy at the last
    checkpoint minus that at t. `all_correct`: the lowest value after checkpoint 0. `all_wrong`: 1 minus the highest.
    `flip_rate`: the mean change between consecutive checkpoints from 1 on, None for a single one.
    """

    n: int
    accuracy: tuple[float, ...]
    forgetting: tuple[float, ...]
    forward_transfer: tuple[float, ...]
    backward_transfer: tuple[float, ...]
    all_correct: float
    all_wrong: float
    flip_rate: float | None


@dataclass(frozen=True)
class AnswerMarks:
    """The values per question that `Summary` averages: arrays of shape (questions, checkpoints + 1) or (questions,)."""

    right: Array
    forgotten: Array
    learnt: Array
    always: Array
    never: Array
    flips: Array
    """Mean change per step from checkpoint 1 on; NaN for a single checkpoint."""


def mark_answers(correct: npt.ArrayLike) -> AnswerMarks:
    """Return the values per question that `Summary` averages. Every question must be complete.

    Raises BadInput for a wrong shape, for values outside [0, 1], or without a checkpoint besides 0.
    """
    right = np.asarray(correct, dtype=np.float64)
    if right.ndim != 2 or right.shape[1] < 2:
        raise BadInput(
            f"`correct` has the shape {right.shape} instead of (questions, checkpoints + 1). Pass a "
            "column for checkpoint 0 and at least one more."
        )
    is_complete = ((right >= 0) & (right <= 1)).all(axis=1)
    if not is_complete.all():
        raise BadInput(
            f"question {is_complete.argmin()} of `correct` has a missing value or a value outside 0 to 1. Exclude "
            "incomplete questions with `complete_rows`."
        )
    # Before checkpoint 0 is nothing: what is answered there is neither forgotten nor learnt.
    best_before = np.concatenate((right[:, :1], np.maximum.accumulate(right, axis=1)[:, :-1]), axis=1)
    in_context = right[:, 1:]
    steps = in_context.shape[1] - 1
    change = np.abs(np.diff(in_context, axis=1)).sum(axis=1)
    return AnswerMarks(
        right=right,
        forgotten=np.maximum(0.0, best_before - right),
        learnt=np.maximum(0.0, right - best_before),
        always=in_context.min(axis=1),
        never=1 - in_context.max(axis=1),
        flips=change / steps if steps else np.full(len(right), np.nan),
    )


def complete_rows(correct: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return a mask, of shape (questions,), of the questions with an answer at every checkpoint, 0 included."""
    values = np.asarray(correct, dtype=np.float64)
    return np.asarray(np.isfinite(values).all(axis=1)) if values.ndim == 2 else np.zeros(0, dtype=np.bool_)


def summary(correct: npt.ArrayLike) -> Summary:
    """Return the metrics over all complete questions. Raises BadInput without any and as `mark_answers` does."""
    values = np.asarray(correct, dtype=np.float64)
    complete = values[complete_rows(values)] if values.ndim == 2 else values
    if not len(complete):
        raise BadInput("no question has an answer at every checkpoint. Pass at least one complete question.")
    marks = mark_answers(complete)
    accuracy = marks.right.mean(axis=0)
    flips = float(marks.flips.mean())
    return Summary(
        n=len(complete),
        accuracy=_plain(accuracy),
        forgetting=_plain(marks.forgotten.mean(axis=0)),
        forward_transfer=_plain(marks.learnt.mean(axis=0)),
        backward_transfer=_plain(accuracy[-1] - accuracy),
        all_correct=float(marks.always.mean()),
        all_wrong=float(marks.never.mean()),
        flip_rate=None if np.isnan(flips) else flips,
    )


def best_constant(keys: Sequence[str]) -> str:
    """Return the most frequent gold label, which is the answer of the best constant baseline.

    Of equally frequent labels, the smallest is returned. Raises BadInput without labels.
    """
    if not keys:
        raise BadInput("`keys` is empty. Pass at least one gold label.")
    counts = Counter(keys)
    return min(counts, key=lambda key: (-counts[key], key))


def _plain(values: Array) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
