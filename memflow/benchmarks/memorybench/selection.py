"""What a domain takes of its records: pools of cases, split, and cut to the domain's limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench import split
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.split import Split
from memflow.benchmarks.memorybench.tasks.registry import pools_of
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.errors import BadInput
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
    many corpora only: a cheap way to a real one, since every message of a corpus is played. Where it learns from
    liked or copied answers, all cases that are not test are for training (paper, A.3.9). A corpus about which nothing
    is asked is not taken. Raises BadInput where nothing is asked at all.
    """
    parameters = parameters_of(domain)
    pools = [pool for pool in pools_of(records) if pool.cases]
    if not pools:
        raise BadInput(
            f"{domain.name}: nothing is asked in its data sets; `memflow data` says what each lacks"
        )
    corpora = [pool for pool in pools if pool.corpus]
    corpora = corpora[: parameters.conversations or len(corpora)]
    pools = [*corpora, *(pool for pool in pools if not pool.corpus)]
    splits = [_split(pool, domain.seed) for pool in pools]
    if parameters.learn_from != "dialogues":
        splits = [split.remaining(one, len(pool.cases)) for one, pool in zip(splits, pools, strict=True)]
    cut = split.limited(splits, domain.limit)
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
