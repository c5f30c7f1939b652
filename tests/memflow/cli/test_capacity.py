"""`show capacity` and its plot, on a leaderboard with a few scores."""

from dataclasses import replace

import factories
import pytest

DOMAIN = "membench_memdaily_capacity"
NONE = "accuracy does not fall for good within 12,345 tokens"


@pytest.fixture
def measured(empty):
    """Return a home in which the accuracy of `recent_6` falls at 4,096 tokens and that of `full` does not fall."""
    knee = factories.score(
        domain=DOMAIN, assistant="recent_6", memory="recent_6", metric="capacity", value=4096.0, low=3950.0,
        high=4200.0, n=900, n_episodes=30, scripted=True,
    )  # fmt: skip
    none = replace(knee, assistant="full", value=None, low=None, high=None, reason=NONE)
    accuracy = replace(knee, metric="accuracy", value=0.9, low=0.8, high=1.0)
    sides = [
        replace(accuracy, slice="before the knee"),
        replace(accuracy, slice="beyond the knee", value=0.25),
    ]
    curve = [
        replace(accuracy, assistant=name, slice=f"tokens {end}", value=right)
        for name, end, right in (
            ("recent_6", 2000, 0.9),
            ("recent_6", 4000, 0.9),
            ("recent_6", 6000, 0.3),
            ("full", 2000, 1.0),
        )
    ]
    chance = replace(accuracy, metric="random", slice="tokens 2000", value=0.25)
    in_all = [replace(each, variant="in_all") for each in (knee, none)]
    scores = [knee, none, *sides, *curve, chance, *in_all]
    empty.write("score.leaderboard", "all", scores)
    return empty


def test_show_capacity_prints_the_knee_or_the_reason_for_its_absence(measured) -> None:
    told = measured.json("show", "capacity")
    assert told["label"] == "scripted, not a language model"
    assert [(row["tokens"], row["assistant"], row["knee"], row["reason"]) for row in told["capacity"]] == [
        ("since the evidence", "recent_6", 4096.0, None),
        ("since the evidence", "full", None, NONE),
        ("in all", "recent_6", 4096.0, None),
        ("in all", "full", None, NONE),
    ]
    recent = told["capacity"][0]
    assert (recent["low"], recent["high"], recent["before"], recent["beyond"]) == (3950.0, 4200.0, 0.9, 0.25)
    shown = measured("show", "capacity", "--domain", DOMAIN).stdout
    assert "4,096" in shown and "3,950 – 4,200" in shown and "0.250" in shown and NONE in shown
