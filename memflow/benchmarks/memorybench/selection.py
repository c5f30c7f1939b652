"""What a domain takes of its records: pools of cases, split, and cut to the domain's limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.memorybench import split
from memflow.benchmarks.memorybench.parameters import parameters_of
from memflow.benchmarks.memorybench.split import Split
from memflow.benchmarks.memorybench.tasks.registry import pools_of
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.domains import Domain
from memflow.records import Record

DIALOGUES = "dialogues"
"""The episode of a domain's feedback, on which every corpus's episode is built."""


@dataclass(frozen=True)
class Taken:
    """A pool and which of its cases are taken: `split` holds positions in `pool.cases`."""

    pool: Pool
    split: Split

    @property
    def test(self) -> list[Case]:
        return [self.pool.cases[place] for place in self.split.test]

    @property
    def train(self) -> list[Case]:
        return [self.pool.cases[place] for place in self.split.train]


def select(domain: Domain, records: Sequence[Record]) -> list[Taken]:
    """What `domain` takes, pools with a corpus first. The limit is dealt out over the pools in turn; a training case
    that a taken test case rests on is taken too. The domain's parameter `conversations` takes the first so
    many corpora only: a cheap way to a real one, since every message of a corpus is played.
    """
    pools = pools_of(records)
    corpora = [pool for pool in pools if pool.corpus]
    corpora = corpora[: parameters_of(domain).conversations or len(corpora)]
    pools = [*corpora, *(pool for pool in pools if not pool.corpus)]
    cut = split.limited([_split(pool, domain.seed) for pool in pools], domain.limit)
    taken = [Taken(pool, _with_needed(pool, share)) for pool, share in zip(pools, cut, strict=True)]
    return [each for each in taken if each.split.test]


def _split(pool: Pool, seed: int) -> Split:
    given = [case.part for case in pool.cases]
    if any(given):
        return Split(
            [place for place, part in enumerate(given) if part == "test"],
            [place for place, part in enumerate(given) if part == "train"],
        )
    if pool.task.stratified:
        return split.stratified([case.stratum or "" for case in pool.cases], seed)
    return split.train_test(len(pool.cases), pool.task.sample or len(pool.cases), seed)


def _with_needed(pool: Pool, share: Split) -> Split:
    """The share with the training cases that its test cases rest on, as many training cases as before at least."""
    wanted = {case_id for place in share.test for case_id in pool.cases[place].rests_on}
    if not wanted:
        return share
    needed = [place for place, case in enumerate(pool.cases) if case.case_id in wanted]
    spare = [place for place in share.train if place not in needed]
    return Split(share.test, sorted(needed + spare[: max(0, len(share.train) - len(needed))]))
