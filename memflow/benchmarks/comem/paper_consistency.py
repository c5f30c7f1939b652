"""Which accuracy at checkpoint 0 the paper's tables allow: they print none, and all other accuracies follow from it.

A_n = A_0 + the forward transfer up to n - F_n. At checkpoint 0 nothing was said, so that all memories under one model
and data set start from the same questions. Everything is counted in questions, exactly.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from memflow.benchmarks.comem.paper import Claim, Row, count, published


@dataclass(frozen=True, slots=True)
class Counts:
    """A row in questions, out of `questions`: those forgotten and learnt at checkpoints 1 to 4, right and wrong at all.

    As the paper has it, what was right at checkpoint 0 can be forgotten, and be wrong at all of the other four.
    """

    questions: int
    forgotten: tuple[int, ...]
    learnt: tuple[int, ...]
    always: int
    never: int

    def gains(self) -> tuple[int, ...]:
        """By how many questions each checkpoint is above checkpoint 0."""
        return tuple(sum_ - lost for sum_, lost in zip(accumulate(self.learnt), self.forgotten, strict=True))

    def starts(self) -> frozenset[int]:
        """How many questions may be right at checkpoint 0: for each of these numbers there are answers with these
        counts, and for no other."""
        return frozenset(start for start in range(self.questions + 1) if self._allows(start))

    def _allows(self, start: int) -> bool:
        """Whether so many right at checkpoint 0 leave room for everything that was counted.

        Questions are told apart by when they are first right. Those of checkpoint 0 that are never right again make the
        rest of `never`; each is forgotten at all four. What else is forgotten at 2, 3 and 4 falls on questions that
        were right at 1 and not always after, each of which needs one place at least, on those of checkpoint 0 that are
        wrong at 1, which take two at most, and on those learnt at 2 and 3.
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


def counted(row: Row) -> Counts:
    """A published row in questions."""

    def each(shares: Iterable[float]) -> tuple[int, ...]:
        return tuple(count(share, row.questions) for share in shares)

    return Counts(
        row.questions,
        each(row.forgetting),
        each(row.forward_transfer),
        *each((row.all_correct, row.all_wrong)),
    )


def common(rows: Sequence[Row]) -> frozenset[int]:
    """The starts that all of these rows allow."""
    return frozenset.intersection(*(counted(row).starts() for row in rows))


def of(dataset: str, model: str) -> list[Row]:
    """The published rows of a model in a data set."""
    return [row for row in published() if (row.dataset, row.model) == (dataset, model)]


def accuracies(row: Row) -> list[tuple[Fraction, Fraction]]:
    """From where to where the accuracy at checkpoints 0 to 4 may lie by the tables: by the rows of the same model that
    fit together, or by this one alone where it does not fit them."""
    sound = [each for each in of(row.dataset, row.model) if each.doubt is None]
    starts = common(sound if row.doubt is None else [row])
    return [
        (Fraction(min(starts) + gain, row.questions), Fraction(max(starts) + gain, row.questions))
        for gain in (0, *counted(row).gains())
    ]


def claimed(claim: Claim, within: Fraction) -> frozenset[int]:
    """The starts at which what the text says comes out to `within` so much, where all of its memories share one."""
    held = {row.memory: counted(row) for row in of(claim.dataset, claim.model)}
    questions = next(iter(held.values())).questions
    told = [gain for memory in claim.memories for gain in held[memory].gains()]

    def near(wanted: float | None, found: Fraction) -> bool:
        return wanted is None or abs(found - Fraction(str(wanted))) <= within

    def holds(start: int) -> bool:
        if claim.over is not None:
            gain = Fraction(sum(told) - sum(held[claim.over].gains()), len(told) * questions)
            return near(claim.mean, gain) and (claim.low is None or gain >= Fraction(str(claim.low)))
        right = [Fraction(start + gain, questions) for gain in told]
        mean = sum(right, Fraction(0)) / len(right)
        return near(claim.low, min(right)) and near(claim.high, max(right)) and near(claim.mean, mean)

    return frozenset(start for start in range(questions + 1) if holds(start))
