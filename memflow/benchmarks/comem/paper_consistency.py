"""Computation of the accuracies at checkpoint 0, which the paper does not print, from the paper's other values.

All other accuracies follow from A_n = A_0 + forward transfer up to n - F_n. All memories of a model and data set share
A_0, because checkpoint 0 has no messages. The computation is exact, with integer numbers of questions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from memflow.benchmarks.comem.paper import PaperRow, count, published


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """A published row as numbers of questions: forgotten and learned at checkpoints 1 to 4, always and never correct.

    As in the paper, a question that is correct at checkpoint 0 can be forgotten, and can be wrong at all four others.
    """

    questions: int
    forgotten: tuple[int, ...]
    learnt: tuple[int, ...]
    always: int
    never: int

    def gains(self) -> tuple[int, ...]:
        """Return the number of correct answers at each later checkpoint minus the number at checkpoint 0."""
        return tuple(sum_ - lost for sum_, lost in zip(accumulate(self.learnt), self.forgotten, strict=True))

    def initial_counts(self) -> frozenset[int]:
        """Return every possible number of correct questions at checkpoint 0, given the other counts."""
        return frozenset(start for start in range(self.questions + 1) if self._allows(start))

    def _allows(self, start: int) -> bool:
        """Return whether `start` correct questions at checkpoint 0 are consistent with the counts.

        Questions are grouped by the first checkpoint at which they are correct. Questions that are correct at 0 only
        are part of `never` and are forgotten at all four checkpoints. All others that are forgotten at 2, 3 and 4
        belong to three groups: correct at 1 but not always (each forgotten at least once), correct at 0 and wrong at 1
        (each at most twice), and learned at 2 or 3.
        """
        unseen = self.questions - start - sum(self.learnt)
        lost = self.never - unseen
        wavering = start - self.forgotten[0] + self.learnt[0] - self.always
        wrong_at_1 = self.forgotten[0] - lost
        at_2, at_3, at_4 = (each - lost for each in self.forgotten[1:])
        second, third = self.learnt[1:3]
        return (
            unseen >= 0
            and 0 <= lost <= min(self.forgotten)
            and self.forgotten[0] <= start
            and wavering >= 0
            and at_2 <= wavering + wrong_at_1
            and at_3 <= wavering + wrong_at_1 + second
            and at_4 <= wavering + wrong_at_1 + second + third
            and wavering <= at_2 + at_3 + at_4 <= 3 * wavering + 2 * wrong_at_1 + 2 * second + third
        )


def count_questions(row: PaperRow) -> QuestionCounts:
    """Return the shares of a published row as numbers of questions."""

    def each(shares: Iterable[float]) -> tuple[int, ...]:
        return tuple(count(share, row.questions) for share in shares)

    return QuestionCounts(
        row.questions,
        each(row.forgetting),
        each(row.forward_transfer),
        *each((row.all_correct, row.all_wrong)),
    )


def common_initial_counts(rows: Sequence[PaperRow]) -> frozenset[int]:
    """Return the numbers of correct questions at checkpoint 0 that are consistent with all rows."""
    return frozenset.intersection(*(count_questions(row).initial_counts() for row in rows))


def paper_rows_of_model(dataset: str, model: str) -> list[PaperRow]:
    """Return the published rows of a model on a data set."""
    return [row for row in published() if (row.dataset, row.model) == (dataset, model)]


def accuracies(row: PaperRow) -> list[tuple[Fraction, Fraction]]:
    """Return the lower and upper bound of the accuracy at checkpoints 0 to 4.

    The bounds follow from the consistent rows of the same model, or from this row alone if it is inconsistent.
    """
    sound = [each for each in paper_rows_of_model(row.dataset, row.model) if each.doubt is None]
    initial_counts = common_initial_counts(sound if row.doubt is None else [row])
    return [
        (
            Fraction(min(initial_counts) + gain, row.questions),
            Fraction(max(initial_counts) + gain, row.questions),
        )
        for gain in (0, *count_questions(row).gains())
    ]
