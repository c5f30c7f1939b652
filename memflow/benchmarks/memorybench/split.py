"""Sampling of cases and split into test and training cases, as published, and the domain's limit.

Samples are those of the reference implementation: each uses a new `random.Random(42)`. Larger data sets are sampled
first; then a fifth of the sample becomes the test set.
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
    """The positions of the test cases and of the training cases of a data set, in sampling order."""

    test: list[int]
    train: list[int]


def fixed_sample(items: Sequence[T], k: int, seed: int = 42) -> list[T]:
    """Return a sample of `k` items, the same in every run."""
    return random.Random(seed).sample(items, k)


def train_test(n: int, truncation: int, seed: int = 42) -> Split:
    """Return a split of `n` cases, but at most `truncation`, at 4 to 1; the number of test cases is rounded up."""
    used = list(range(n))
    if n > truncation:
        used = fixed_sample(used, truncation, seed)
    test = fixed_sample(used, math.ceil(TEST_SHARE * len(used)), seed)
    drawn = set(test)
    return Split(test, [position for position in used if position not in drawn])


def stratified(strata: Sequence[str], seed: int = 42) -> Split:
    """Return a split with a fifth of each stratum, rounded up, as test cases, as for HelloBench and WritingBench."""
    test: list[int] = []
    for stratum in dict.fromkeys(strata):
        places = [place for place, name in enumerate(strata) if name == stratum]
        test += fixed_sample(places, math.ceil(TEST_SHARE * len(places)), seed)
    drawn = set(test)
    return Split(test, [place for place in range(len(strata)) if place not in drawn])


def remaining(split: Split, n: int) -> Split:
    """Return a split of `n` cases with the same test cases; all other cases are training cases."""
    drawn = set(split.test)
    return Split(split.test, [place for place in range(n) if place not in drawn])


def limited(splits: Sequence[Split], limit: int) -> list[Split]:
    """Limit the splits to `limit` test cases in turn, with a proportional number of training cases; 0 is no limit."""
    if limit <= 0:
        return list(splits)
    share = [0] * len(splits)
    left = limit
    while left and any(used < len(split.test) for used, split in zip(share, splits, strict=True)):
        for place, split in enumerate(splits):
            if left and share[place] < len(split.test):
                share[place] += 1
                left -= 1
    return [_cut(split, used) for split, used in zip(splits, share, strict=True)]


def _cut(split: Split, test: int) -> Split:
    train = math.ceil(len(split.train) * test / len(split.test)) if test else 0
    return Split(split.test[:test], split.train[:train])
