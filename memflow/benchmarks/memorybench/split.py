"""Which questions of a data set are taken, and which are test: published sampling and split, and the limit.

Sampling is MemoryBench's to the last id (reference implementation, checked against its published splits):
each draw is a fresh `random.Random(42)`, a data set larger than its truncation is sampled first, then a
fifth is drawn as test.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

TEST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Split:
    """Positions of the test and of the training questions, in the order drawn and the order sampled."""

    test: list[int]
    train: list[int]


def fixed_sample(items: Sequence[T], k: int, seed: int = 42) -> list[T]:
    """`k` of `items`, the same ones every time."""
    return random.Random(seed).sample(items, k)


def train_test(n: int, truncation: int, seed: int = 42) -> Split:
    """The split of `n` questions of which at most `truncation` are taken: 4 to 1, test rounded up."""
    taken = list(range(n))
    if n > truncation:
        taken = fixed_sample(taken, truncation, seed)
    test = fixed_sample(taken, math.ceil(TEST_SHARE * len(taken)), seed)
    drawn = set(test)
    return Split(test, [position for position in taken if position not in drawn])


def stratified(strata: Sequence[str], seed: int = 42) -> Split:
    """The split of as many cases as there are `strata`, a fifth of each stratum as test, rounded up; none is left out.

    So the published code splits HelloBench and WritingBench; the paper says at random.
    """
    test: list[int] = []
    for stratum in dict.fromkeys(strata):
        places = [place for place, name in enumerate(strata) if name == stratum]
        test += fixed_sample(places, math.ceil(TEST_SHARE * len(places)), seed)
    drawn = set(test)
    return Split(test, [place for place in range(len(strata)) if place not in drawn])


def limited(splits: Sequence[Split], limit: int) -> list[Split]:
    """Cut to `limit` test questions in all, dealt out in turn; training in proportion. 0 takes all."""
    if limit <= 0:
        return list(splits)
    share = [0] * len(splits)
    left = limit
    while left and any(taken < len(split.test) for taken, split in zip(share, splits, strict=True)):
        for place, split in enumerate(splits):
            if left and share[place] < len(split.test):
                share[place] += 1
                left -= 1
    return [_cut(split, taken) for split, taken in zip(splits, share, strict=True)]


def _cut(split: Split, test: int) -> Split:
    train = math.ceil(len(split.train) * test / len(split.test)) if test else 0
    return Split(split.test[:test], split.train[:train])
