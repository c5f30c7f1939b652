"""Groups of verdicts: statistics computed from groups equal those of the rows."""

import math
import statistics

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.metrics.intervals import student_t
from memflow.records import Verdict
from memflow.scoring.groups import Group, groups_of, interval, mean_of_means, spread

rows = st.lists(
    st.builds(
        Verdict,
        domain=st.just("d"),
        assistant=st.sampled_from(["full", "none"]),
        probe_id=st.just("p"),
        episode_id=st.sampled_from(["one", "two", "three"]),
        checkpoint=st.integers(0, 2),
        dataset=st.sampled_from(["a", "b"]),
        category=st.sampled_from([None, "1", "2"]),
        metric=st.sampled_from(["m", "n"]),
        value=st.none() | st.floats(-10, 10),
        reason=st.none(),
    ),
    max_size=40,
)


def group(values: list[float], episode: str = "one", asked: int | None = None) -> Group:
    verdicts = [
        factories.verdict(probe_id=str(place), episode_id=episode, dataset="a", metric="m", value=value)
        for place, value in enumerate([*values, *[None] * ((asked or len(values)) - len(values))])
    ]  # fmt: skip
    (found,) = groups_of(verdicts)
    return found


@given(rows)
def test_verdict_groups_have_the_mean_and_deviation_of_their_rows(verdicts: list[Verdict]) -> None:
    values = [row.value for row in verdicts if row.value is not None]
    whole = spread(groups_of(verdicts))
    assert whole.n == len(values)
    assert sum(each.asked for each in groups_of(verdicts)) == len(verdicts)
    if values:
        assert whole.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
        assert whole.deviation == pytest.approx(statistics.pstdev(values), abs=1e-6)
        assert (whole.low, whole.high) == (min(values), max(values))
    else:
        assert whole.mean is None


@given(rows, st.floats(-3, 3), st.floats(-3, 3))
def test_scaling_a_verdict_group_scales_its_values(verdicts: list[Verdict], by: float, shift: float) -> None:
    values = [by * row.value + shift for row in verdicts if row.value is not None]
    scaled = spread(each.scaled(by, shift) for each in groups_of(verdicts))
    if values:
        assert scaled.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
        assert scaled.deviation == pytest.approx(statistics.pstdev(values), abs=1e-5)
        assert scaled.low == pytest.approx(min(values)) and scaled.high == pytest.approx(max(values))


def test_interval_counts_an_episode_as_one_draw_unless_values_are_independent() -> None:
    two = [group([1.0, 1.0], "one"), group([0.0, 0.0], "two")]
    clustered = interval(two, frozenset())
    # Two draws, 1 and 0: the standard error of their mean is 0.5, and the ends are cut to what there is.
    assert clustered == (0.5, 0.0, 1.0)
    apart = interval(two, frozenset({"one", "two"}))
    # Four draws: the sample deviation is sqrt(1/3), the error half of it.
    reach = student_t(3) * math.sqrt(1 / 3) / 2
    assert apart.value == 0.5 and apart.low == pytest.approx(max(0.0, 0.5 - reach))
    assert interval([group([0.2, 0.4, 0.9])], frozenset()).low is not None
    assert interval([group([0.2])], frozenset()) == (0.2, None, None)
    assert interval([group([], asked=2)], frozenset()) == (None, None, None)


def test_interval_of_three_draws_matches_hand_computed_values() -> None:
    found = interval([group([1.0, 2.0, 6.0])], frozenset())
    # mean 3, sample deviation sqrt(7), error sqrt(7/3) = 1.5275, t(2) = 4.303: 3 -+ 6.57, cut to 1 and 6.
    assert found == (3.0, 1.0, 6.0)
    many = interval([group([1.0, 2.0, 6.0] * 100)], frozenset())
    # The sample variance of 300 such values is 14/3 * 300/299, the error the root of its 300th part.
    assert many.high == pytest.approx(3 + student_t(299) * math.sqrt(14 / 3 / 299), rel=1e-9)


def test_mean_of_means_weights_data_sets_equally() -> None:
    parts = [[group([1.0] * 8 + [0.0] * 2)], [group([0.0, 0.2])]]
    assert mean_of_means(parts, frozenset()).value == pytest.approx((0.8 + 0.1) / 2)
    assert mean_of_means([*parts, [group([], asked=3)]], frozenset()) == (None, None, None)


@pytest.mark.parametrize(
    ("degrees", "t"),
    [(1, 12.706), (10, 2.228), (30, 2.042), (40, 2.0211), (100, 1.9840), (1000, 1.9623)],
)
def test_student_t_quantile_matches_published_values(degrees: int, t: float) -> None:
    assert student_t(degrees) == pytest.approx(t, abs=2e-4)
