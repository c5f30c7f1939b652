"""Where failures concentrate: the split that is planted is found, and hard episodes or chance are none."""

import numpy as np

from memflow.scoring.health.concentration import LEVEL, find_splits

EPISODES, PROBES = 12, 20
NAMES = [f"e{number}" for number in range(EPISODES) for _ in range(PROBES)]
RANDOM = np.random.default_rng(1)
WORDS = RANDOM.integers(3, 30, len(NAMES))
COLORS = RANDOM.choice(["red", "green", "blue"], len(NAMES)).tolist()
PROPERTIES = {"of {} words": WORDS.tolist(), "color": COLORS, "digits": (WORDS % 2 == 0).tolist()}


def test_planted_threshold_is_the_first_split() -> None:
    failed = (WORDS > 12) | (RANDOM.random(len(NAMES)) < 0.1)
    first = find_splits(failed, PROPERTIES, NAMES)[0]
    assert {first.label, first.other} == {"of more than 12 words", "of at most 12 words"}
    assert first.p is not None and first.p <= LEVEL


def test_planted_category_is_the_first_split() -> None:
    failed = np.array([color == "red" for color in COLORS])
    assert find_splits(failed, PROPERTIES, NAMES)[0].label == "of the color red"


def test_hard_episodes_are_no_split() -> None:
    """Failures of whole episodes explain no property, even one that differs between episodes."""
    hard = np.array([int(name[1:]) < 6 for name in NAMES])
    long = {"of {} words": np.where(hard, WORDS + 20, WORDS).tolist()}
    splits = find_splits(hard, long, NAMES)
    assert all(split.p is None for split in splits)


def test_chance_is_rarely_a_split() -> None:
    alarms = 0
    for seed in range(60):
        failed = np.random.default_rng(seed).random(len(NAMES)) < 0.4
        p = find_splits(failed, PROPERTIES, NAMES)[0].p
        alarms += p is not None and p <= LEVEL
    assert alarms <= 7  # 3 are expected; more than 7 have a probability of 1 %


def test_p_value_is_the_same_in_a_rerun() -> None:
    failed = RANDOM.random(len(NAMES)) < 0.5
    assert [split.p for split in find_splits(failed, PROPERTIES, NAMES)] == [
        split.p for split in find_splits(failed, PROPERTIES, NAMES)
    ]


def test_property_that_does_not_vary_has_no_split() -> None:
    failed = np.ones(len(NAMES), dtype=bool)
    assert find_splits(failed, {"of {} words": [3] * len(NAMES), "color": ["red"] * len(NAMES)}, NAMES) == []
