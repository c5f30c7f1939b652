"""Batches and random draws of training cases, and the resulting checkpoints."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.memorybench.config import Parameters
from memflow.benchmarks.memorybench.protocols import batches, checkpoints, shuffled

CASES = st.integers(0, 60).map(range)
SIZES = st.integers(1, 20)
SEEDS = st.integers(0, 2**32)


@given(CASES, SIZES, SEEDS)
def test_batches_contain_every_shuffled_case_once(cases: range, size: int, seed: int) -> None:
    found = batches(cases, size, seed)
    assert [case for batch in found for case in batch] == shuffled(cases, seed)
    assert sorted(shuffled(cases, seed)) == list(cases)
    assert all(len(batch) == size for batch in found[:-1])


@pytest.mark.parametrize(
    ("given", "training", "expected"),
    [
        ({"protocol": "stepwise"}, 1183, 13),
        ({"protocol": "stepwise", "batch": 8}, 24, 4),
        ({"protocol": "on_policy"}, 24, 11),
        ({"protocol": "off_policy"}, 24, 1),
    ],
)
def test_stepwise_checkpoints_include_0_and_every_step(given: Any, training: int, expected: int) -> None:
    assert list(checkpoints(Parameters(**given), training)) == list(range(expected))
