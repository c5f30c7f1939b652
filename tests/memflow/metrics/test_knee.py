"""Knee detection: planted knees are found, and a series without a lasting decrease has no knee."""

import numpy as np
import pytest

from memflow.metrics.knee import GROUPS, Knee, knee

GUESS = 0.25


def knee_of(right, *, groups=40, steps=60, seed=0, late=True):
    """Return the knee of answers that are correct with the probability `right(place, knows, random)`.

    A group has `steps` questions, 20 to 60 tokens apart. With `late`, it starts at a random step of the first half.
    """
    random = np.random.default_rng(seed)
    places, values, names = [], [], []
    for group in range(groups):
        at = np.cumsum(random.integers(20, 60, size=steps))
        knows = random.random() < 0.85
        first = random.integers(0, steps // 2) if late else 0
        for place in at[first:]:
            places.append(float(place))
            values.append(float(random.random() < right(place, knows, random)))
            names.append(f"g{group}")
    return knee(places, values, names, name="accuracy", unit="tokens", seed=seed)


def falling(n, top=0.95):
    return lambda place, knows, random: top if knows and place <= n else GUESS


@pytest.mark.parametrize("n", [200, 600, 1200, 1800])
def test_knee_is_found_within_10_percent_of_a_planted_knee(n):
    found = [knee_of(falling(n), seed=seed, late=False) for seed in range(15)]
    assert all(abs(each.place - n) <= 0.1 * n for each in found)
    assert sum(each.low <= n <= each.high for each in found) >= 14


def test_knee_matches_hand_computed_values():
    """Ten series of four positions: answers are correct up to position 20 and wrong after position 20."""
    places, values = [10.0, 20.0, 30.0, 40.0] * 10, [1.0, 1.0, 0.0, 0.0] * 10
    names = [f"g{number // 4}" for number in range(40)]
    found = knee(places, values, names, name="accuracy", unit="tokens")
    assert found == Knee(20.0, 10.0, 30.0, 1.0, 40.0)


def _alarms(right, trials, **sizes):
    return sum(knee_of(right, seed=seed, **sizes).place is not None for seed in range(trials))


def test_knee_is_missing_for_constant_or_rising_values():
    perfect = knee_of(lambda place, knows, random: 1.0)
    assert perfect.place is None and perfect.low is None
    assert perfect.reason == f"accuracy has no lasting drop within {perfect.last:,.0f} tokens"
    assert _alarms(lambda place, knows, random: 0.2 + 0.6 * (place > 1000), trials=20) == 0


def test_knee_is_missing_if_only_the_pooled_accuracy_falls():
    """The pooled accuracy falls from 1 to 0.25, but the accuracy of no single series falls."""
    random = np.random.default_rng(1)
    places, values, names = [], [], []
    for group in range(40):
        hard = group % 2
        for place in range(1000 * hard, 1000 * hard + 1500, 30):
            places.append(float(place + 1))
            values.append(float(random.random() < (GUESS if hard else 1.0)))
            names.append(f"g{group}")
    assert knee(places, values, names, name="accuracy", unit="tokens").place is None


def test_knee_is_missing_if_accuracy_recovers_after_a_dip():
    def dip(place, knows, random):
        return 0.1 if 600 < place <= 1100 else 0.95

    assert _alarms(dip, trials=10, late=False) == 0


def test_knee_is_missing_with_too_few_series():
    found = knee_of(falling(1000), groups=GROUPS - 1, late=False)
    assert found.place is None
    assert found.reason == "a knee needs at least 8 trajectories; there are 7"
    assert knee_of(falling(1000), groups=GROUPS, late=False).place is not None
    assert knee([], [], [], name="accuracy", unit="tokens").place is None
    once = knee([5.0] * 10, [1.0] * 10, [str(n) for n in range(10)], name="accuracy", unit="tokens")
    assert once.reason == "accuracy has no lasting drop within 5 tokens"
