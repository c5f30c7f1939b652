"""Groups of verdicts: statistics computed from groups equal those of the rows."""

import math
import statistics

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bench.verdict_groups import groups_of
from memflow.metrics.intervals import student_t
from memflow.records import Verdict
from memflow.scoring.groups import Group, interval, mean_of_means, spread
from memflow.scoring.metric import Metric

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


GRADE = Metric("grade", "Grade", "higher", high=10.0)
SHARE = Metric("share", "Share", "higher", proportion=True)
NOTHING: frozenset[str] = frozenset()


def test_units_are_episodes_unless_values_are_independent_cases() -> None:
    two = [group([1.0, 1.0], "one"), group([0.0, 0.0], "two")]
    clustered = interval(GRADE, "standard", two, NOTHING)
    assert clustered == (0.5, None, None, "2 episodes", "episodes")
    apart = interval(GRADE, "standard", two, frozenset({"one", "two"}))
    # Four cases: the sample deviation is sqrt(1/3), the error half of it.
    reach = student_t(3) * math.sqrt(1 / 3) / 2
    assert apart.value == 0.5 and apart.high == pytest.approx(0.5 + reach)
    assert (apart.low, apart.units) == (0.0, "cases")
    mixed = interval(GRADE, "standard", [*two, group([0.5] * 3, "three")], frozenset({"three"}))
    assert mixed.low is not None and mixed.units == "episodes and cases"


def test_interval_of_cases_matches_hand_computed_values() -> None:
    cases = frozenset({"one"})
    found = interval(GRADE, "standard", [group([1.0, 2.0, 6.0])], cases)
    # mean 3, sample deviation sqrt(7), error sqrt(7/3) = 1.5275, t(2) = 4.303: 3 -+ 6.57, cut to 0 and 10.
    reach = student_t(2) * math.sqrt(7 / 3)
    assert found[:3] == pytest.approx((3.0, 0.0, 3 + reach))
    many = interval(GRADE, "standard", [group([1.0, 2.0, 6.0] * 100)], cases)
    # The sample variance of 300 such values is 14/3 * 300/299, the error the root of its 300th part.
    assert many.high == pytest.approx(3 + student_t(299) * math.sqrt(14 / 3 / 299), rel=1e-9)


def test_mean_of_means_weights_data_sets_equally() -> None:
    parts = [[group([1.0] * 8 + [0.0] * 2)], [group([0.0, 0.2])]]
    found = mean_of_means(parts, NOTHING)
    assert found.value == pytest.approx((0.8 + 0.1) / 2) and found.reason == "1 episode"
    assert mean_of_means([*parts, [group([], asked=3)]], NOTHING)[:3] == (None, None, None)


def test_mean_of_means_has_the_degrees_of_freedom_of_welch_and_satterthwaite() -> None:
    first, second = [1.0, 0.0, 0.5, 0.5], [0.3, 0.1, 0.2, 0.9, 0.5]
    cases = frozenset({"one", "two"})
    found = mean_of_means([[group(first)], [group(second, "two")]], cases)
    expected = stats.ttest_ind(first, [-value for value in second], equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low / 2, expected.high / 2))
    assert found.units == "cases"


@given(rows, st.floats(-3, 3), st.floats(-3, 3))
def test_scaling_a_verdict_group_scales_its_values(verdicts: list[Verdict], by: float, shift: float) -> None:
    values = [by * row.value + shift for row in verdicts if row.value is not None]
    scaled = spread(each.scaled(by, shift) for each in groups_of(verdicts))
    if values:
        assert scaled.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
        assert scaled.deviation == pytest.approx(statistics.pstdev(values), abs=1e-5)
        assert scaled.low == pytest.approx(min(values)) and scaled.high == pytest.approx(max(values))
