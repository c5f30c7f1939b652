"""How answers change over checkpoints: forgetting, forward and backward transfer, stability (CoMem, section 3.3).

An array `correct` of shape (questions, checkpoints + 1) says which answers are right: 1 or 0, and not a number where
there is no answer. Its first column is checkpoint 0, before anything was said: what guessing gets. Questions that lack
an answer somewhere are left out, since a history with a gap tells neither what was forgotten nor what was learnt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memflow.errors import BadInput

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """Shares of `n` questions. Lists have an item for each checkpoint, checkpoint 0 first.

    `forgetting[t]`: right at some checkpoint before t (0 among them) and wrong at t. `forward_transfer[t]`: wrong at
    every checkpoint before t and right at t. Both are 0 at checkpoint 0, before which there is nothing.
    `backward_transfer[t]`: accuracy at the last checkpoint less that at t; what was known then and is no more counts
    against it. `all_correct`, `all_wrong`: right or wrong at every checkpoint but 0, which is a guess. `flip_rate`: of
    the steps from one checkpoint to the next, from 1 on, the share over which an answer changes from right to wrong or
    back; None where there is one checkpoint only.
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
class Marks:
    """What each question counts for: arrays of shape (questions, checkpoints + 1), or (questions,) where it is one."""

    right: Array
    forgotten: Array
    learnt: Array
    always: Array
    never: Array
    flips: Array
    """Of the steps from one checkpoint to the next, from 1 on, the share that flips; nan where there is none."""


def marked(correct: npt.ArrayLike) -> Marks:
    """The marks of complete questions. Raises BadInput where `correct` is no array of questions and checkpoints, holds
    anything but 0 and 1, or has no checkpoint besides 0."""
    right = np.asarray(correct, dtype=np.float64)
    if right.ndim != 2 or right.shape[1] < 2:
        raise BadInput(
            f"an array of shape {right.shape} is not (questions, checkpoints + 1): checkpoint 0, and another after it"
        )
    if not np.isin(right, (0.0, 1.0)).all():
        raise BadInput("an answer is right or wrong, 1 or 0; leave out questions that lack one (`complete`)")
    before = np.concatenate((np.zeros((len(right), 1)), np.maximum.accumulate(right, axis=1)[:, :-1]), axis=1)
    learnt = right * (1 - before)
    learnt[:, 0] = 0.0
    told = right[:, 1:]
    steps = told.shape[1] - 1
    changed = np.abs(np.diff(told, axis=1)).sum(axis=1)
    return Marks(
        right=right,
        forgotten=before * (1 - right),
        learnt=learnt,
        always=told.min(axis=1),
        never=1 - told.max(axis=1),
        flips=changed / steps if steps else np.full(len(right), np.nan),
    )


def complete(correct: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which questions have an answer at every checkpoint."""
    values = np.asarray(correct, dtype=np.float64)
    return np.asarray(np.isfinite(values).all(axis=1)) if values.ndim == 2 else np.zeros(0, dtype=np.bool_)


def summary(correct: npt.ArrayLike) -> Summary:
    """The measures over all complete questions. Raises BadInput where there is none, or where `marked` does."""
    values = np.asarray(correct, dtype=np.float64)
    kept = values[complete(values)] if values.ndim == 2 else values
    if not len(kept):
        raise BadInput("no question has an answer at every checkpoint: there is nothing to follow")
    marks = marked(kept)
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


def constant_floor(keys: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """The best accuracy at each checkpoint of who always gives the same answer, whatever is asked.

    `keys` are the right options of each question at each checkpoint but 0, by letter or number. A score is to be read
    beside it: where a quarter of the keys say "I do not know", so may a memory that holds nothing.
    """
    if not keys or not keys[0]:
        raise BadInput("there is no key to answer by")
    answers = sorted({key for question in keys for key in question})
    columns = list(zip(*keys, strict=True))
    best = max(answers, key=lambda answer: sum(column.count(answer) for column in columns))
    return tuple(column.count(best) / len(column) for column in columns)


def _plain(values: Array) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
