import pytest

from memflow.metrics.intervals import NO_VARIATION
from memflow.scoring.comparison import (
    NO_PAIRS,
    Pair,
    adjust,
    better,
    compare_pairs,
    pair_values,
)


def test_pairing_counts_probes_with_a_value_for_only_one() -> None:
    episodes = {"1": "e1", "2": "e1", "3": "e2", "4": "e2"}
    found = pair_values({"1": 1.0, "2": 0.0, "9": 1.0}, {"2": 1.0, "3": 1.0, "4": 0.0}, episodes)
    assert found.pairs == [Pair("e1", "2", 0.0, 1.0)]
    assert (found.unpaired_a, found.unpaired_b) == (1, 2)


def test_difference_is_the_difference_of_the_values_over_the_pairs() -> None:
    pairs = [
        Pair(f"e{number % 9}", str(number), float(number % 2), float(number % 3 == 0)) for number in range(60)
    ]
    found = compare_pairs(pairs, unpaired_a=2, unpaired_b=1)
    assert found.value_a is not None
    assert found.value_b is not None
    assert found.difference == pytest.approx(found.value_a - found.value_b)
    assert (found.n, found.n_episodes, found.unpaired_a, found.unpaired_b) == (60, 9, 2, 1)
    assert compare_pairs(reversed(pairs), unpaired_a=2, unpaired_b=1) == found


def test_no_pairs_and_a_single_episode_have_a_reason() -> None:
    assert compare_pairs([]).reason == NO_PAIRS
    alone = compare_pairs([Pair("e", str(number), 1.0, 0.0) for number in range(5)])
    assert (alone.difference, alone.low, alone.p, alone.reason) == (1.0, None, None, "1 episode")


def test_differences_without_variation_have_a_reason_in_place_of_an_interval() -> None:
    found = compare_pairs([Pair(f"e{number % 4}", str(number), 1.0, 0.0) for number in range(12)])
    assert (found.low, found.high, found.reason) == (None, None, NO_VARIATION)
    assert found.p == 0.125


def test_missing_p_values_are_no_tests() -> None:
    assert adjust([0.02, None, 0.01]) == pytest.approx([0.02, None, 0.02])


@pytest.mark.parametrize(
    ("difference", "p", "direction", "expected"),
    [
        (0.1, 0.01, "higher", "a"),
        (0.1, 0.01, "lower", "b"),
        (-0.1, 0.05, "higher", "b"),
        (0.1, 0.06, "higher", None),
        (0.1, 0.01, "neither", None),
        (None, None, "higher", None),
    ],
)
def test_better_side_follows_direction_and_significance(
    difference: float | None, p: float | None, direction: str, expected: str | None
) -> None:
    assert better(difference, p, direction) == expected
