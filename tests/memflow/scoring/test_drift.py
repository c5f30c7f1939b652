"""The drift of a score after a change, and the parts of it that users, answers and judging cause."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.records import Drift
from memflow.scoring.drift import ScoreChange, adjust_drifts
from memflow.scoring.drift_summary import DomainDrift
from memflow.scoring.stages import STAGES

values = st.one_of(st.none(), st.floats(-2, 2).map(lambda value: round(value, 3)))


@st.composite
def changes(draw: st.DrawFn) -> ScoreChange:
    """A score before and after any change: probes come and go, values are missing, every stage differs somewhere."""
    probes = [f"p{number}" for number in range(draw(st.integers(1, 12)))]
    both = [{probe: draw(values) for probe in probes if draw(st.booleans())} for _ in range(2)]
    stages = {
        probe: draw(st.sampled_from(STAGES))
        for probe in probes
        if both[0].get(probe) != both[1].get(probe) or draw(st.booleans())
    }
    return ScoreChange(both[0], both[1], stages, {probe: f"e{hash(probe) % 3}" for probe in probes})


def mean(values: dict) -> float | None:
    known = [value for value in values.values() if value is not None]
    return sum(known) / len(known) if known else None


@given(changes())
def test_parts_sum_to_the_difference_of_any_change(change: ScoreChange) -> None:
    before, after = mean(change.before), mean(change.after)
    if before is None or after is None:
        return
    assert math.fsum(change.parts().values()) == pytest.approx(after - before, abs=1e-9)


def test_change_with_all_values_in_one_episode_has_no_interval() -> None:
    before = {"p0": 1.0, "p1": 0.0, "p2": 1.0, "p3": 1.0}
    after = {"p0": 0.0, "p1": 0.0, "p2": None, "p3": None}
    episodes = {"p0": "e0", "p1": "e0", "p2": "e1", "p3": "e2"}
    change = ScoreChange(before, after, {probe: "answers" for probe in ("p0", "p2", "p3")}, episodes)
    row = change.row("domain", "assistant", "accuracy", "standard", "all")
    assert row.difference is not None and (row.low, row.high, row.p) == (None, None, None)
    assert row.reason is not None


def fallen(episodes: int, scores: int = 1) -> list[Drift]:
    """Return the rows of scores that fell from 1 to about .3 in every episode, of equal users."""
    probes = {f"p{at}": f"e{at % episodes}" for at in range(10 * episodes)}
    before = dict.fromkeys(probes, 1.0)
    after = {probe: float(at // episodes < 3 + at % episodes % 2) for at, probe in enumerate(probes)}
    change = ScoreChange(before, after, dict.fromkeys(probes, "answers"), probes)
    row = change.row("domain", "assistant", "accuracy", "standard", "all")
    return adjust_drifts([replace(row, slice="all" if at == 0 else f"period {at}") for at in range(scores)])


@pytest.mark.parametrize(("episodes", "scores", "possible"), [(3, 1, False), (9, 20, False), (10, 20, True)])
def test_drift_that_cannot_be_significant_is_said_with_the_largest_change(
    episodes: int, scores: int, possible: bool
) -> None:
    rows = fallen(episodes, scores)
    assert {(row.can_be_significant, row.moved, row.family) for row in rows} == {(possible, possible, scores)}
    sentence = DomainDrift("domain", "", "", ["judge: a -> b"], rows).sentence()
    said = f"No change can be significant with {episodes} episodes and {scores} comparison"
    assert (said in sentence) != possible
    if not possible:
        assert (
            "accuracy of assistant from 1.000 to 0." in sentence
            and "95 % interval of the change -0." in sentence
        )


def test_drift_of_two_samples_counts_the_divisions_of_episodes() -> None:
    row = replace(fallen(6)[0], paired=False, episodes_before=2, episodes_after=3)
    assert not adjust_drifts([row])[0].can_be_significant
    assert adjust_drifts([replace(row, episodes_before=6, episodes_after=6)])[0].can_be_significant


@given(changes())
def test_numbers_of_a_row_are_finite_or_missing(change: ScoreChange) -> None:
    row = change.row("domain", "assistant", "accuracy", "standard", "all")
    numbers = (row.before, row.after, row.difference, row.low, row.high, row.p)
    assert all(number is None or math.isfinite(number) for number in numbers)


def test_drift_without_a_test_cannot_be_significant() -> None:
    row = fallen(1)[0]
    assert (row.p, row.reason, row.can_be_significant) == (None, "1 episode", False)
    sentence = DomainDrift("domain", "", "", ["judge: a -> b"], [row]).sentence()
    assert "No change can be significant with 1 episode" in sentence and "no interval" in sentence
