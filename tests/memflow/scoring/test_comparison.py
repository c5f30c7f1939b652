import pytest
from paired_values import Pair, compare_pairs

from memflow.metrics.intervals import NO_VARIATION
from memflow.scoring.comparison import NO_PAIRS, better


def test_no_pairs_and_a_single_episode_have_a_reason() -> None:
    assert compare_pairs([]).reason == NO_PAIRS
    alone = compare_pairs([Pair("e", str(number), 1.0, 0.0) for number in range(5)])
    assert (alone.difference, alone.low, alone.p, alone.reason) == (1.0, None, None, "1 episode")


def test_differences_without_variation_have_a_reason_in_place_of_an_interval() -> None:
    found = compare_pairs([Pair(f"e{number % 4}", str(number), 1.0, 0.0) for number in range(12)])
    assert (found.low, found.high, found.reason) == (None, None, NO_VARIATION)
    assert found.p == 0.125


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
