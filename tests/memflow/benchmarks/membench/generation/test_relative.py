"""What day a time comes to that is told from today on."""

import random
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.membench.generation.relative import dates_near, is_relative, resolved
from memflow.errors import BadInput

TUESDAY = datetime(2024, 10, 1, 8, 13)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("next week Mon 7:00 PM", datetime(2024, 10, 7, 19)),
        ("next week Wednesday 9:00 AM", datetime(2024, 10, 9, 9)),
        ("the week after next Sat 9:00 AM", datetime(2024, 10, 19, 9)),
        ("Sunday of next week at 12:30 AM", datetime(2024, 10, 13, 0, 30)),
        ("next week Friday 14:00", datetime(2024, 10, 11, 14)),
        ("下周一19:00", datetime(2024, 10, 7, 19)),
        ("下下周六上午9点", datetime(2024, 10, 19, 9)),
        ("下周日下午两点", datetime(2024, 10, 13, 14)),
        ("下周三晚上七点", datetime(2024, 10, 9, 19)),
    ],
)
def test_weeks_begin_on_monday(text, moment):
    assert is_relative(text) and resolved(text, TUESDAY) == moment


def test_on_a_sunday_next_week_begins_tomorrow():
    assert resolved("next week Mon 9:00 AM", datetime(2024, 10, 6, 21)) == datetime(2024, 10, 7, 9)


def test_a_date_is_not_relative():
    assert not is_relative("2024-10-12 19:00")
    with pytest.raises(BadInput, match="no time told from today on: '2024-10-12 19:00'"):
        resolved("2024-10-12 19:00", TUESDAY)


@given(st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1)), st.integers(0, 10**6))
def test_other_days_are_others(moment, seed):
    near = dates_near(moment, 3, random.Random(seed))
    assert len({moment, *near}) == 4
