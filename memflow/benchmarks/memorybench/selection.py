"""Selection of a domain's cases by pool, split and the domain's limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench import split
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.memorybench.split import Split
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.errors import BadInput
from memflow.records import Record

DIALOGUES = "dialogues"
"""The episode of a domain's feedback, the base of every corpus episode."""
INDEPENDENT_CASES = frozenset({DIALOGUES})
"""Episodes whose cases are independent: they share a memory, but no corpus."""


@dataclass(frozen=True)
class SelectedPool:
    """A pool and the positions of its selected cases."""

    pool: Pool
    split: Split

    left_out: int = 0
    """The number of training cases that a sample leaves out, because no selected test case needs them."""

    @property
    def test(self) -> list[Case]:
        return [self.pool.cases[place] for place in self.split.test]

    @property
    def train(self) -> list[Case]:
        return [self.pool.cases[place] for place in self.split.train]


def select(domain: Domain, records: Sequence[Record]) -> list[SelectedPool]:
    """Return the selected pools of `domain`. Pools with a corpus come first.

    The limit is distributed over the pools in turn. Training cases that a selected test case needs are included. In a
    sample, a pool with a corpus has no other training cases (`sample_training`): its test cases ask about the corpus,
    and a dialogue about another question costs up to three requests, each with an excerpt of the corpus. With
    `learn_from` liked or copied, all cases that are not test cases are training cases (paper, A.3.9). Raises BadInput
    if there are no cases.
    """
    parameters = parameters_of(domain)
    pools = [pool for pool in build_pools(records) if pool.cases]
    if not pools:
        raise BadInput(
            f"{domain.name}: its data sets contain no questions. List the missing files with `memflow data`."
        )
    pools.sort(key=lambda pool: not pool.corpus)
    splits = [_split(pool, domain.seed) for pool in pools]
    if parameters.learn_from != "dialogues":
        splits = [split.remaining(one, len(pool.cases)) for one, pool in zip(splits, pools, strict=True)]
    cut = split.limited(splits, domain.limit)
    needed_only = cut != splits and leaves_out_training(domain)
    used = [_selected(pool, share, needed_only) for pool, share in zip(pools, cut, strict=True)]
    return [each for each in used if each.split.test]


def leaves_out_training(domain: Domain) -> bool:
    """Return whether a sample of the domain leaves out the training cases that no selected test case needs.

    All other protocols measure what an assistant learns from training dialogues, or ask the training cases.
    """
    parameters = parameters_of(domain)
    off_policy = parameters.protocol == "off_policy" and parameters.learn_from == "dialogues"
    return bool(domain.limit) and off_policy and parameters.sample_training == "needed"


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


def _selected(pool: Pool, share: Split, needed_only: bool) -> SelectedPool:
    proportional = _with_needed(pool, share)
    if not (needed_only and pool.corpus):
        return SelectedPool(pool, proportional)
    needed = _with_needed(pool, Split(share.test, []))
    return SelectedPool(pool, needed, len(proportional.train) - len(needed.train))


def _with_needed(pool: Pool, share: Split) -> Split:
    """Return the split with the training cases that its test cases need. No training set becomes smaller."""
    wanted = {case_id for place in share.test for case_id in pool.cases[place].rests_on}
    if not wanted:
        return share
    needed = [place for place, case in enumerate(pool.cases) if case.case_id in wanted]
    spare = [place for place in share.train if place not in needed]
    return Split(share.test, sorted(needed + spare[: max(0, len(share.train) - len(needed))]))
