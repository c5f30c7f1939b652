"""The published values fit together as numbers of questions, but for the known errors that their notes name.

No accuracy is printed at checkpoint 0. All memories of a model and data set share it, because nothing was said yet; A_n
is A_0 + forward transfer up to n - F_n. So each row allows some numbers of correct answers at checkpoint 0.
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement, product

from memflow.benchmarks.paper_values import read_values

QUESTIONS = {"personamem_32k": 200, "personamem_128k": 322, "dialsim": 723}
OF_SHARES = {"Table 10", "Table 11", "Table 12"}
OF_STABILITY = {"Table 13", "Table 14", "Table 15"}
MODELS = ("gemini-2.5-flash", "deepseek-v3.2", "deepseek-v3.2-think")
MISFITS = {(dataset, model, "mem0") for dataset in ("personamem_32k", "dialsim") for model in MODELS}
"""The list of docs/explanation/comem.md: T1."""
VALUES = read_values("memflow.benchmarks.comem")


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


def count(share, questions):
    """Return the only number of questions that a share of four digits stands for."""
    exact = Fraction(share)
    near = round(exact * questions)
    fitting = [
        n for n in (near - 1, near, near + 1) if abs(Fraction(n, questions) - exact) <= Fraction(5, 100_000)
    ]
    [number] = fitting
    return number


def counts():
    """Return the counts of each published row, by data set, model and memory."""
    rows = defaultdict(lambda: defaultdict(list))
    for value in VALUES:
        if value.table in OF_SHARES | OF_STABILITY:
            dataset = value.slice.partition("/")[0]
            row = rows[dataset, value.model.lower(), value.system.lower()]
            row[value.metric].append(count(value.value, QUESTIONS[dataset]))
    return {
        key: QuestionCounts(
            QUESTIONS[key[0]],
            tuple(row["forgetting"]),
            tuple(row["forward_transfer"]),
            *row["all_correct_ratio"],
            *row["all_wrong_ratio"],
        )
        for key, row in rows.items()
    }


ROWS = counts()


def test_every_published_share_is_a_number_of_questions():
    # Mem0 was not run on 128k. A row has two values at each of four checkpoints, and two over all.
    sizes = {dataset: sum(key[0] == dataset for key in ROWS) for dataset in QUESTIONS}
    assert sizes == {"personamem_32k": 16, "personamem_128k": 12, "dialsim": 16}
    assert all((len(row.forgotten), len(row.learnt)) == (4, 4) for row in ROWS.values())


def test_tables_of_a_part_repeat_the_values_of_the_whole_tables():
    whole = {
        (value.system.lower(), value.model.lower(), value.slice, value.metric): value.value
        for value in VALUES
        if value.table in OF_SHARES
    }
    parts = [value for value in VALUES if value.table in {f"Table {number}" for number in (2, 3, 6, 7, 8, 9)}]
    assert len(parts) == len(whole) == 352
    for value in parts:
        assert whole[value.system.lower(), value.model.lower(), value.slice, value.metric] == value.value


PATTERNS = list(product((0, 1), repeat=5))


def counts_of(answers):
    """The paper's counts of answers at checkpoints 0 to 4, and how many are right at checkpoint 0."""
    forgotten = tuple(sum(any(each[:at]) and not each[at] for each in answers) for at in range(1, 5))
    learnt = tuple(sum(not any(each[:at]) and each[at] for each in answers) for at in range(1, 5))
    always, never = (
        sum(all(each[1:]) for each in answers),
        sum(not any(each[1:]) for each in answers),
    )
    return QuestionCounts(len(answers), forgotten, learnt, always, never), sum(each[0] for each in answers)


def test_initial_counts_match_enumeration_of_all_answers_to_3_questions() -> None:
    initial_counts: dict[QuestionCounts, set[int]] = {}
    for answers in combinations_with_replacement(PATTERNS, 3):
        counts, start = counts_of(answers)
        initial_counts.setdefault(counts, set()).add(start)
    assert len(initial_counts) == 2791
    assert all(counts.initial_counts() == found for counts, found in initial_counts.items())


def test_published_gains_and_initial_counts_match_hand_computed_values() -> None:
    full = ROWS["personamem_128k", "gemini-2.5-flash", "full memory"]
    assert (full.forgotten, full.learnt) == ((41, 63, 60, 77), (104, 19, 11, 4))
    assert full.gains() == (63, 60, 74, 61)  # A_n - A_0 in questions of 322
    assert (min(full.initial_counts()), max(full.initial_counts())) == (161, 184)


def test_six_published_mem0_rows_contradict_initial_count_of_other_rows() -> None:
    noted = {
        (value.slice.partition("/")[0], value.model.lower(), value.system.lower())
        for value in VALUES
        if value.note.startswith("T1: ")
    }
    assert noted == MISFITS and all(row.initial_counts() for row in ROWS.values())
    for dataset, model in {key[:2] for key in ROWS}:
        of_model = {key: row for key, row in ROWS.items() if key[:2] == (dataset, model)}
        common = frozenset.intersection(
            *(row.initial_counts() for key, row in of_model.items() if key not in MISFITS)
        )
        assert common
        for key in MISFITS & of_model.keys():
            assert max(of_model[key].initial_counts()) < min(common)
