"""How answers change over checkpoints: forgetting, forward and backward transfer, stability (CoMem, section 3.3).

An array `correct` of shape (questions, checkpoints + 1) says what each answer is worth: 1 where it is right and 0 where
it is wrong, and not a number where there is none. Its first column is checkpoint 0, before anything was said: what
guessing gets. Questions that lack an answer somewhere are left out, since a history with a gap tells neither what was
forgotten nor what was learnt.

The paper has right and wrong answers alone. Answers graded from 0 to 1 are a generalisation of our own: what is known
so far is the best answer up to then, what an answer lacks of it is forgotten, and what it adds to it is learnt. For 0
and 1 that is the paper's, and the identity holds as it does there.
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
    """Means over `n` questions. Lists have an item for each checkpoint, checkpoint 0 first.

    `forgetting[t]`: what the best answer before t (0 among them) was worth more than that at t; so the share right at
    some checkpoint before t and wrong at t. `forward_transfer[t]`: what the answer at t is worth more than the best
    before; so the share wrong at every checkpoint before t and right at t. Both are 0 at checkpoint 0, before which
    there is nothing. `backward_transfer[t]`: accuracy at the last checkpoint less that at t; what was known then and is
    no more counts against it. `all_correct`: the worst answer at any checkpoint but 0, which is a guess; so the share
    right at each of them. `all_wrong`: what the best one lacks. `flip_rate`: by how much an answer changes from one
    checkpoint to the next, from 1 on; so the share of steps over which it turns from right to wrong or back. None where
    there is one checkpoint only.
    """

    n: int
    accuracy: tuple[float, ...]
    forgetting: tuple[float, ...]
    forward_transfer: tuple[float, ...]
    backward_transfer: tuple[float, ...]
    all_correct: float
    all_wrong: float
    flip_rate: float | None

    def identity(self) -> tuple[float, ...]:
        """By how much each checkpoint misses A_t = A_0 + the forward transfer up to t - F_t, which always holds."""
        learnt = np.cumsum(self.forward_transfer)
        return tuple(
            float(accuracy - (self.accuracy[0] + gained - lost))
            for accuracy, gained, lost in zip(self.accuracy, learnt, self.forgetting, strict=True)
        )


@dataclass(frozen=True)
class AnswerMarks:
    """What each question counts for: arrays of shape (questions, checkpoints + 1), or (questions,) where it is one."""

    right: Array
    forgotten: Array
    learnt: Array
    always: Array
    never: Array
    flips: Array
    """By how much it changes in a step from one checkpoint to the next, from 1 on; nan where there is no step."""


def mark_answers(correct: npt.ArrayLike) -> AnswerMarks:
    """The marks of complete questions. Raises BadInput where `correct` is no array of questions and checkpoints, holds
    anything beyond 0 and 1, or has no checkpoint besides 0."""
    right = np.asarray(correct, dtype=np.float64)
    if right.ndim != 2 or right.shape[1] < 2:
        raise BadInput(
            f"an array of shape {right.shape} is not (questions, checkpoints + 1): checkpoint 0, and another after it"
        )
    if not ((right >= 0) & (right <= 1)).all():
        raise BadInput("an answer is worth 0 to 1; leave out questions that lack one (`complete`)")
    # Before checkpoint 0 is nothing: what is answered there is neither forgotten nor learnt.
    before = np.concatenate((right[:, :1], np.maximum.accumulate(right, axis=1)[:, :-1]), axis=1)
    told = right[:, 1:]
    steps = told.shape[1] - 1
    changed = np.abs(np.diff(told, axis=1)).sum(axis=1)
    return AnswerMarks(
        right=right,
        forgotten=np.maximum(0.0, before - right),
        learnt=np.maximum(0.0, right - before),
        always=told.min(axis=1),
        never=1 - told.max(axis=1),
        flips=changed / steps if steps else np.full(len(right), np.nan),
    )


def complete_rows(correct: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which questions have an answer at every checkpoint."""
    values = np.asarray(correct, dtype=np.float64)
    return np.asarray(np.isfinite(values).all(axis=1)) if values.ndim == 2 else np.zeros(0, dtype=np.bool_)


def summary(correct: npt.ArrayLike) -> Summary:
    """The measures over all complete questions. Raises BadInput where there is none, or where `marked` does."""
    values = np.asarray(correct, dtype=np.float64)
    kept = values[complete_rows(values)] if values.ndim == 2 else values
    if not len(kept):
        raise BadInput("no question has an answer at every checkpoint: there is nothing to follow")
    marks = mark_answers(kept)
    accuracy = marks.right.mean(axis=0)
    flips = float(marks.flips.mean())
    return Summary(
        n=len(kept),
        accuracy=_plain(accuracy),
        forgetting=_plain(marks.forgotten.mean(axis=0)),
        forward_transfer=_plain(marks.learnt.mean(axis=0)),
        backward_transfer=_plain(accuracy[-1] - accuracy),
        all_correct=float(marks.always.mean()),
        all_wrong=float(marks.never.mean()),
        flip_rate=None if np.isnan(flips) else flips,
    )


def best_constant(keys: Sequence[str]) -> str:
    """The answer that is right most often, the first by its name where several are: who always gives it is the floor of
    a constant answerer. Raises BadInput for no keys."""
    if not keys:
        raise BadInput("there is no key to answer by")
    counted = Counter(keys)
    return min(counted, key=lambda key: (-counted[key], key))


def _plain(values: Array) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
