import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.memorybench.split import (
    Split,
    limited,
    stratified,
    train_test,
)


@pytest.mark.parametrize(
    ("n", "truncation", "test"),
    [
        (199, 25, [129, 189, 163, 143, 188]),
        (105, 25, [64, 94, 81, 71, 101]),
        (2397, 250, [1529, 1138, 419, 2360, 1554]),
        (2505, 250, [676, 653, 419, 241, 700]),
    ],
)
def test_train_test_split_selects_published_test_ids(n: int, truncation: int, test: list[int]) -> None:
    assert train_test(n, truncation).test[:5] == test


@given(st.integers(0, 400), st.integers(1, 300), st.integers(0, 99))
def test_train_test_split_partitions_sample_with_20_percent_test(n: int, truncation: int, seed: int) -> None:
    split = train_test(n, truncation, seed)
    sampled = split.test + split.train
    assert len(sampled) == len(set(sampled)) == min(n, truncation)
    assert set(sampled) <= set(range(n))
    assert len(split.test) == math.ceil(len(sampled) / 5)


@pytest.mark.parametrize(
    ("sizes", "test"),
    [([200, 13], 43), ([20, 14, 48], 17), ([76, 75, 77], 47), ([201], 41), ([167], 34)],
    ids=["HelloBench QA", "HelloBench Writing", "HelloBench C&D", "WritingBench P&L", "WritingBench A&E"],
)
def test_stratified_split_has_published_number_of_test_cases(sizes: list[int], test: int) -> None:
    strata = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    assert len(stratified(strata).test) == test


def test_limit_selects_test_cases_from_all_pools_in_turn_and_reduces_training_split() -> None:
    splits = [
        Split([1, 2, 3, 4, 5], list(range(20))),
        Split([1], [7, 8]),
        Split([1, 2, 3, 4, 5], list(range(20))),
    ]
    assert [(len(cut.test), len(cut.train)) for cut in limited(splits, 6)] == [(3, 12), (1, 2), (2, 8)]
    assert [(len(cut.test), len(cut.train)) for cut in limited(splits, 1)] == [(1, 4), (0, 0), (0, 0)]
    assert limited(splits, 0) == splits
    assert limited(splits, 100) == splits
