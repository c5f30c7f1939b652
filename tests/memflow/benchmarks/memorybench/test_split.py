import pytest

from memflow.benchmarks.memorybench.split import (
    Split,
    fixed_sample,
    limited,
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
def test_the_test_ids_are_the_published_ones(n: int, truncation: int, test: list[int]) -> None:
    assert train_test(n, truncation).test[:5] == test


@pytest.mark.parametrize(
    ("n", "test", "train"), [(199, 5, 20), (25, 5, 20), (24, 5, 19), (1, 1, 0), (0, 0, 0)]
)
def test_four_to_one_and_disjoint(n: int, test: int, train: int) -> None:
    split = train_test(n, 25)
    assert (len(split.test), len(split.train)) == (test, train)
    assert not set(split.test) & set(split.train)


def test_a_sample_is_the_same_every_time() -> None:
    assert fixed_sample(range(100), 10) == fixed_sample(range(100), 10)
    assert fixed_sample(range(100), 10) != fixed_sample(range(100), 10, seed=43)


def test_a_limit_is_dealt_out_in_turn_and_training_follows() -> None:
    splits = [
        Split([1, 2, 3, 4, 5], list(range(20))),
        Split([1], [7, 8]),
        Split([1, 2, 3, 4, 5], list(range(20))),
    ]
    assert [(len(cut.test), len(cut.train)) for cut in limited(splits, 6)] == [(3, 12), (1, 2), (2, 8)]
    assert [(len(cut.test), len(cut.train)) for cut in limited(splits, 1)] == [(1, 4), (0, 0), (0, 0)]
    assert limited(splits, 0) == splits
    assert limited(splits, 100) == splits
